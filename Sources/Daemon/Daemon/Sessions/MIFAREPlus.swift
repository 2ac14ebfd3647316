/// Native commands of MIFARE Plus in security level 3.
enum MIFAREPlus {
  /// With and without encryption and checksum.
  static let reads: Set<UInt8> = [0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37]

  /// ``reads``, authentications, writing, the operations on values, GetVersion with its continuation, the signature, the
  /// check of proximity, and virtual cards.
  static let codes: Set<UInt8> = reads.union([
    0x70, 0x72, 0x75, 0x76, 0x77, 0x78, 0xA0, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5, 0xA6, 0xA7, 0xB0, 0xB1, 0xB2, 0xB3, 0xB4,
    0xB5,
    0xB6, 0xB7, 0xB8, 0xB9, 0xC2, 0xC3, 0x60, 0xAF, 0x3C, 0xF0, 0xF2, 0xFD, 0x40, 0x41, 0x42, 0x44, 0x45, 0x46, 0x48,
  ])

  /// Whether a command is one of ``reads``: the number of a block in two bytes, and a count. A checksum may follow,
  /// unless the number could be the instruction of an APDU that writes (ISO/IEC 7816-4, 5.4.2).
  static func isRead(_ command: [UInt8]) -> Bool {
    guard let first = command.first, reads.contains(first), command.count >= 4 else { return false }
    return command.count == 4 || command[1] < 0xD0 && !(0x0C...0x0F).contains(command[1])
  }
}
