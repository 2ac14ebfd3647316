import CoreNFC

// Uses every member of the values that go into commands and come out of answers.

func useAPDU(_ data: Data) {
  let apdu = NFCISO7816APDU(
    instructionClass: 0x00, instructionCode: 0xB0, p1Parameter: 0, p2Parameter: 0, data: Data(),
    expectedResponseLength: 256)
  let _: NSObject = apdu
  let _: any NSCopying = apdu
  let _: NFCISO7816APDU? = NFCISO7816APDU(data: data)
  let _: KeyPath<NFCISO7816APDU, UInt8> = \.instructionClass
  let _: KeyPath<NFCISO7816APDU, UInt8> = \.instructionCode
  let _: KeyPath<NFCISO7816APDU, UInt8> = \.p1Parameter
  let _: KeyPath<NFCISO7816APDU, UInt8> = \.p2Parameter
  let _: KeyPath<NFCISO7816APDU, Data?> = \.data
  let _: KeyPath<NFCISO7816APDU, Int> = \.expectedResponseLength
  var response = NFCISO7816ResponseAPDU(statusWord1: 0x90, statusWord2: 0x00, paylaod: Data())
  let _: UInt8 = response.statusWord1
  let _: UInt8 = response.statusWord2
  let _: Data? = response.payload
  response = NFCISO7816ResponseAPDU(statusWord1: 0x6A, statusWord2: 0x82, paylaod: nil)
}

func useFeliCaAnswers() {
  let flags = NFCFeliCaStatusFlag(statusFlag1: 0, statusFlag2: 0)
  let _: (Int, Int) = (flags.statusFlag1, flags.statusFlag2)
  let poll = NFCFeliCaPollingResponse(manufactureParameter: Data(count: 8), requestData: nil)
  let _: (Data, Data?) = (poll.manufactureParameter, poll.requestData)
  let version = NFCFeliCaRequestSpecificationVersionResponse(
    statusFlag1: 0, statusFlag2: 0, basicVersion: Data(count: 3), optionVersion: nil)
  let _: (Int, Int, Data?, Data?) = (
    version.statusFlag1, version.statusFlag2, version.basicVersion, version.optionVersion
  )
  let services = NFCFeliCaRequsetServiceV2Response(
    statusFlag1: 0, statusFlag2: 0, encryptionIdentifier: .AES, nodeKeyVersionListAES: [], nodeKeyVersionListDES: nil)
  let _: (Int, Int, NFCFeliCaEncryptionId) = (services.statusFlag1, services.statusFlag2, services.encryptionIdentifier)
  let _: ([Data]?, [Data]?) = (services.nodeKeyVersionListAES, services.nodeKeyVersionListDES)
}

func useISO15693Answers(_ info: NFCISO15693SystemInfo, _ status: NFCISO15693MultipleBlockSecurityStatus) {
  let _: Data = info.uniqueIdentifier
  let _: (Int, Int) = (info.dataStorageFormatIdentifier, info.applicationFamilyIdentifier)
  let _: (Int, Int, Int) = (info.blockSize, info.totalBlocks, info.icReference)
  let _: [Int] = status.blockSecurityStatus
}

func useConfigurations() {
  let command = NFCISO15693CustomCommandConfiguration(
    manufacturerCode: 4, customCommandCode: 0xA0, requestParameters: nil)
  _ = NFCISO15693CustomCommandConfiguration(
    manufacturerCode: 4, customCommandCode: 0xA0, requestParameters: Data([1]), maximumRetries: 3, retryInterval: 0.1)
  let _: NFCTagCommandConfiguration = command
  let _: any NSCopying = command
  let _: ReferenceWritableKeyPath<NFCTagCommandConfiguration, Int> = \.maximumRetries
  let _: ReferenceWritableKeyPath<NFCTagCommandConfiguration, TimeInterval> = \.retryInterval
  let _: ReferenceWritableKeyPath<NFCISO15693CustomCommandConfiguration, Int> = \.manufacturerCode
  let _: ReferenceWritableKeyPath<NFCISO15693CustomCommandConfiguration, Int> = \.customCommandCode
  let _: ReferenceWritableKeyPath<NFCISO15693CustomCommandConfiguration, Data> = \.requestParameters
  let blocks = NFCISO15693ReadMultipleBlocksConfiguration(range: NSRange(location: 0, length: 8), chunkSize: 4)
  _ = NFCISO15693ReadMultipleBlocksConfiguration(
    range: NSRange(location: 0, length: 8), chunkSize: 4, maximumRetries: 3, retryInterval: 0.1)
  let _: NFCTagCommandConfiguration = blocks
  let _: ReferenceWritableKeyPath<NFCISO15693ReadMultipleBlocksConfiguration, NSRange> = \.range
  let _: ReferenceWritableKeyPath<NFCISO15693ReadMultipleBlocksConfiguration, Int> = \.chunkSize
}

func usePasses(_ response: NFCVASResponse, _ url: URL) {
  let pass = NFCVASCommandConfiguration(vasMode: .urlOnly, passTypeIdentifier: "pass.com.example", url: url)
  let _: any NSCopying = pass
  let _: ReferenceWritableKeyPath<NFCVASCommandConfiguration, NFCVASCommandConfiguration.Mode> = \.mode
  let _: ReferenceWritableKeyPath<NFCVASCommandConfiguration, String> = \.passTypeIdentifier
  let _: ReferenceWritableKeyPath<NFCVASCommandConfiguration, URL?> = \.url
  pass.mode = .normal
  pass.url = nil
  let _: any NSCopying = response
  let _: NFCVASResponse.ErrorCode = response.status
  let _: Data = response.vasData
  let _: Data = response.mobileToken
}
