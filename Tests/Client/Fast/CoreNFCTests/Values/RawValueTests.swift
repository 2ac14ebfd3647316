import CoreNFC
import Testing

@Suite struct RawValueTests {
  @Test func `enumerations have the raw values of iOS`() {
    let formats: [NFCTypeNameFormat] = [
      .empty, .nfcWellKnown, .media, .absoluteURI, .nfcExternal, .unknown, .unchanged,
    ]
    #expect(formats.map(\.rawValue) == [0, 1, 2, 3, 4, 5, 6] as [UInt8])
    #expect(NFCTypeNameFormat(rawValue: 7) == nil)
    let statuses: [NFCNDEFStatus] = [.notSupported, .readWrite, .readOnly]
    #expect(statuses.map(\.rawValue) == [1, 2, 3] as [UInt])
    let families: [NFCMiFareFamily] = [.unknown, .ultralight, .plus, .desfire]
    #expect(families.map(\.rawValue) == [1, 2, 3, 4] as [UInt])
    let types: [__NFCTagType] = [.ISO15693, .feliCa, .iso7816Compatible, .miFare]
    #expect(types.map(\.rawValue) == [1, 2, 3, 4] as [UInt])
    let codes: [NFCFeliCaPollingRequestCode] = [.noRequest, .systemCode, .communicationPerformance]
    #expect(codes.map(\.rawValue) == [0, 1, 2] as [Int])
    let slots: [NFCFeliCaPollingTimeSlot] = [.max1, .max2, .max4, .max8, .max16]
    #expect(slots.map(\.rawValue) == [0, 1, 3, 7, 15] as [Int])
    #expect([NFCFeliCaEncryptionId.AES, .AES_DES].map(\.rawValue) == [0x4F, 0x41] as [Int])
    #expect([NFCVASCommandConfiguration.Mode.urlOnly, .normal].map(\.rawValue) == [0, 1] as [Int])
    let words: [NFCVASResponse.ErrorCode] = [
      .success, .dataNotFound, .dataNotActivated, .wrongParameters, .wrongLCField, .userIntervention, .incorrectData,
      .unsupportedApplicationVersion,
    ]
    #expect(words.map(\.rawValue) == [0x9000, 0x6A83, 0x6287, 0x6B00, 0x6700, 0x6984, 0x6A80, 0x6340] as [Int])
  }

  @Test func `polling options have the bits of iOS`() {
    let options: [NFCTagReaderSession.PollingOption] = [.iso14443, .iso15693, .iso18092, .pace]
    #expect(options.map(\.rawValue) == [1, 2, 4, 8] as [Int])
  }

  @Test func `flags are the bits of ISO 15693`() {
    let request: [NFCISO15693RequestFlag] = [
      .dualSubCarriers, .highDataRate, .protocolExtension, .select, .address, .option, .commandSpecificBit8,
    ]
    #expect(request.map(\.rawValue) == [0x01, 0x02, 0x08, 0x10, 0x20, 0x40, 0x80] as [UInt8])
    let response: [NFCISO15693ResponseFlag] = [
      .error, .responseBufferValid, .finalResponse, .protocolExtension, .blockSecurityStatusBit5,
      .blockSecurityStatusBit6, .waitTimeExtension,
    ]
    #expect(response.map(\.rawValue) == [0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40] as [UInt8])
    let flags: RequestFlag = [.highDataRate, .address]
    #expect(flags.rawValue == 0x22)
  }

  @Test func `the former names, until iOS 13, mean the same values`() {
    let names: any FormerNames = DeprecatedNames()
    #expect(names.requestFlags == [.dualSubCarriers, .highDataRate, .protocolExtension, .select, .address, .option])
    #expect(names.requestCodes == [.noRequest, .systemCode, .communicationPerformance])
    #expect(names.timeSlots == [.max1, .max2, .max4, .max8, .max16])
    #expect(names.encryptions == [.AES, .AES_DES])
    #expect(names.modes == [.urlOnly, .normal])
    #expect(
      names.words == [
        .success, .dataNotFound, .dataNotActivated, .wrongParameters, .wrongLCField, .userIntervention,
        .incorrectData, .unsupportedApplicationVersion,
      ])
  }

  /// Deprecated members may use deprecated names without a warning, and a requirement is not deprecated.
  private protocol FormerNames {
    var requestFlags: [NFCISO15693RequestFlag] { get }
    var requestCodes: [NFCFeliCaPollingRequestCode] { get }
    var timeSlots: [NFCFeliCaPollingTimeSlot] { get }
    var encryptions: [NFCFeliCaEncryptionId] { get }
    var modes: [NFCVASCommandConfiguration.Mode] { get }
    var words: [NFCVASResponse.ErrorCode] { get }
  }

  private struct DeprecatedNames: FormerNames {
    @available(*, deprecated) var requestFlags: [NFCISO15693RequestFlag] {
      let flags: [RequestFlag] = [
        .RequestFlagDualSubCarriers, .RequestFlagHighDataRate, .RequestFlagProtocolExtension, .RequestFlagSelect,
        .RequestFlagAddress, .RequestFlagOption,
      ]
      return flags
    }

    @available(*, deprecated) var requestCodes: [NFCFeliCaPollingRequestCode] {
      let codes: [PollingRequestCode] = [
        .PollingRequestCodeNoRequest, .PollingRequestCodeSystemCode, .PollingRequestCodeCommunicationPerformance,
      ]
      return codes
    }

    @available(*, deprecated) var timeSlots: [NFCFeliCaPollingTimeSlot] {
      let slots: [PollingTimeSlot] = [
        .PollingTimeSlotMax1, .PollingTimeSlotMax2, .PollingTimeSlotMax4, .PollingTimeSlotMax8,
        .PollingTimeSlotMax16,
      ]
      return slots
    }

    @available(*, deprecated) var encryptions: [NFCFeliCaEncryptionId] {
      let encryptions: [EncryptionId] = [.aes, .aes_des]
      return encryptions
    }

    @available(*, deprecated) var modes: [NFCVASCommandConfiguration.Mode] {
      let modes: [VASMode] = [.VASModeURLOnly, .VASModeNormal]
      return modes
    }

    @available(*, deprecated) var words: [NFCVASResponse.ErrorCode] {
      let words: [VASErrorCode] = [
        .VASErrorCodeSuccess, .VASErrorCodeDataNotFound, .VASErrorCodeDataNotActivated, .VASErrorCodeWrongParameters,
        .VASErrorCodeWrongLCField, .VASErrorCodeUserIntervention, .VASErrorCodeIncorrectData,
        .VASErrorCodeUnsupportedApplicationVersion,
      ]
      return words
    }
  }
}
