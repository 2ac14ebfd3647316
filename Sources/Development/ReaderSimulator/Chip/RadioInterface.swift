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

/// A tag that was found and selected.
struct ActivatedTag {
  var atqa: [UInt8]
  var sak: UInt8
  var uid: [UInt8]

  /// Bit 6 of SAK: the tag speaks ISO/IEC 14443-4 (ISO/IEC 14443-3, 6.5.3.4).
  var speaksBlockProtocol: Bool { sak & 0x20 != 0 }
}

/// Finding and selecting a tag (ISO/IEC 14443-3, 6.5).
extension RadioInterface {
  static let reqa: UInt8 = 0x26
  static let wupa: UInt8 = 0x52
  private static let cascadeTag: UInt8 = 0x88
  private static let selectCodes: [UInt8] = [0x93, 0x95, 0x97]

  /// Sends one request and, if a tag answers, runs anticollision and select. The request is REQA, or WUPA, which also
  /// wakes halted tags. `wanted` is the UID of the only tag to select. Returns the tag that is now ACTIVE.
  mutating func activateTypeA(request: UInt8, wanted: [UInt8]? = nil) -> ActivatedTag? {
    let atqa: [UInt8]
    switch transceive(.short(request), for: .activation) {
    case .silence: return nil
    case .frame(let frame): atqa = frame.bytes
    case .collision(let frames): atqa = frames[0].bytes
    }
    var rest = wanted.map { $0[...] }
    var uid: [UInt8] = []
    for code in Self.selectCodes {
      guard let level = identify(code: code, wanted: rest) else { return nil }
      guard case .frame(let answer) = transceive(.standard([code, 0x70] + level), for: .activation),
        let sak = answer.checkedData?.first
      else { return nil }
      if sak & 0x04 == 0 {
        uid += level[0..<4]
        return ActivatedTag(atqa: atqa, sak: sak, uid: uid)
      }
      uid += level[1..<4]
      rest = rest?.dropFirst(3)
    }
    return nil
  }

  /// The four bytes of one cascade level and their check byte.
  private mutating func identify(code: UInt8, wanted: ArraySlice<UInt8>?) -> [UInt8]? {
    if let wanted {
      let level = wanted.count > 4 ? [Self.cascadeTag] + wanted.prefix(3) : Array(wanted)
      return level.count == 4 ? level + [level.reduce(0, ^)] : nil
    }
    switch transceive(RadioFrame(bytes: [code, 0x20]), for: .activation) {
    case .silence: return nil
    case .frame(let frame): return frame.bytes.count == 5 ? frame.bytes : nil
    case .collision(let frames):
      // If bits collide, the chip continues with the tags that sent a one.
      return frames.map(\.bytes).filter { $0.count == 5 }
        .max { Self.asSent($0).lexicographicallyPrecedes(Self.asSent($1)) }
    }
  }

  /// The bits in their order on the air, the lowest first.
  private static func asSent(_ bytes: [UInt8]) -> [UInt8] {
    bytes.map { byte in (0..<8).reduce(0 as UInt8) { (bits: UInt8, position: Int) in bits << 1 | byte >> position & 1 }
    }
  }
}
