/// The chip's contactless interface: sends frames on the air, adds up their durations, and applies faults.
struct RadioInterface {
  /// The purpose of a frame. The two kinds are counted separately.
  enum Purpose {
    /// Finding and selecting tags.
    case activation
    /// An exchange for the host.
    case exchange
  }

  var field = RadioField()
  var faults = FaultPlan()
  var timing: TimingModel
  /// RFConfiguration's fRetryTimeout; 0A is 51.2 ms.
  var timeoutCode: UInt8 = 0x0A
  /// RFConfiguration's MaxRtyCOM: how often the firmware repeats a frame that no tag answers. Not used for ISO-DEP.
  var retries: UInt8 = 0
  private(set) var activationFrames = 0
  private(set) var exchanges = 0
  /// How long the current command has been on the air so far.
  private(set) var elapsed: Duration = .zero
  /// The last frame on the air, from either side.
  private(set) var lastFrame: [UInt8] = []
  /// The time when the current command began.
  private var begin: Duration = .zero
  /// Tags that a fault removed, with their contents.
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

  /// Switches the field. A tag needs the guard time before it listens.
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

  /// As `transceive` for an exchange, with the number of retries that the host set.
  mutating func transceiveRepeatedly(_ frame: RadioFrame) -> RadioField.Answer {
    for _ in 0..<retries {
      let answer = transceive(frame, for: .exchange)
      if answer != .silence { return answer }
    }
    return transceive(frame, for: .exchange)
  }

  private mutating func transceiveWithFaults(_ frame: RadioFrame) -> RadioField.Answer {
    switch faults.nextExchange() {
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
      // The chip's real timeout, even if the model takes no time.
      guard delay < TimingModel.realistic.timeout(code: timeoutCode) else { return .silence }
      elapsed += delay
      return answer
    default: return putOnAir(frame)
    }
  }

  private mutating func putOnAir(_ frame: RadioFrame) -> RadioField.Answer {
    field.transceive(frame, poweredBefore: begin + elapsed - timing.startUp(frame.modulation))
  }
}
