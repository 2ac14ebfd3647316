/// The command codes of the chip (UM0701-02, section 7). An answer's code is the command's plus one.
enum PN532Command: UInt8, Sendable {
  case diagnose = 0x00
  case getFirmwareVersion = 0x02
  case getGeneralStatus = 0x04
  case readRegister = 0x06
  case writeRegister = 0x08
  case readGPIO = 0x0C
  case writeGPIO = 0x0E
  case setSerialBaudRate = 0x10
  case setParameters = 0x12
  case samConfiguration = 0x14
  case powerDown = 0x16
  case rfConfiguration = 0x32
  case inDataExchange = 0x40
  case inCommunicateThru = 0x42
  case inDeselect = 0x44
  case inJumpForPSL = 0x46
  case inListPassiveTarget = 0x4A
  case inPSL = 0x4E
  case inATR = 0x50
  case inRelease = 0x52
  case inSelect = 0x54
  case inJumpForDEP = 0x56
  case rfRegulationTest = 0x58
  case inAutoPoll = 0x60
  case tgGetData = 0x86
  case tgGetInitiatorCommand = 0x88
  case tgGetTargetStatus = 0x8A
  case tgInitAsTarget = 0x8C
  case tgSetData = 0x8E
  case tgResponseToInitiator = 0x90
  case tgSetGeneralBytes = 0x92
  case tgSetMetaData = 0x94
}

/// The status byte of an answer (UM0701-02, section 7.1).
enum PN532Status {
  static let success: UInt8 = 0x00
  /// The tag did not answer.
  static let timeout: UInt8 = 0x01
  /// The tag's answer had a wrong CRC. The chip reports this for a 4-bit acknowledgement too.
  static let crcError: UInt8 = 0x02
  /// Two tags sent different answers at once.
  static let bitCollision: UInt8 = 0x06
  /// The answer violates the protocol on the air. This includes a MIFARE NAK.
  static let protocolError: UInt8 = 0x13
  /// MIFARE authentication failed.
  static let authenticationError: UInt8 = 0x14
  /// The chip's state does not allow the command, or the target number is unknown.
  static let wrongContext: UInt8 = 0x27
  /// A tag other than the intended one answered, or the tag is gone.
  static let targetGone: UInt8 = 0x29
  /// More data follows. Used in an answer's status byte and in a command's target number.
  static let moreInformation: UInt8 = 0x40
}

extension PN532Command {
  /// Whether the first byte of the answer is a status byte.
  var answersWithStatus: Bool {
    switch self {
    case .powerDown, .inDataExchange, .inCommunicateThru, .inDeselect, .inRelease, .inSelect, .inJumpForDEP,
      .inJumpForPSL, .inPSL, .inATR, .tgGetData, .tgGetInitiatorCommand, .tgSetData, .tgResponseToInitiator,
      .tgSetGeneralBytes, .tgSetMetaData:
      true
    default: false
    }
  }
}
