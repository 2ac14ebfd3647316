/// Answers to reset (ISO/IEC 7816-3, section 8), as a reader makes them up for contactless cards (PC/SC part 3, section
/// 3.1.3.2.3).
enum AnswerToReset {
  /// A storage card. `standard` and `name` are the bytes SS and NN of the supplement to part 3.
  static func storage(standard: UInt8, name: UInt16) -> [UInt8] {
    let application: [UInt8] = [0x80, 0x4F, 0x0C, 0xA0, 0x00, 0x00, 0x03, 0x06, standard] + BigEndian.bytes(name)
    return checked([0x3B, 0x8F, 0x80, 0x01] + application + [0, 0, 0, 0])
  }

  /// A card of ISO/IEC 14443-4 Type A, with the historical bytes of its answer to select.
  static func typeA(historicalBytes: [UInt8]) -> [UInt8] {
    let bytes = historicalBytes.prefix(15)
    return checked([0x3B, 0x80 | UInt8(truncatingIfNeeded: bytes.count), 0x80, 0x01] + bytes)
  }

  /// A card of ISO/IEC 14443-4 Type B. `attributeAnswer` is the first byte of its answer to ATTRIB, which holds MBLI.
  static func typeB(applicationData: [UInt8], protocolInfo: [UInt8], attributeAnswer: UInt8) -> [UInt8] {
    checked([0x3B, 0x88, 0x80, 0x01] + applicationData + protocolInfo + [attributeAnswer & 0xF0])
  }

  /// Appends the check byte TCK: the exclusive or of all bytes from T0 on.
  private static func checked(_ bytes: [UInt8]) -> [UInt8] { bytes + [bytes.dropFirst().reduce(0, ^)] }
}
