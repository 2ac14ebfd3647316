/// The chip: frames in, frames out. It returns its actions as values; its owner sends, waits and wakes it.
struct PN532Chip {
  /// An action for the owner of the line.
  enum Action: Equatable {
    /// Cancel all scheduled sends and the wake-up.
    case cancel
    case send([UInt8], after: Duration)
    /// Call `wake` at this time.
    case wake(at: Duration)
    /// Cut the line.
    case unplug
  }

  enum Outcome {
    /// Send an answer. The value is its data, without the code.
    case answer([UInt8])
    /// Send an error frame.
    case refuse
    /// Send no answer for now.
    case wait(Waiting)
  }

  /// Why a command has no answer yet. The wait also ends if the host sends an acknowledgement or another command.
  enum Waiting {
    /// Waits for a tag (MxRtyPassiveActivation FF).
    case select(PassiveTargetRequest)
    /// Waits for a tag, or until `wake`.
    case autoPoll(AutoPoll, wake: Duration?)
    /// Waits for an event that never comes, an initiator for example.
    case forever
  }

  private static let traceLimit = 4096
  /// The rate of the line, in bits per second, after the chip has got its power.
  static let initialRate = 115_200

  var radio: RadioInterface
  var registers = PN532Registers()
  var byteFrames = ByteFrames()
  var retries = (atr: UInt8(0xFF), psl: UInt8(0x01), passiveActivation: UInt8(0xFF))
  var parameters: UInt8 = 0x14
  var lastError: UInt8 = 0
  /// Whether a poll for Type B starts with WUPB, which also wakes halted cards, instead of REQB.
  var wakesTypeB = true
  /// The targets with the numbers 1 and 2.
  var targets: [ChipTarget] = []
  /// The index of the target that is ACTIVE.
  var selected: Int?
  /// The pieces so far of a command that is longer than a frame.
  var outgoing: [UInt8] = []
  /// The recorded chip that answers first; nil if there is none.
  var recording: TraceReplay?
  /// How long the recorded chip took for the current command; nil if that is not repeated.
  var recordedTime: Duration?
  /// The rest of a recorded answer that did not fit into one frame.
  var replayedRest: [UInt8] = []

  private(set) var trace: [CommandRecord] = []
  private var counted = ChipCounters()
  private var fieldOnSince: Duration?
  private var waiting: Waiting?
  private var waitingCode: UInt8 = 0
  /// The faults that strike the current command.
  private var struck: [Fault.Kind] = []
  private var isStalled = false
  /// The rate of the line, in bits per second.
  private(set) var rate = Self.initialRate
  /// It applies once the host has acknowledged the change (UM0701-02, 7.2.8). Another command instead cancels it, which
  /// the manual does not say.
  private(set) var nextRate: Int?
  private var lastAnswer: [UInt8] = []
  /// The answer that comes in place of the next one; nil if answers come in time.
  private var lateAnswer: [UInt8]?

  init(timing: TimingModel) { radio = RadioInterface(timing: timing) }

  private var lineByte: Duration { radio.timing.lineByte * Self.initialRate / rate }

  /// The activity since the last reset. The time with the field on is counted up to `now`.
  func counters(at now: Duration) -> ChipCounters {
    var counters = counted
    counters.exchanges = radio.exchanges
    counters.activationFrames = radio.activationFrames
    if let fieldOnSince { counters.fieldOnTime += now - fieldOnSince }
    return counters
  }

  mutating func resetCounters(at now: Duration) {
    counted = ChipCounters()
    radio.resetCounters()
    trace = []
    if fieldOnSince != nil { fieldOnSince = now }
  }

  mutating func countReceived(bytes: Int) { counted.bytesReceived += bytes }

  mutating func receive(_ frame: HostFrame, at now: Duration) -> [Action] {
    guard !isStalled else { return [] }
    let actions: [Action]
    switch frame {
    case .acknowledge:
      waiting = nil
      rate = nextRate ?? rate
      nextRate = nil
      actions = [.cancel]
    case .notAcknowledge: actions = lastAnswer.isEmpty ? [] : [send(lastAnswer, after: .zero)]
    case .error: actions = []
    case .information(let payload): actions = receiveCommand(payload, at: now)
    }
    noteField(at: now)
    return actions
  }

  /// Handles the placement or removal of a tag.
  mutating func fieldChanged(at now: Duration) -> [Action] {
    guard let waiting else { return [] }
    radio.beginCommand(at: now)
    defer { noteField(at: now) }
    switch waiting {
    case .select(let request):
      // The chip polls repeatedly, so the tag answers as soon as it has started.
      radio.spend(radio.timing.startUp(request.modulation))
      guard let answer = attemptSelect(request) else { return [] }
      return finish(.answer(answer), code: waitingCode, at: now, after: radio.elapsed)
    case .autoPoll(let poll, _):
      guard !radio.timing.hasPollingSlots, case .answer(let answer) = look(poll) else { return [] }
      return [.cancel] + finish(.answer(answer), code: waitingCode, at: now, after: radio.elapsed)
    case .forever: return []
    }
  }

  /// Handles a wake-up at the time that an earlier `wake` action named.
  mutating func wake(at now: Duration) -> [Action] {
    guard case .autoPoll(let poll, let time?)? = waiting, now >= time else { return [] }
    radio.beginCommand(at: now)
    defer { noteField(at: now) }
    let outcome = continueAutoPoll(poll)
    return finish(outcome, code: waitingCode, at: now, after: radio.elapsed)
  }

  /// Forgets the running command and the last answer.
  mutating func forgetCommand(at now: Duration) {
    waiting = nil
    isStalled = false
    lastAnswer = []
    lateAnswer = nil
    noteField(at: now)
  }

  private mutating func receiveCommand(_ payload: [UInt8], at now: Duration) -> [Action] {
    waiting = nil
    recordedTime = nil
    nextRate = nil
    guard payload.count >= 2, payload[0] == HostFrame.hostIdentifier else {
      return [.cancel, send(HostFrame.acknowledge.bytes, after: .zero), send(HostFrame.error.bytes, after: .zero)]
    }
    let code = payload[1]
    let command = PN532Command(rawValue: code)
    struck = radio.faults.nextCommand(command)
    if struck.contains(.unplug) { return [.cancel, .unplug] }
    if struck.contains(.silence) { return [.cancel] }
    counted.commands += 1
    trace.append(CommandRecord(command: Array(payload.dropFirst()), answer: nil, arrival: now))
    if trace.count >= 2 * Self.traceLimit { trace.removeFirst(Self.traceLimit) }
    let acknowledgement = HostFrame.acknowledge.bytes
    // The command itself occupies the line first. Preamble, length, checksums and postamble take seven bytes.
    let acknowledged = lineByte * (payload.count + 7 + acknowledgement.count)
    let actions: [Action] = [.cancel, send(acknowledgement, after: acknowledged)]
    if struck.contains(.stall) {
      isStalled = true
      return actions
    }
    radio.beginCommand(at: now + acknowledged)
    let outcome: Outcome
    if struck.contains(where: \.isRefusal) {
      outcome = .refuse
    } else if let status = struck.compactMap(\.failingStatus).last {
      outcome = .answer([status])
    } else {
      let own = command.map { run($0, Array(payload.dropFirst(2)), at: now) } ?? .refuse
      outcome = replay(Array(payload.dropFirst()), insteadOf: own)
    }
    return actions + finish(outcome, code: code, at: now, after: acknowledged + radio.elapsed)
  }

  private mutating func finish(_ outcome: Outcome, code: UInt8, at now: Duration, after delay: Duration) -> [Action] {
    waiting = nil
    var bytes: [UInt8]
    switch outcome {
    case .wait(let reason):
      waiting = reason
      waitingCode = code
      if case .autoPoll(_, let time?) = reason { return [.wake(at: time)] }
      return []
    case .refuse: bytes = HostFrame.error.bytes
    case .answer(let answer):
      if !trace.isEmpty { trace[trace.count - 1].answer = answer }
      let answer = struck.contains(.shortAnswer) ? Array(answer.prefix(answer.count / 2)) : answer
      bytes = HostFrame.information([HostFrame.chipIdentifier, code &+ 1] + answer).bytes
      if struck.contains(.corruptChecksum) { bytes[bytes.count - 2] ^= 0xFF }
      if struck.contains(.staleAnswer) && !lastAnswer.isEmpty { bytes = lastAnswer }
    }
    if struck.contains(.fallBehind), !lastAnswer.isEmpty { lateAnswer = lastAnswer }
    if let late = lateAnswer { (bytes, lateAnswer) = (late, bytes) }
    if struck.contains(.brokenOff) { bytes.removeLast(bytes.count / 2) }
    lastAnswer = bytes
    let added: Duration = struck.reduce(.zero) { $0 + $1.addedDelay }
    let total = (recordedTime ?? delay + lineByte * bytes.count + radio.timing.ownTime) + added
    let action = send(bytes, after: total)
    note(end: now + total)
    return [action]
  }

  /// Updates the counters and the trace for a command that is answered.
  private mutating func note(end: Duration) {
    guard let last = trace.indices.last else { return }
    counted.wireTime += end - trace[last].arrival
    trace[last].end = end
    trace[last].counters = counters(at: end)
  }

  private mutating func send(_ bytes: [UInt8], after delay: Duration) -> Action {
    counted.bytesSent += bytes.count
    return .send(bytes, after: delay)
  }

  /// Updates the time that the field was on.
  private mutating func noteField(at now: Duration) {
    switch (fieldOnSince, radio.field.isOn) {
    case (nil, true): fieldOnSince = now
    case (let since?, false):
      counted.fieldOnTime += now - since
      fieldOnSince = nil
    default: break
    }
  }

  private mutating func setSerialBaudRate(_ data: [UInt8]) -> Outcome {
    let rates = [9600, 19_200, 38_400, 57_600, 115_200, 230_400, 460_800, 921_600, 1_288_000]
    guard data.count == 1, Int(data[0]) < rates.count else { return .refuse }
    nextRate = rates[Int(data[0])]
    return .answer([])
  }

  private mutating func run(_ command: PN532Command, _ data: [UInt8], at now: Duration) -> Outcome {
    do throws(PN532Failure) {
      switch command {
      case .diagnose: return diagnose(data)
      case .getFirmwareVersion: return .answer([0x32, 0x01, 0x06, 0x07])
      case .getGeneralStatus: return getGeneralStatus()
      case .readRegister: return readRegister(data)
      case .writeRegister: return writeRegister(data)
      case .readGPIO: return .answer([0x3F, 0x06, 0x00])
      case .writeGPIO: return .answer([])
      case .setSerialBaudRate: return setSerialBaudRate(data)
      case .setParameters: return setParameters(data)
      case .samConfiguration: return samConfiguration(data)
      case .powerDown: return powerDown()
      case .rfConfiguration: return rfConfiguration(data)
      case .rfRegulationTest: return .wait(.forever)
      case .inListPassiveTarget: return inListPassiveTarget(data)
      case .inAutoPoll: return inAutoPoll(data, at: now)
      case .inDataExchange: return try inDataExchange(data)
      case .inCommunicateThru: return try inCommunicateThru(data)
      case .inSelect: return try inSelect(data)
      case .inDeselect: return try inDeselect(data, release: false)
      case .inRelease: return try inDeselect(data, release: true)
      case .inJumpForDEP, .inJumpForPSL: throw PN532Failure(PN532Status.timeout)
      case .tgInitAsTarget: return .wait(.forever)
      case .inPSL, .inATR, .tgGetData, .tgGetInitiatorCommand, .tgSetData, .tgResponseToInitiator,
        .tgSetGeneralBytes, .tgSetMetaData:
        throw PN532Failure(PN532Status.wrongContext)
      case .tgGetTargetStatus: return .answer([0x00, 0x00])
      }
    } catch {
      lastError = error.status
      return .answer([error.status])
    }
  }
}

extension PN532Chip {
  /// Cuts the chip's power and restores it. Tags, faults and counters are kept.
  mutating func reset(at now: Duration) {
    radio.switchField(on: false)
    radio.timeoutCode = 0x0A
    radio.retries = 0
    registers = PN532Registers()
    byteFrames = ByteFrames()
    retries = (atr: 0xFF, psl: 0x01, passiveActivation: 0xFF)
    parameters = 0x14
    lastError = 0
    targets = []
    selected = nil
    outgoing = []
    replayedRest = []
    rate = Self.initialRate
    nextRate = nil
    forgetCommand(at: now)
  }
}

/// Commands that concern only the chip (UM0701-02, sections 7.2 and 7.3.1).
extension PN532Chip {
  /// Bit 4 of SetParameters: the chip sends RATS without a command from the host.
  var sendsRATS: Bool { parameters & 0x10 != 0 }

  mutating func diagnose(_ data: [UInt8]) -> Outcome {
    switch data.first {
    case 0x00, 0x05: return .answer(data.first == 0x00 ? data : [])
    case 0x01, 0x02, 0x07: return .answer([PN532Status.success])
    // The number of failed polls for a FeliCa target: all 128.
    case 0x04: return .answer([0x80])
    case 0x06: return .answer([attentionRequest()])
    default: return .refuse
    }
  }

  mutating func getGeneralStatus() -> Outcome {
    var answer: [UInt8] = [lastError, 0, UInt8(truncatingIfNeeded: targets.count)]
    for (index, _) in targets.enumerated() {
      // 106 kbit/s in both directions, Type A.
      answer += [UInt8(truncatingIfNeeded: index + 1), 0x00, 0x00, 0x00]
    }
    return .answer(answer + [0x80])
  }

  mutating func readRegister(_ data: [UInt8]) -> Outcome {
    guard !data.isEmpty, data.count.isMultiple(of: 2) else { return .refuse }
    var values: [UInt8] = []
    for index in stride(from: 0, to: data.count, by: 2) {
      values.append(readRegister(at: UInt16(data[index]) << 8 | UInt16(data[index + 1])))
    }
    return .answer(values)
  }

  mutating func writeRegister(_ data: [UInt8]) -> Outcome {
    guard !data.isEmpty, data.count.isMultiple(of: 3) else { return .refuse }
    for index in stride(from: 0, to: data.count, by: 3) {
      writeRegister(data[index + 2], at: UInt16(data[index]) << 8 | UInt16(data[index + 1]))
    }
    return .answer([])
  }

  mutating func setParameters(_ data: [UInt8]) -> Outcome {
    guard data.count == 1 else { return .refuse }
    parameters = data[0]
    return .answer([])
  }

  func samConfiguration(_ data: [UInt8]) -> Outcome {
    guard let mode = data.first, (1...4).contains(mode) else { return .refuse }
    return .answer([])
  }

  mutating func powerDown() -> Outcome {
    releaseAll()
    radio.switchField(on: false)
    return .answer([PN532Status.success])
  }

  mutating func rfConfiguration(_ data: [UInt8]) -> Outcome {
    guard let item = data.first else { return .refuse }
    let values = Array(data.dropFirst())
    switch (item, values.count) {
    case (0x01, 1): radio.switchField(on: values[0] & 0x01 != 0)
    case (0x02, 3): radio.timeoutCode = values[2]
    case (0x05, 3): retries = (values[0], values[1], values[2])
    case (0x04, 1): radio.retries = values[0]
    case (0x0A, 11), (0x0B, 8), (0x0C, 3), (0x0D, 9): break
    default: return .refuse
    }
    return .answer([])
  }
}
