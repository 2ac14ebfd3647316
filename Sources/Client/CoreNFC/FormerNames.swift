// Names that iOS has replaced.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase

/// On iOS it is not deprecated.
public typealias RequestFlag = NFCISO15693RequestFlag

extension NFCISO15693RequestFlag {
  @available(*, deprecated, renamed: "NFCISO15693RequestFlag.dualSubCarriers")
  public static var RequestFlagDualSubCarriers: Self { .dualSubCarriers }
  @available(*, deprecated, renamed: "NFCISO15693RequestFlag.highDataRate")
  public static var RequestFlagHighDataRate: Self { .highDataRate }
  @available(*, deprecated, renamed: "NFCISO15693RequestFlag.protocolExtension")
  public static var RequestFlagProtocolExtension: Self { .protocolExtension }
  @available(*, deprecated, renamed: "NFCISO15693RequestFlag.select")
  public static var RequestFlagSelect: Self { .select }
  @available(*, deprecated, renamed: "NFCISO15693RequestFlag.address")
  public static var RequestFlagAddress: Self { .address }
  @available(*, deprecated, renamed: "NFCISO15693RequestFlag.option")
  public static var RequestFlagOption: Self { .option }
}

extension NFCISO15693Tag {
  @available(*, deprecated, renamed: "lockDSFID(requestFlags:completionHandler:)")
  @preconcurrency
  public func lockDFSID(
    requestFlags flags: NFCISO15693RequestFlag, completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) {
    lockDSFID(requestFlags: flags, completionHandler: completionHandler)
  }

  @available(*, deprecated, renamed: "lockDSFID(requestFlags:)")
  public func lockDFSID(requestFlags flags: NFCISO15693RequestFlag) async throws {
    try await lockDSFID(requestFlags: flags)
  }
}

@available(*, deprecated, renamed: "NFCFeliCaPollingRequestCode")
public typealias PollingRequestCode = NFCFeliCaPollingRequestCode

@available(*, deprecated, renamed: "NFCFeliCaPollingTimeSlot")
public typealias PollingTimeSlot = NFCFeliCaPollingTimeSlot

@available(*, deprecated, renamed: "NFCFeliCaEncryptionId")
public typealias EncryptionId = NFCFeliCaEncryptionId

extension NFCFeliCaPollingRequestCode {
  @available(*, deprecated, renamed: "NFCFeliCaPollingRequestCode.noRequest")
  public static var PollingRequestCodeNoRequest: Self { .noRequest }
  @available(*, deprecated, renamed: "NFCFeliCaPollingRequestCode.systemCode")
  public static var PollingRequestCodeSystemCode: Self { .systemCode }
  @available(*, deprecated, renamed: "NFCFeliCaPollingRequestCode.communicationPerformance")
  public static var PollingRequestCodeCommunicationPerformance: Self { .communicationPerformance }
}

extension NFCFeliCaPollingTimeSlot {
  @available(*, deprecated, renamed: "NFCFeliCaPollingTimeSlot.max1")
  public static var PollingTimeSlotMax1: Self { .max1 }
  @available(*, deprecated, renamed: "NFCFeliCaPollingTimeSlot.max2")
  public static var PollingTimeSlotMax2: Self { .max2 }
  @available(*, deprecated, renamed: "NFCFeliCaPollingTimeSlot.max4")
  public static var PollingTimeSlotMax4: Self { .max4 }
  @available(*, deprecated, renamed: "NFCFeliCaPollingTimeSlot.max8")
  public static var PollingTimeSlotMax8: Self { .max8 }
  @available(*, deprecated, renamed: "NFCFeliCaPollingTimeSlot.max16")
  public static var PollingTimeSlotMax16: Self { .max16 }
}

extension NFCFeliCaEncryptionId {
  @available(*, deprecated, renamed: "NFCFeliCaEncryptionId.AES")
  public static var aes: Self { .AES }
  @available(*, deprecated, renamed: "NFCFeliCaEncryptionId.AES_DES")
  public static var aes_des: Self { .AES_DES }
}

@available(*, deprecated, renamed: "NFCVASCommandConfiguration.Mode")
public typealias VASMode = NFCVASCommandConfiguration.Mode

extension NFCVASCommandConfiguration.Mode {
  @available(*, deprecated, renamed: "NFCVASCommandConfiguration.Mode.urlOnly")
  public static var VASModeURLOnly: Self { .urlOnly }
  @available(*, deprecated, renamed: "NFCVASCommandConfiguration.Mode.normal")
  public static var VASModeNormal: Self { .normal }
}

@available(*, deprecated, renamed: "NFCVASResponse.ErrorCode")
public typealias VASErrorCode = NFCVASResponse.ErrorCode

extension NFCVASResponse.ErrorCode {
  @available(*, deprecated, renamed: "NFCVASResponse.ErrorCode.success")
  public static var VASErrorCodeSuccess: Self { .success }
  @available(*, deprecated, renamed: "NFCVASResponse.ErrorCode.dataNotFound")
  public static var VASErrorCodeDataNotFound: Self { .dataNotFound }
  @available(*, deprecated, renamed: "NFCVASResponse.ErrorCode.dataNotActivated")
  public static var VASErrorCodeDataNotActivated: Self { .dataNotActivated }
  @available(*, deprecated, renamed: "NFCVASResponse.ErrorCode.wrongParameters")
  public static var VASErrorCodeWrongParameters: Self { .wrongParameters }
  @available(*, deprecated, renamed: "NFCVASResponse.ErrorCode.wrongLCField")
  public static var VASErrorCodeWrongLCField: Self { .wrongLCField }
  @available(*, deprecated, renamed: "NFCVASResponse.ErrorCode.userIntervention")
  public static var VASErrorCodeUserIntervention: Self { .userIntervention }
  @available(*, deprecated, renamed: "NFCVASResponse.ErrorCode.incorrectData")
  public static var VASErrorCodeIncorrectData: Self { .incorrectData }
  @available(*, deprecated, renamed: "NFCVASResponse.ErrorCode.unsupportedApplicationVersion")
  public static var VASErrorCodeUnsupportedApplicationVersion: Self { .unsupportedApplicationVersion }
}
