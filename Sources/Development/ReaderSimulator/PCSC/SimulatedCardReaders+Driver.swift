import EventLoop
/// The requests of the driver.
extension SimulatedCardReaders {
  /// Reads from a connection, and answers the requests that are complete.
  func receive(on number: Int) {
    defer { resumeWaiters() }
    guard let bytes = connections[number]?.receive() else { return disconnect(number) }
    connections[number]?.decoder.append(bytes)
    while let request = connections[number]?.decoder.next() { handle(request, on: number) }
    if connections[number]?.decoder.isBroken == true { disconnect(number) }
  }

  private func handle(_ request: [UInt8], on number: Int) {
    switch connections[number]?.purpose {
    case .unknown: greet(request, on: number)
    case .requests(let slot): serve(request, in: slot)
    case .events, nil: break
    }
  }

  private func serve(_ request: [UInt8], in slot: CardSlotID) {
    let answer = self.answer(request, in: slot)
    // A recorded reader may take its time.
    let time = slots[slot.number].recording?.takeTime() ?? .zero
    followRecording(in: slot)
    guard let answer else { return }
    guard time > .zero else { return reply(answer, to: slot) }
    loop.schedule(after: time) { [weak self] in self?.assumeIsolated { $0.reply(answer, to: slot) } }
  }

  /// Answers the first frame of a connection with the slot's number.
  private func greet(_ request: [UInt8], on number: Int) {
    let name = String(decoding: request.dropFirst(), as: UTF8.self)
    guard let slot = openableSlot(name), let operation = DriverOperation(rawValue: request[0]) else {
      _ = connections[number]?.send(DriverAnswer.failure(.noSuchDevice).frame)
      return disconnect(number)
    }
    connections[number]?.purpose = operation == .openEvents ? .events(slot) : .requests(slot)
    if operation == .openRequests { slots[slot.number].presence.forgetReports() }
    _ = connections[number]?.send(DriverAnswer.success(Array("\(slot)".utf8)).frame)
  }

  /// The slot that the driver names by its number, or by the USB device and interface; nil if its reader is unplugged.
  private func openableSlot(_ name: String) -> CardSlotID? {
    let named = Int(name).map { CardSlotID(number: $0) } ?? USBDeviceName(name).flatMap { slot(of: $0) }
    guard let named, slots.indices.contains(named.number), readers[slots[named.number].reader.number].isPluggedIn else {
      return nil
    }
    return named
  }

  /// The slot of a USB interface. Of several readers of one model, the one with the number on the bus is preferred. If
  /// none has it, the slot is the first one that is not open.
  private func slot(of device: USBDeviceName) -> CardSlotID? {
    let open = connections.values.compactMap { connection -> CardSlotID? in
      if case .requests(let slot) = connection.purpose { slot } else { nil }
    }
    let candidates = readers.filter { reader in
      reader.isPluggedIn && reader.attached.model.vendor == device.vendor
        && reader.attached.model.product == device.product && reader.attached.slots.indices.contains(device.interface)
        && !open.contains(reader.attached.slots[device.interface])
    }
    let reader = candidates.first { $0.properties.device == device.device } ?? candidates.first
    return reader?.attached.slots[device.interface]
  }

  /// Sends the answer to the request of a slot. A driver that is gone has no use for it.
  func reply(_ answer: DriverAnswer, to slot: CardSlotID) { send(answer.frame, to: .requests(slot)) }

  private func send(_ bytes: [UInt8], to purpose: DriverConnection.Purpose) {
    for (number, connection) in connections where connection.purpose == purpose {
      if !connection.send(bytes) { disconnect(number) }
    }
  }

  /// Changes a slot, and tells the driver of insertions and removals.
  @discardableResult func change<Value>(_ id: CardSlotID, _ body: (inout SimulatedSlot) -> Value) -> Value {
    let before = slots[id.number].presence.changes
    let value = body(&slots[id.number])
    let changes = slots[id.number].presence.changes
    if changes != before { send(BigEndian.bytes(changes), to: .events(id)) }
    resumeWaiters()
    return value
  }

  /// The answer to a request; nil if there is none, or not yet.
  private func answer(_ request: [UInt8], in slot: CardSlotID) -> DriverAnswer? {
    let parameters = request.dropFirst()
    switch DriverOperation(rawValue: request[0]) {
    case .presence: return checkPresence(in: slot, byWaitingThread: parameters.first == 1)
    case .power where parameters.count == 2:
      return power(DriverPowerAction(rawValue: UInt16(BigEndian.number(parameters))), slot)
    case .transmit where !parameters.isEmpty: return transmit(Array(parameters.dropFirst()), slot)
    case .control where parameters.count >= 4:
      let code = UInt32(BigEndian.number(parameters.prefix(4)))
      let data = Array(parameters.dropFirst(4))
      let answer =
        slots[slot.number].recording?.answer(to: .control(code, data)).map { DriverAnswer($0) }
        ?? readers[slots[slot.number].reader.number].properties.control(code, data)
      record(.control(code), data, answer, in: slot)
      return answer
    case .capability where parameters.count == 4:
      let tag = UInt32(BigEndian.number(parameters))
      if let recorded = slots[slot.number].recording?.answer(to: .attribute(tag)) { return DriverAnswer(recorded) }
      let value = readers[slots[slot.number].reader.number].properties.attribute(tag)
      return value.map { .success($0) } ?? .failure(.unknownTag)
    default: return .failure(.notSupported)
    }
  }

  private func checkPresence(in slot: CardSlotID, byWaitingThread isWaiting: Bool) -> DriverAnswer {
    let report = slots[slot.number].presence.report(toWaitingThread: isWaiting)
    let changes = slots[slot.number].presence.changes
    // The card is there again, which the driver learns with the next check.
    if changes != report.changes { send(BigEndian.bytes(changes), to: .events(slot)) }
    return DriverAnswer(response: report.isPresent ? .cardPresent : .cardAbsent, data: BigEndian.bytes(report.changes))
  }

  private func power(_ action: DriverPowerAction?, _ slot: CardSlotID) -> DriverAnswer {
    switch action {
    case .powerDown:
      slots[slot.number].powerDown()
      record(.powerDown, [], .success(), in: slot)
      return .success()
    case .powerUp, .reset:
      if let id = slots[slot.number].current?.id { activities[id]?.powerUps += 1 }
      let isMute = slots[slot.number].faults.nextPowerUpIsMute()
      let bytes = isMute ? nil : change(slot) { $0.powerUp() }
      if isMute { slots[slot.number].powerDown() }
      let answer = bytes.map { DriverAnswer.success($0) } ?? .failure(.powerUpFailed)
      record(.powerUp, [], answer, in: slot)
      return answer
    case nil: return .failure(.notSupported)
    }
  }

  private func transmit(_ command: [UInt8], _ slot: CardSlotID) -> DriverAnswer? {
    if let id = slots[slot.number].current?.id { activities[id]?.commands.append(command) }
    record(.command, command, nil, in: slot)
    let answer = executeOrFail(command, slot)
    if let answer, answer.response == .success, let last = records[slot]?.indices.last {
      records[slot]?[last].answer = answer.data
    }
    if slots[slot.number].interface.hasLostCard { takeAway(from: slot) }
    return answer
  }

  /// Executes a command, or lets the next fault strike. Nil if the answer is held, or the reader is gone.
  private func executeOrFail(_ command: [UInt8], _ slot: CardSlotID) -> DriverAnswer? {
    switch slots[slot.number].faults.nextCommand() {
    case .removal(let executed):
      if executed { _ = change(slot) { $0.transmit(command) } }
      takeAway(from: slot)
      return .failure(.communicationError)
    case .vanish:
      change(slot) { $0.vanish() }
      return .success(ResponseStatus.failure)
    case .flicker:
      change(slot) { $0.flicker() }
      return .failure(.communicationError)
    case .unplug:
      unplug(slots[slot.number].reader)
      return nil
    case .answer(let bytes, let executed):
      if executed { _ = change(slot) { $0.transmit(command) } }
      return .success(bytes)
    case .silence(let executed):
      if executed { _ = change(slot) { $0.transmit(command) } }
      return .failure(.timeout)
    case .hold:
      slots[slot.number].heldAnswer = change(slot) { $0.transmit(command) }
      return nil
    case .mute, nil: return change(slot) { $0.transmit(command) }
    }
  }

  /// Takes the card away, as a fault does. A test can still remove it by its placement.
  private func takeAway(from slot: CardSlotID) {
    guard let id = slots[slot.number].current?.id else { return }
    takenAway[id] = change(slot) { $0.remove(id) }
  }

  private func record(_ kind: CardExchange.Kind, _ command: [UInt8], _ answer: DriverAnswer?, in slot: CardSlotID) {
    let data = answer?.response == .success ? answer?.data : nil
    records[slot, default: []].append(
      CardExchange(kind: kind, card: slots[slot.number].current?.id, command: command, answer: data))
    if let count = records[slot]?.count, count >= 2 * Self.recordLimit { records[slot]?.removeFirst(Self.recordLimit) }
  }
}

extension DriverConnection {
  /// The slot that the connection belongs to; nil if the driver has not said.
  var slot: CardSlotID? {
    switch purpose {
    case .unknown: nil
    case .requests(let slot), .events(let slot): slot
    }
  }
}

/// The name that pcscd gives a USB device: `usb:VVVV/PPPP:libudev:INTERFACE:/dev/bus/usb/BUS/DEVICE`.
struct USBDeviceName: Equatable {
  let vendor: UInt16
  let product: UInt16
  let interface: Int
  let device: UInt8

  /// Nil if the name has another form.
  init?(_ name: String) {
    let parts = name.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 5, parts[0] == "usb", let interface = Int(parts[3]) else { return nil }
    let numbers = parts[1].split(separator: "/").map { UInt16($0, radix: 16) }
    guard numbers.count == 2, let vendor = numbers[0], let product = numbers[1] else { return nil }
    (self.vendor, self.product, self.interface) = (vendor, product, interface)
    device = parts[4].split(separator: "/").last.flatMap { UInt8($0) } ?? 0
  }
}
