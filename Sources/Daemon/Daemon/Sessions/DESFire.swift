/// Native commands of MIFARE DESFire. They may also be wrapped in APDUs of the class 90.
enum DESFire {
  static let wrapping: UInt8 = 0x90
  static let additionalFrame: UInt8 = 0xAF
  static let selectApplication: UInt8 = 0x5A
  /// In its wrapped form.
  static let getVersion: [UInt8] = [0x90, 0x60, 0x00, 0x00, 0x00]
  /// SelectApplication, GetVersion, GetApplicationIDs, GetDFNames, GetFileIDs, GetISOFileIDs, GetFileSettings,
  /// ReadData, ReadRecords, GetValue, GetKeySettings, GetKeyVersion, FreeMem, AdditionalFrame.
  static let reads: Set<UInt8> = [
    selectApplication, 0x60, 0x6A, 0x6D, 0x6F, 0x61, 0xF5, 0xBD, 0xBB, 0x6C, 0x45, 0x64, 0x6E, 0xAF,
  ]

  /// ``reads``, and the commands that change the card or begin an authentication.
  static let codes: Set<UInt8> = reads.union([
    0x0A, 0x1A, 0xAA, 0x70, 0x71, 0x77, 0xC4, 0xC6, 0x54, 0x55, 0x56, 0x57, 0x5C, 0xCA, 0xC9, 0xDA, 0xFC, 0x51, 0x5F,
    0xCD, 0xCB, 0xCC, 0xC1, 0xC0, 0xCE, 0xDF, 0x3D, 0x8D, 0xAD, 0x3B, 0x8B, 0xAB, 0xDB, 0xBA, 0x0C, 0x1C, 0xDC, 0xEB,
    0xC7,
    0xA7, 0xC8, 0x3C, 0xF0, 0xF2, 0xFD,
  ])

  /// The bytes of an authentication are random.
  static func isAuthentication(_ command: [UInt8]) -> Bool {
    command.first == additionalFrame && [17, 33].contains(command.count)
  }

  /// In its own form. Files have the numbers 00 to 1F.
  static func isRead(_ command: [UInt8]) -> Bool {
    guard let first = command.first, reads.contains(first) else { return false }
    switch first {
    case selectApplication: return command.count == 4
    case 0xF5, 0x6C, 0x64: return command.count == 2
    // No file is so long that its offset makes an APDU of the command.
    case 0xBD, 0xBB: return command.count == 8 && command[1] <= 0x1F && CommandAPDU(command) == nil
    default: return command.count == 1
    }
  }
}
