import CoreNFC

final class FakeFeliCaTag: FakeTag, NFCFeliCaTag {
  override var type: __NFCTagType { .feliCa }
  override func asNFCFeliCaTag() -> (any NFCFeliCaTag)? { self }

  let currentSystemCode = Data([0x00, 0x03])
  let currentIDm = Data(repeating: 1, count: 8)

  func polling(
    systemCode: Data, requestCode: NFCFeliCaPollingRequestCode, timeSlot: NFCFeliCaPollingTimeSlot,
    completionHandler: @escaping @Sendable (Data, Data, (any Error)?) -> Void
  ) {
    completionHandler(Data(repeating: 0xFF, count: 8), systemCode, nil)
  }
  func requestService(nodeCodeList: [Data], completionHandler: @escaping @Sendable ([Data], (any Error)?) -> Void) {
    completionHandler(nodeCodeList, nil)
  }
  func requestResponse(completionHandler: @escaping @Sendable (Int, (any Error)?) -> Void) {
    completionHandler(0, nil)
  }
  func readWithoutEncryption(
    serviceCodeList: [Data], blockList: [Data],
    completionHandler: @escaping @Sendable (Int, Int, [Data], (any Error)?) -> Void
  ) {
    completionHandler(0, 0, blockList, nil)
  }
  func writeWithoutEncryption(
    serviceCodeList: [Data], blockList: [Data], blockData: [Data],
    completionHandler: @escaping @Sendable (Int, Int, (any Error)?) -> Void
  ) {
    completionHandler(0x01, 0xA8, nil)
  }
  func requestSystemCode(completionHandler: @escaping @Sendable ([Data], (any Error)?) -> Void) {
    completionHandler([currentSystemCode], nil)
  }
  func requestServiceV2(
    nodeCodeList: [Data],
    completionHandler: @escaping @Sendable (Int, Int, NFCFeliCaEncryptionId, [Data], [Data], (any Error)?) -> Void
  ) {
    completionHandler(0, 0, .AES_DES, nodeCodeList, nodeCodeList, nil)
  }
  func requestSpecificationVersion(
    completionHandler: @escaping @Sendable (Int, Int, Data, Data, (any Error)?) -> Void
  ) {
    completionHandler(0, 0, Data([0, 0, 5]), Data(), nil)
  }
  func resetMode(completionHandler: @escaping @Sendable (Int, Int, (any Error)?) -> Void) {
    completionHandler(0, 0, nil)
  }
  func sendFeliCaCommand(commandPacket: Data, completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void) {
    completionHandler(commandPacket, nil)
  }
}
