/// The commands for simulated PC/SC readers.
struct CardControlSession: CommandPerformer {
  let readers: SimulatedCardReaders

  /// Inserts a card and returns the answer.
  func tap(_ tap: ControlCommand.Tap) async throws(SimulatorError) -> String {
    let card = try tap.makeCard()
    let slot = try await self.slot(tap.slot, for: tap.type.hasContacts ? .contact : .contactless)
    if !tap.isAdditional { await readers.removeAll(from: slot) }
    return "ok tag \(try await readers.insert(card, into: slot))"
  }

  func perform(_ command: ControlCommand) async throws(SimulatorError) -> String {
    switch command {
    case .tap(let tap): return try await self.tap(tap)
    case .remove(let number?):
      guard await readers.remove(TagID(number: number)) != nil else {
        throw SimulatorError("remove: no card \(number) is in a slot")
      }
    case .remove(nil): for slot in await slots { await readers.removeAll(from: slot) }
    case .fault: throw SimulatorError("fault: this one is not for --pcsc")
    case .cardFault(let fault):
      guard let slot = await readers.latestSlot else { throw SimulatorError("fault: no card was inserted yet") }
      await readers.add(fault, to: slot)
    case .noFaults: for slot in await slots { await readers.clearFaults(of: slot) }
    case .unplug: for reader in await readers.attachedReaders { await readers.unplug(reader.id) }
    case .plug: for reader in await readers.attachedReaders { await readers.plug(reader.id) }
    case .counters(let resets):
      let text = await describe()
      if resets { await readers.resetRecords() }
      return "ok \(text)"
    case .model: return "ok \(await readers.attachedReaders.map(\.model.name).joined(separator: " "))"
    case .wait(let count):
      let target = await readers.commandCount + count
      try await readers.wait { $0.commandCount >= target }
    case .help: return "ok \(ControlCommand.summary)"
    case .quit: break
    }
    return "ok"
  }

  private var slots: [CardSlotID] { get async { await readers.attachedReaders.flatMap(\.slots) } }

  /// The slot with a number, or the first one of a kind. A slot for security modules only takes a card by its number.
  private func slot(_ number: Int?, for kind: CardReaderModel.Slot.Kind) async throws(SimulatorError) -> CardSlotID {
    if let number {
      guard let slot = await slots.first(where: { $0.number == number }) else {
        throw SimulatorError("--slot: there is no slot \(number)")
      }
      return slot
    }
    for reader in await readers.attachedReaders {
      for (slot, description) in zip(reader.slots, reader.model.slots)
      where description.kind == kind && !description.isForModules { return slot }
    }
    throw SimulatorError("tap: no reader takes such a card; choose another --model")
  }

  private func describe() async -> String {
    let powerUps = await readers.powerUpCount
    return "commands=\(await readers.commandCount) power-ups=\(powerUps)"
  }
}

extension SimulatedCardReaders {
  /// How many commands clients sent to all slots since the last `resetRecords`.
  package var commandCount: Int { count(.command) }

  /// How often cards were switched on or reset since the last `resetRecords`.
  package var powerUpCount: Int { count(.powerUp) }

  private func count(_ kind: CardExchange.Kind) -> Int {
    records.values.reduce(0) { sum, exchanges in sum + exchanges.count { $0.kind == kind } }
  }
}
