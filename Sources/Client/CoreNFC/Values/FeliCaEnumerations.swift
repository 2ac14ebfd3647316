/// What a FeliCa card adds to its answer to Polling (JIS X 6319-4; iOS 13).
public enum NFCFeliCaPollingRequestCode: Int, Sendable {
  /// Nothing.
  case noRequest = 0
  /// The system code.
  case systemCode = 1
  /// The bit rates that the card supports.
  case communicationPerformance = 2
}

/// The number of time slots in which FeliCa cards answer to Polling (JIS X 6319-4; iOS 13).
public enum NFCFeliCaPollingTimeSlot: Int, Sendable {
  /// One slot.
  case max1 = 0
  /// Two slots.
  case max2 = 1
  /// Four slots.
  case max4 = 3
  /// Eight slots.
  case max8 = 7
  /// Sixteen slots.
  case max16 = 15
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The encryption of a FeliCa system, in the answer to Request Service v2 (iOS 13).
public enum NFCFeliCaEncryptionId: Int, Sendable {
  /// AES.
  case AES = 0x4F
  /// AES and DES.
  case AES_DES = 0x41
}

// MARK: Former names, until iOS 13

/// The former name of ``NFCFeliCaPollingRequestCode``.
@available(*, deprecated, renamed: "NFCFeliCaPollingRequestCode")
public typealias PollingRequestCode = NFCFeliCaPollingRequestCode

/// The former name of ``NFCFeliCaPollingTimeSlot``.
@available(*, deprecated, renamed: "NFCFeliCaPollingTimeSlot")
public typealias PollingTimeSlot = NFCFeliCaPollingTimeSlot

/// The former name of ``NFCFeliCaEncryptionId``.
@available(*, deprecated, renamed: "NFCFeliCaEncryptionId")
public typealias EncryptionId = NFCFeliCaEncryptionId

// swift-format-ignore: AlwaysUseLowerCamelCase
extension NFCFeliCaPollingRequestCode {
  /// The former name of ``noRequest``.
  @available(*, deprecated, renamed: "NFCFeliCaPollingRequestCode.noRequest")
  public static var PollingRequestCodeNoRequest: NFCFeliCaPollingRequestCode { .noRequest }
  /// The former name of ``systemCode``.
  @available(*, deprecated, renamed: "NFCFeliCaPollingRequestCode.systemCode")
  public static var PollingRequestCodeSystemCode: NFCFeliCaPollingRequestCode { .systemCode }
  /// The former name of ``communicationPerformance``.
  @available(*, deprecated, renamed: "NFCFeliCaPollingRequestCode.communicationPerformance")
  public static var PollingRequestCodeCommunicationPerformance: NFCFeliCaPollingRequestCode {
    .communicationPerformance
  }
}

// swift-format-ignore: AlwaysUseLowerCamelCase
extension NFCFeliCaPollingTimeSlot {
  /// The former name of ``max1``.
  @available(*, deprecated, renamed: "NFCFeliCaPollingTimeSlot.max1")
  public static var PollingTimeSlotMax1: NFCFeliCaPollingTimeSlot { .max1 }
  /// The former name of ``max2``.
  @available(*, deprecated, renamed: "NFCFeliCaPollingTimeSlot.max2")
  public static var PollingTimeSlotMax2: NFCFeliCaPollingTimeSlot { .max2 }
  /// The former name of ``max4``.
  @available(*, deprecated, renamed: "NFCFeliCaPollingTimeSlot.max4")
  public static var PollingTimeSlotMax4: NFCFeliCaPollingTimeSlot { .max4 }
  /// The former name of ``max8``.
  @available(*, deprecated, renamed: "NFCFeliCaPollingTimeSlot.max8")
  public static var PollingTimeSlotMax8: NFCFeliCaPollingTimeSlot { .max8 }
  /// The former name of ``max16``.
  @available(*, deprecated, renamed: "NFCFeliCaPollingTimeSlot.max16")
  public static var PollingTimeSlotMax16: NFCFeliCaPollingTimeSlot { .max16 }
}

// swift-format-ignore: AlwaysUseLowerCamelCase
extension NFCFeliCaEncryptionId {
  /// The former name of ``AES``.
  @available(*, deprecated, renamed: "NFCFeliCaEncryptionId.AES")
  public static var aes: NFCFeliCaEncryptionId { .AES }
  /// The former name of ``AES_DES``.
  @available(*, deprecated, renamed: "NFCFeliCaEncryptionId.AES_DES")
  public static var aes_des: NFCFeliCaEncryptionId { .AES_DES }
}
