/// The behaviour of a selected tag: the layers above ISO/IEC 14443-3.
protocol TypeAApplication: Sendable {
  /// Answer to request (ATQA), low byte first.
  var atqa: [UInt8] { get }
  /// Select acknowledge (SAK) of the last cascade level.
  var sak: UInt8 { get }
  /// The permanent memory as a reader would dump it.
  var memory: [UInt8] { get }
  /// Sets how far further writes get before the tag loses its power; nil if they complete.
  mutating func tearWrites(_ tear: WriteTear?)
  /// Whether the tag is in ISO/IEC 14443-4. It then ignores the commands of part 3.
  var isInBlockProtocol: Bool { get }
  /// Whether REQA and WUPA end ISO/IEC 14443-4.
  var leavesOnRequest: Bool { get }

  /// The tag is deselected or without power: the application forgets the state of this activation.
  mutating func deactivate()

  /// `data` has no CRC; it is nil if the CRC was wrong. The reply also decides whether the tag stays selected.
  mutating func receive(_ data: [UInt8]?) -> TypeAReply
}

extension TypeAApplication { var leavesOnRequest: Bool { false } }

/// The reply of an application to a command.
enum TypeAReply: Equatable {
  /// A standard frame. `TypeATag` adds the CRC.
  case data([UInt8])
  /// Four bits that mean "done" (ACK).
  case acknowledge
  /// Four bits that mean "refused" (NAK). The tag is no longer selected.
  case refuse(UInt8)
  /// Silence. The tag is no longer selected.
  case leave
  /// Silence. The tag stays selected.
  case ignore
  /// A standard frame, after which the tag is halted.
  case dataThenHalt([UInt8])
}

/// A tag of ISO/IEC 14443-3 Type A: its states, its anticollision, its UID.
struct TypeATag: FieldTag {
  /// The states of ISO/IEC 14443-3, 6.3. A loss of power leads to `.idle` from all of them.
  private enum State: Equatable {
    /// The tag waits for REQA or WUPA. Can transition to: `.ready`.
    case idle
    /// The tag answered a request and is being identified; `level` cascade levels are done. Can transition to: `.ready`
    /// of the next level, `.active`, `.idle`, `.halt`.
    case ready(level: Int)
    /// The tag is selected. Can transition to: `.idle`, `.halt`.
    case active
    /// The tag waits for WUPA. Can transition to: `.ready`.
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
  /// Whether an error leads back to HALT rather than to IDLE.
  private var wasHalted = false
  private var application: any TypeAApplication
  private let needsAnticollision: Bool
  /// The cascade level of the last request for the UID.
  private var toldLevel: Int?

  init(uid identity: TagUID, application: any TypeAApplication, needsAnticollision: Bool = false) {
    self.identity = identity
    self.needsAnticollision = needsAnticollision
    self.application = application
    uid = identity.bytes()
  }

  var memory: [UInt8] { application.memory }
  mutating func tearWrites(_ tear: WriteTear?) { application.tearWrites(tear) }

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

  /// Frames for a Jewel tag have the modulation of Type A, so this tag receives them as unknown commands.
  private mutating func hearJewel() {
    switch state {
    case .idle, .halt: break
    case .ready: leave()
    case .active: if !application.isInBlockProtocol { leave() }
    }
  }

  /// REQA wakes a tag in IDLE, and WUPA also one in HALT. In any other state, both lead back to IDLE or HALT without an
  /// answer. A tag that was left selected therefore misses one request.
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
      // The reader means another tag.
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

  /// The bytes of each cascade level (6.5.4): four bytes of UID, or the cascade tag and three, and then their check
  /// byte.
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

/// The UID of a Type A tag (ISO/IEC 14443-3, 6.5.4).
package struct TagUID: Sendable, Hashable, CustomStringConvertible {
  private enum Kind: Hashable {
    case fixed([UInt8])
    case random
  }
  private let kind: Kind

  /// Four bytes that start with 08 and change each time the field comes on, as on phones and on cards that protect
  /// their owner.
  package static let random = TagUID(kind: .random)

  /// A UID of 4, 7 or 10 bytes. Fails for any other number, and for four bytes that start with 88, which announces
  /// more.
  package static func fixed(_ bytes: [UInt8]) throws(SimulatorError) -> TagUID {
    guard [4, 7, 10].contains(bytes.count) else {
      throw SimulatorError("a UID has 4, 7 or 10 bytes, not \(bytes.count)")
    }
    guard bytes.count != 4 || bytes[0] != 0x88 else {
      throw SimulatorError("a UID of 4 bytes cannot begin with 88, the cascade tag")
    }
    return TagUID(kind: .fixed(bytes))
  }

  /// A generated UID of seven bytes, the first of them NXP's 04.
  package static func generated() -> TagUID {
    TagUID(kind: .fixed([0x04] + (0..<6).map { _ in UInt8.random(in: 0...0xFF) }))
  }

  /// A generated UID of a Topaz tag: seven bytes, the last of them Innovision's 25.
  package static func generatedTopaz() -> TagUID {
    TagUID(kind: .fixed((0..<4).map { _ in UInt8.random(in: 0...0xFF) } + [0x00, 0x00, 0x25]))
  }

  /// The bytes for one activation.
  func bytes() -> [UInt8] {
    switch kind {
    case .fixed(let bytes): bytes
    case .random: [0x08] + (0..<3).map { _ in UInt8.random(in: 0...0xFF) }
    }
  }

  /// The bytes, if they do not change; nil for a random UID.
  package var fixedBytes: [UInt8]? { if case .fixed(let bytes) = kind { bytes } else { nil } }

  /// Hexadecimal digits, or "random".
  package var description: String { fixedBytes.map(HexText.string) ?? "random" }
}
