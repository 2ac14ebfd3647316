/// What a tag does once it is selected: the part above ISO/IEC 14443-3.
protocol TypeAApplication: Sendable {
  /// Answer to request, as sent: low byte first.
  var atqa: [UInt8] { get }
  /// Select acknowledge of the last cascade level.
  var sak: UInt8 { get }
  /// The permanent memory as a reader would dump it.
  var memory: [UInt8] { get }
  /// How far what is written now gets.
  var writeTear: WriteTear? { get set }
  /// Whether the tag is in ISO/IEC 14443-4, where the commands of part 3 mean nothing to it.
  var isInBlockProtocol: Bool { get }
  /// Whether a request ends ISO/IEC 14443-4.
  var leavesOnRequest: Bool { get }

  /// Deselected, or without power: what belongs to one activation is forgotten.
  mutating func deactivate()

  /// - Parameter data: what the reader sent, its CRC checked and taken off; nil where the CRC was wrong.
  /// - Returns: what to answer, and whether the tag stays selected.
  mutating func receive(_ data: [UInt8]?) -> TypeAReply
}

extension TypeAApplication {
  var leavesOnRequest: Bool { false }
}

/// What an application has to say to a command.
enum TypeAReply: Equatable {
  /// A standard frame; the CRC is added below.
  case data([UInt8])
  /// Four bits that say "done".
  case acknowledge
  /// Four bits that say "no"; the tag is not selected any more.
  case refuse(UInt8)
  /// Silence; the tag is not selected any more.
  case leave
  /// Silence; the tag stays selected.
  case ignore
  /// A standard frame, and then the tag is halted.
  case dataThenHalt([UInt8])
}

/// A tag of ISO/IEC 14443-3 Type A: its states, its anticollision, its UID.
struct TypeATag: FieldTag {
  /// The states of ISO/IEC 14443-3, 6.3.
  private enum State: Equatable {
    case idle
    /// - Parameter level: how many cascade levels are done.
    case ready(level: Int)
    case active
    case halt
  }

  private static let cascadeTag: UInt8 = 0x88
  private static let uidIncomplete: UInt8 = 0x04
  private static let reqa: UInt8 = 0x26
  private static let wupa: UInt8 = 0x52
  private static let selectCodes: [UInt8] = [0x93, 0x95, 0x97]

  private let identity: TagUID
  private var uid: [UInt8]
  private var state = State.idle
  /// Whether what goes wrong leads back to HALT rather than to IDLE.
  private var wasHalted = false
  private var application: any TypeAApplication
  private let needsAnticollision: Bool
  /// The cascade level in which it was asked for its UID last.
  private var toldLevel: Int?

  init(uid identity: TagUID, application: any TypeAApplication, needsAnticollision: Bool = false) {
    self.identity = identity
    self.needsAnticollision = needsAnticollision
    self.application = application
    uid = identity.bytes()
  }

  var memory: [UInt8] { application.memory }
  var writeTear: WriteTear? {
    get { application.writeTear }
    set { application.writeTear = newValue }
  }

  mutating func losePower() {
    state = .idle
    wasHalted = false
    uid = identity.bytes()
    application.deactivate()
  }

  mutating func receive(_ frame: RadioFrame) -> RadioFrame? {
    if frame.modulation == .jewel { hearJewel() }
    guard frame.modulation == .typeA else { return nil }
    let isRequest = frame.lastBits == 7
    if state == .active && application.isInBlockProtocol && !(isRequest && application.leavesOnRequest) {
      return exchange(frame)
    }
    if frame.lastBits == 7, frame.bytes.count == 1 { return receiveShort(frame.bytes[0]) }
    switch state {
    case .idle, .halt: return nil
    case .ready(let level): return receiveSelect(frame, level: level)
    case .active:
      if frame.checkedData == [0x50, 0x00] {
        halt()
        return nil
      }
      return exchange(frame)
    }
  }

  /// The frames for a Jewel tag are Type A's, and nothing that this one knows.
  private mutating func hearJewel() {
    switch state {
    case .idle, .halt: break
    case .ready: leave()
    case .active: if !application.isInBlockProtocol { leave() }
    }
  }

  /// REQA wakes IDLE, WUPA wakes HALT too; in any other state both lead back without a word, so a tag that was left
  /// selected misses one request.
  private mutating func receiveShort(_ command: UInt8) -> RadioFrame? {
    guard command == Self.reqa || command == Self.wupa else {
      leave()
      return nil
    }
    switch state {
    case .idle: wasHalted = false
    case .halt:
      guard command == Self.wupa else { return nil }
      wasHalted = true
    case .ready, .active:
      leave()
      return nil
    }
    state = .ready(level: 0)
    toldLevel = nil
    return RadioFrame(bytes: application.atqa)
  }

  private mutating func receiveSelect(_ frame: RadioFrame, level: Int) -> RadioFrame? {
    let levels = cascadeLevels
    guard level < levels.count, level < Self.selectCodes.count, frame.bytes.count >= 2,
      frame.bytes[0] == Self.selectCodes[level]
    else {
      leave()
      return nil
    }
    if frame.bytes == [Self.selectCodes[level], 0x20] {
      toldLevel = level
      return RadioFrame(bytes: levels[level])
    }
    guard frame.checkedData == [Self.selectCodes[level], 0x70] + levels[level],
      !needsAnticollision || toldLevel == level
    else {
      // Another tag is meant.
      leave()
      return nil
    }
    if level + 1 < levels.count {
      state = .ready(level: level + 1)
      return .standard([application.sak | Self.uidIncomplete])
    }
    state = .active
    return .standard([application.sak])
  }

  private mutating func exchange(_ frame: RadioFrame) -> RadioFrame? {
    switch application.receive(frame.checkedData) {
    case .data(let data): return .standard(data)
    case .acknowledge: return .acknowledgement(0xA)
    case .ignore: return nil
    case .leave:
      leave()
      return nil
    case .refuse(let code):
      leave()
      return .acknowledgement(code)
    case .dataThenHalt(let data):
      halt()
      return .standard(data)
    }
  }

  private mutating func halt() {
    application.deactivate()
    state = .halt
  }

  private mutating func leave() {
    application.deactivate()
    state = wasHalted ? .halt : .idle
  }

  /// Per cascade level four bytes of UID, or the cascade tag and three, and the check byte over them (6.5.4).
  private var cascadeLevels: [[UInt8]] {
    var levels: [[UInt8]] = []
    var rest = uid[...]
    while rest.count > 4 {
      levels.append([Self.cascadeTag] + rest.prefix(3))
      rest = rest.dropFirst(3)
    }
    levels.append(Array(rest))
    return levels.map { $0 + [$0.reduce(0, ^)] }
  }
}
