/// A command for the reader itself, of class FF (PC/SC part 3, section 3.2.2).
struct PseudoAPDU {
  static let instructionClass: UInt8 = 0xFF

  let instruction: UInt8
  let parameter1: UInt8
  let parameter2: UInt8
  let data: [UInt8]
  /// The most bytes that the client accepts. Nil if the command does not say, 0 for as many as there are.
  let expectedLength: Int?

  /// Nil if the length byte contradicts the length of the command.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= 4, bytes[0] == Self.instructionClass else { return nil }
    (instruction, parameter1, parameter2) = (bytes[1], bytes[2], bytes[3])
    switch bytes.count {
    case 4: (data, expectedLength) = ([], nil)
    case 5: (data, expectedLength) = ([], Int(bytes[4]))
    // The older form of an authentication: the kind of the key and its slot, without a length.
    case 6 where bytes[1] == 0x88: (data, expectedLength) = (Array(bytes[4...]), nil)
    default:
      let end = 5 + Int(bytes[4])
      guard bytes.count == end || bytes.count == end + 1 else { return nil }
      data = Array(bytes[5..<end])
      expectedLength = bytes.count > end ? Int(bytes[end]) : nil
    }
  }

  /// P1 and P2 as one number.
  var address: Int { Int(parameter1) << 8 | Int(parameter2) }
}

/// Status words that a reader answers pseudo-APDUs with (PC/SC part 3, section 3.2.2; ACS reference manuals).
enum StatusWord {
  static let success: [UInt8] = [0x90, 0x00]
  /// ACS's word for every failure.
  static let failure: [UInt8] = [0x63, 0x00]
  /// ACS: the chip does not answer.
  static let chipTimeout: [UInt8] = [0x63, 0x01]
  /// ACS: the chip does not know the command.
  static let chipRefusal: [UInt8] = [0x63, 0x7F]
  static let fewerBytes: [UInt8] = [0x62, 0x82]
  static let noAnswer: [UInt8] = [0x64, 0x01]
  static let wrongLength: [UInt8] = [0x67, 0x00]
  static let notAuthenticated: [UInt8] = [0x69, 0x82]
  static let authenticationFailed: [UInt8] = [0x69, 0x83]
  static let noSuchKey: [UInt8] = [0x69, 0x88]
  static let notSupported: [UInt8] = [0x6A, 0x81]
  static let noSuchBlock: [UInt8] = [0x6A, 0x82]
  static let wrongInstruction: [UInt8] = [0x6D, 0x00]
  static let wrongClass: [UInt8] = [0x6E, 0x00]

  static func rightLength(_ length: Int) -> [UInt8] { [0x6C, UInt8(truncatingIfNeeded: length)] }
}
