/// A command of ISO/IEC 7816-4 (5.1), with short or extended length.
struct CommandAPDU: Hashable, Sendable {
  let cla: UInt8
  let ins: UInt8
  let p1: UInt8
  let p2: UInt8
  let data: [UInt8]

  /// Nil if the length fields do not match the bytes.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= 4, bytes[0] != 0xFF else { return nil }
    (cla, ins, p1, p2) = (bytes[0], bytes[1], bytes[2], bytes[3])
    let body = Array(bytes[4...])
    switch body.count {
    // No data, with or without an expected length.
    case 0, 1:
      data = []
    case 3 where body[0] == 0:
      data = []
    default:
      let isExtended = body[0] == 0
      guard !isExtended || body.count > 3 else { return nil }
      let count = isExtended ? Int(body[1]) << 8 | Int(body[2]) : Int(body[0])
      let start = isExtended ? 3 : 1
      let expected = body.count - start - count
      guard count > 0, expected == 0 || expected == (isExtended ? 2 : 1) else { return nil }
      data = Array(body[start..<start + count])
    }
  }

  /// ISO/IEC 7816-4, 11.2.2.
  var selectsMasterFile: Bool { ins == 0xA4 && p1 == 0x00 && (data.isEmpty || data == [0x3F, 0x00]) }

  /// In the first interindustry range (5.4.1).
  var isSecured: Bool { cla & 0x80 == 0 && cla & 0x0C != 0 }

  /// Whether the answer to a command says that it was carried out: 90; 61, the answer has more bytes; 62, with a warning
  /// (5.6).
  static func isCarriedOut(_ answer: [UInt8]) -> Bool {
    guard let status = answer.dropLast().last else { return false }
    return [0x90, 0x61, 0x62].contains(status)
  }

  /// Whether this command continues in the next one (5.1.1; the bit is the same in both interindustry ranges).
  var isChained: Bool { cla & 0x90 == 0x10 }
}

/// Reads the answer to a SELECT (ISO/IEC 7816-4, 7.4.3).
enum FileControlInformation {
  /// Tag 84. `answer` has its status word; nil if it has no name.
  static func applicationName(in answer: [UInt8]) -> [UInt8]? {
    guard answer.count > 2 else { return nil }
    var bytes = answer.dropLast(2)
    while let (tag, value) = object(&bytes) {
      switch tag {
      // FCP, FMD and FCI templates.
      case 0x62, 0x64, 0x6F:
        var inner = value
        while let (tag, value) = object(&inner) {
          if tag == 0x84 { return Array(value) }
        }
      case 0x84: return Array(value)
      default: break
      }
    }
    return nil
  }

  /// The first data object (ISO/IEC 7816-4, 6.3); nil if it is incomplete.
  private static func object(_ bytes: inout ArraySlice<UInt8>) -> (tag: Int, value: ArraySlice<UInt8>)? {
    guard let first = bytes.popFirst() else { return nil }
    var tag = Int(first)
    if first & 0x1F == 0x1F {
      guard let second = bytes.popFirst(), second & 0x80 == 0 else { return nil }
      tag = tag << 8 | Int(second)
    }
    guard var length = bytes.popFirst().map({ Int($0) }) else { return nil }
    if length > 0x80 {
      let count = length - 0x80
      guard count <= 2, bytes.count >= count else { return nil }
      length = 0
      for _ in 0..<count { length = length << 8 | Int(bytes.removeFirst()) }
    } else if length == 0x80 {
      return nil
    }
    guard bytes.count >= length else { return nil }
    defer { bytes = bytes.dropFirst(length) }
    return (tag, bytes.prefix(length))
  }
}

/// PACE on the master file of a passport or an identity card (ICAO Doc 9303-11, 4.4, and BSI TR-03110-3, B.1): the card
/// wants it before an application can be selected.
enum MasterFile: Sendable, Hashable {
  /// A SELECT of the master file leads to `selected`.
  case left
  /// Only the commands of PACE are sent. Its last one leads to `authenticated`. The SELECT of a declared application
  /// by its name leads to `left`.
  case selected
  /// PACE is done. A SELECT by an encrypted name leads to `left`, too.
  case authenticated

  /// EF.CardAccess and EF.CardSecurity, which describe PACE, and EF.ATR/INFO, which limits the length of commands.
  static let files: [[UInt8]] = [[0x01, 0x1C], [0x01, 0x1D], [0x2F, 0x01]]
  private static let shortIdentifiers: [UInt8] = [0x1C, 0x1D, 0x01]

  /// Whether a command is one of PACE: READ BINARY of these files, MANAGE SECURITY ENVIRONMENT, GENERAL AUTHENTICATE or
  /// GET RESPONSE; or a SELECT, which the policy checks further.
  func allows(_ command: CommandAPDU) -> Bool {
    switch (self, command.ins) {
    case (.left, _): true
    case (_, 0xA4):
      command.p1 == 0x04 || command.selectsMasterFile || command.isSecured || Self.files.contains(command.data)
    case (_, 0xB0): command.p1 & 0x80 == 0 || Self.shortIdentifiers.contains(command.p1 & 0x1F)
    case (_, 0x22), (_, 0x86), (_, 0xC0): true
    default: false
    }
  }

  /// Whether a command is the SELECT of an application by its encrypted name (ISO/IEC 7816-4, 10.2): a cryptogram with
  /// tag 87 comes first. To a card that ignores the class, these bytes are a name that no application has.
  func allowsEncryptedName(of command: CommandAPDU) -> Bool {
    self == .authenticated && command.p1 == 0x04 && command.isSecured && command.data.first == 0x87
  }

  mutating func learn(_ answer: [UInt8], to command: CommandAPDU) {
    guard CommandAPDU.isCarriedOut(answer) else { return }
    switch command.ins {
    case 0xA4 where command.selectsMasterFile: self = .selected
    case 0xA4 where command.p1 == 0x04: self = .left
    // GENERAL AUTHENTICATE, the last of its chain.
    case 0x86 where !command.isChained && self == .selected: self = .authenticated
    default: break
    }
  }

  /// The card may have been selected again since PACE.
  mutating func doubt() { if self == .authenticated { self = .selected } }
}
