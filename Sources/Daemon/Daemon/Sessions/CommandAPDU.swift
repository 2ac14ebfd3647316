/// A command of ISO/IEC 7816-4 (5.1), with short or extended length.
struct CommandAPDU: Hashable, Sendable {
  let cla: UInt8
  let ins: UInt8
  let p1: UInt8
  let p2: UInt8
  let data: [UInt8]

  /// Decodes a command. The result is nil if the length fields do not match the bytes.
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

  /// Whether it selects the master file (ISO/IEC 7816-4, 11.2.2).
  var selectsMasterFile: Bool { ins == 0xA4 && p1 == 0x00 && (data.isEmpty || data == [0x3F, 0x00]) }

  /// Whether it has secure messaging, in the first interindustry range (5.4.1).
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
