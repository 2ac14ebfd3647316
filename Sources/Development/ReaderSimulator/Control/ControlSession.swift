import EventLoop
import Glibc

/// Executes control commands.
protocol CommandPerformer: Sendable {
  /// Returns the answer: `ok` and details.
  func perform(_ command: ControlCommand) async throws(SimulatorError) -> String
}

extension CommandPerformer {
  /// Answers a line with one line: `ok …` or `error what: why`. Returns it without its newline, and whether the program
  /// should quit.
  func answer(to line: String) async -> (text: String, quits: Bool) {
    do throws(SimulatorError) {
      let command = try ControlCommand(line)
      return (try await perform(command), command == .quit)
    } catch {
      return ("error \(error)", false)
    }
  }
}

/// The commands for a simulated PN532.
struct ControlSession: CommandPerformer {
  let reader: SimulatedReader

  func tap(_ tap: ControlCommand.Tap) async throws(SimulatorError) -> String {
    let tag = try tap.makeTag()
    if !tap.isAdditional { await reader.removeAll() }
    let id = await reader.place(tag)
    return "ok tag \(id)"
  }

  func perform(_ command: ControlCommand) async throws(SimulatorError) -> String {
    switch command {
    case .tap(let tap): return try await self.tap(tap)
    case .remove(let number?):
      guard await reader.remove(TagID(number: number)) != nil else {
        throw SimulatorError("remove: no tag \(number) lies on the reader")
      }
      return "ok"
    case .remove(nil): await reader.removeAll()
    case .fault(let fault): await reader.add(fault)
    case .cardFault: throw SimulatorError("fault: this one is only for --pcsc")
    case .model: throw SimulatorError("model: only with --pcsc")
    case .next: throw SimulatorError("next: only with a trace of a reader of pcscd")
    case .noFaults: await reader.clearFaults()
    case .unplug: await reader.unplug()
    case .plug:
      try await reader.plug()
      return "ok \(await reader.terminalPath)"
    case .counters(let resets):
      let text = Self.describe(await reader.counters, fieldIsOn: await reader.isFieldOn)
      if resets { await reader.resetCounters() }
      return "ok \(text)"
    case .wait(let count):
      let target = await reader.counters.commands + count
      try await reader.wait { $0.counters.commands >= target }
    case .help: return "ok \(ControlCommand.summary)"
    case .quit: break
    }
    return "ok"
  }

  private static func describe(_ counters: ChipCounters, fieldIsOn: Bool) -> String {
    let (seconds, attoseconds) = counters.fieldOnTime.components
    let milliseconds = seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    return "commands=\(counters.commands) exchanges=\(counters.exchanges) "
      + "activation-frames=\(counters.activationFrames) received=\(counters.bytesReceived) sent=\(counters.bytesSent) "
      + "field=\(fieldIsOn ? "on" : "off") field-on-ms=\(milliseconds)"
  }
}

/// The commands for simulated PC/SC readers.
struct CardControlSession: CommandPerformer {
  let readers: SimulatedCardReaders

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
    case .next:
      guard await readers.nextRecordedChange() else {
        throw SimulatorError("next: no card comes or goes in the rest of the trace")
      }
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

/// The source of control lines and the destination of their answers: standard input and output.
struct ControlChannel: Sendable {
  private static let maximumLine = 65_536

  let input: FileDescriptor
  let output: FileDescriptor

  /// The lines, until the input ends. A line that is too long ends the channel.
  ///
  /// A dedicated thread reads the input, because standard input may be a file, which supports only blocking reads.
  func lines() throws(SystemError) -> AsyncStream<String> {
    let (stream, continuation) = AsyncStream.makeStream(of: String.self)
    let input = input
    try DedicatedThread.start {
      var line: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 4096)
      while line.count <= Self.maximumLine {
        let count = read(input.rawValue, &buffer, buffer.count)
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { break }
        for byte in buffer[..<count] {
          guard byte == UInt8(ascii: "\n") else {
            line.append(byte)
            continue
          }
          continuation.yield(String(decoding: line, as: UTF8.self))
          line = []
        }
      }
      if !line.isEmpty && line.count <= Self.maximumLine { continuation.yield(String(decoding: line, as: UTF8.self)) }
      continuation.finish()
    }
    return stream
  }

  /// Writes an answer, which is far shorter than the buffer of a pipe.
  func write(_ text: String) {
    let bytes = Array("\(text)\n".utf8)
    _ = Glibc.write(output.rawValue, bytes, bytes.count)
  }

  /// Answers the lines one by one. Returns true if a line was `quit`; false if the lines ended.
  func serve(_ session: any CommandPerformer) async throws(SystemError) -> Bool {
    for await line in try lines() {
      let answer = await session.answer(to: line)
      write(answer.text)
      if answer.quits { return true }
    }
    return false
  }
}
