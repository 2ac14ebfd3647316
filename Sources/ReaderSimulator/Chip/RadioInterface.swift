/// The chip's contactless interface: what it puts on the air, what that costs, and what goes wrong there.
struct RadioInterface {
  /// What a frame is for: the two are counted apart.
  enum Purpose {
    /// Finding and selecting tags.
    case activation
    /// What the host asked for.
    case exchange
  }

  var field = RadioField()
  var faults = FaultPlan()
  var timing: TimingModel
  /// RFConfiguration's fRetryTimeout; 0A is 51.2 ms.
  var timeoutCode: UInt8 = 0x0A
  /// RFConfiguration's MaxRtyCOM: how often the firmware repeats a frame that nothing answers, ISO-DEP aside.
  var retries: UInt8 = 0
  private(set) var activationFrames = 0
  private(set) var exchanges = 0
  /// What the command that runs has spent on the air so far.
  private(set) var elapsed: Duration = .zero
  /// What went over the air last, from either side.
  private(set) var lastFrame: [UInt8] = []
  /// When that command began.
  private var begin: Duration = .zero
  /// Tags that a fault took away, with what they hold.
  private(set) var takenAway: [TagID: any FieldTag] = [:]

  init(timing: TimingModel) { self.timing = timing }

  mutating func beginCommand(at now: Duration) {
    begin = now
    elapsed = .zero
  }

  mutating func resetCounters() {
    activationFrames = 0
    exchanges = 0
  }

  mutating func spend(_ duration: Duration) { elapsed += duration }

  mutating func forgetTakenAway(_ id: TagID) -> (any FieldTag)? { takenAway.removeValue(forKey: id) }

  /// A tag needs the guard time before it listens.
  mutating func switchField(on: Bool) {
    let comesOn = on && !field.isOn
    field.set(on: on, at: begin + elapsed, keptPower: timing.keptPower)
    if comesOn { elapsed += timing.guardTime }
  }

  mutating func transceive(_ frame: RadioFrame, for purpose: Purpose) -> RadioField.Answer {
    elapsed += timing.radioTime(frame, from: .reader) + timing.answerDelay(frame, for: purpose)
    let answer: RadioField.Answer
    switch purpose {
    case .activation:
      activationFrames += 1
      answer = putOnAir(frame)
    case .exchange:
      exchanges += 1
      answer = transceiveWithFaults(frame)
    }
    lastFrame = frame.bytes
    switch answer {
    case .silence: elapsed += purpose == .exchange ? timing.timeout(code: timeoutCode) : timing.wait(for: frame)
    case .frame(let frame):
      elapsed += timing.radioTime(frame, from: .tag)
      lastFrame = frame.bytes
    case .collision(let frames): elapsed += frames.map { timing.radioTime($0, from: .tag) }.max() ?? .zero
    }
    return answer
  }

  /// As `transceive` for an exchange, as often as the host has asked for.
  mutating func transceiveRepeatedly(_ frame: RadioFrame) -> RadioField.Answer {
    for _ in 0..<retries {
      let answer = transceive(frame, for: .exchange)
      if answer != .silence { return answer }
    }
    return transceive(frame, for: .exchange)
  }

  private mutating func transceiveWithFaults(_ frame: RadioFrame) -> RadioField.Answer {
    switch faults.nextExchange() {
    case nil: return putOnAir(frame)
    case .removal(let heard):
      if heard { _ = putOnAir(frame) }
      for id in field.tags { takenAway[id] = field.remove(id) }
      return .silence
    case .tear(let tear):
      field.tearWrites(tear)
      _ = putOnAir(frame)
      for id in field.tags { takenAway[id] = field.remove(id) }
      return .silence
    case .disturbance(.unheard): return .silence
    case .disturbance(.garbledCommand): return putOnAir(frame.garbled)
    case .disturbance(.unanswered):
      _ = putOnAir(frame)
      return .silence
    case .disturbance(.garbledAnswer):
      guard case .frame(let answer) = putOnAir(frame) else { return .silence }
      return .frame(answer.garbled)
    case .disturbance(.late(let delay)):
      let answer = putOnAir(frame)
      // What the chip waits in truth, also where the model takes no time.
      guard delay < TimingModel.realistic.timeout(code: timeoutCode) else { return .silence }
      elapsed += delay
      return answer
    }
  }

  private mutating func putOnAir(_ frame: RadioFrame) -> RadioField.Answer {
    field.transceive(frame, poweredBefore: begin + elapsed - timing.startUp(frame.modulation))
  }
}
