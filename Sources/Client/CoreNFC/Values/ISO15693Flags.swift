/// The flags of a request (ISO/IEC 15693-3, 7.3.1; iOS 11).
public struct NFCISO15693RequestFlag: OptionSet, Sendable {
  /// The byte.
  public let rawValue: UInt8

  /// Makes flags.
  ///
  /// - Parameter rawValue: the byte.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The tag answers with two sub-carriers.
  public static let dualSubCarriers = NFCISO15693RequestFlag(rawValue: 0x01)
  /// The tag answers with the high data rate.
  public static let highDataRate = NFCISO15693RequestFlag(rawValue: 0x02)
  /// The protocol is extended.
  public static let protocolExtension = NFCISO15693RequestFlag(rawValue: 0x08)
  /// Only the selected tag answers.
  public static let select = NFCISO15693RequestFlag(rawValue: 0x10)
  /// Only the tag with the UID in the request answers.
  public static let address = NFCISO15693RequestFlag(rawValue: 0x20)
  /// The meaning depends on the command.
  public static let option = NFCISO15693RequestFlag(rawValue: 0x40)
  /// The meaning depends on the command (iOS 14).
  public static let commandSpecificBit8 = NFCISO15693RequestFlag(rawValue: 0x80)
}

/// The flags of an answer (ISO/IEC 15693-3, 7.4.1; iOS 14).
public struct NFCISO15693ResponseFlag: OptionSet, Sendable {
  /// The byte.
  public let rawValue: UInt8

  /// Makes flags.
  ///
  /// - Parameter rawValue: the byte.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The tag reports an error.
  public static let error = NFCISO15693ResponseFlag(rawValue: 0x01)
  /// The response buffer of the tag holds valid data.
  public static let responseBufferValid = NFCISO15693ResponseFlag(rawValue: 0x02)
  /// The answer is the last one.
  public static let finalResponse = NFCISO15693ResponseFlag(rawValue: 0x04)
  /// The protocol is extended.
  public static let protocolExtension = NFCISO15693ResponseFlag(rawValue: 0x08)
  /// Bit 5, part of a block's security status.
  public static let blockSecurityStatusBit5 = NFCISO15693ResponseFlag(rawValue: 0x10)
  /// Bit 6, part of a block's security status.
  public static let blockSecurityStatusBit6 = NFCISO15693ResponseFlag(rawValue: 0x20)
  /// The tag asks for more time.
  public static let waitTimeExtension = NFCISO15693ResponseFlag(rawValue: 0x40)
}

// MARK: Former names, until iOS 13

/// The former name of ``NFCISO15693RequestFlag``. On iOS it is not deprecated.
public typealias RequestFlag = NFCISO15693RequestFlag

// swift-format-ignore: AlwaysUseLowerCamelCase
extension NFCISO15693RequestFlag {
  /// The former name of ``dualSubCarriers``.
  @available(*, deprecated, renamed: "NFCISO15693RequestFlag.dualSubCarriers")
  public static var RequestFlagDualSubCarriers: NFCISO15693RequestFlag { .dualSubCarriers }
  /// The former name of ``highDataRate``.
  @available(*, deprecated, renamed: "NFCISO15693RequestFlag.highDataRate")
  public static var RequestFlagHighDataRate: NFCISO15693RequestFlag { .highDataRate }
  /// The former name of ``protocolExtension``.
  @available(*, deprecated, renamed: "NFCISO15693RequestFlag.protocolExtension")
  public static var RequestFlagProtocolExtension: NFCISO15693RequestFlag { .protocolExtension }
  /// The former name of ``select``.
  @available(*, deprecated, renamed: "NFCISO15693RequestFlag.select")
  public static var RequestFlagSelect: NFCISO15693RequestFlag { .select }
  /// The former name of ``address``.
  @available(*, deprecated, renamed: "NFCISO15693RequestFlag.address")
  public static var RequestFlagAddress: NFCISO15693RequestFlag { .address }
  /// The former name of ``option``.
  @available(*, deprecated, renamed: "NFCISO15693RequestFlag.option")
  public static var RequestFlagOption: NFCISO15693RequestFlag { .option }
}
