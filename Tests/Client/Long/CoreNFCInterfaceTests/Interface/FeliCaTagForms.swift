import CoreNFC

// Calls every method of NFCFeliCaTag in each of its forms.

private let nodes = [Data([0x0F, 0x09])]
private let blocks = [Data([0x80, 0x00])]

func useFeliCaTag(_ tag: any NFCFeliCaTag) {
  let _: any NFCNDEFTag = tag
  let _: any __NFCTag = tag
  let _: Data = tag.currentSystemCode
  let _: Data = tag.currentIDm
  tag.polling(systemCode: Data([0x00, 0x03]), requestCode: .noRequest, timeSlot: .max1) {
    (parameters: Data, request: Data, error: (any Error)?) in
  }
  tag.requestService(nodeCodeList: nodes) { (versions: [Data], error: (any Error)?) in }
  tag.requestResponse { (mode: Int, error: (any Error)?) in }
  tag.readWithoutEncryption(serviceCodeList: nodes, blockList: blocks) {
    (flag1: Int, flag2: Int, data: [Data], error: (any Error)?) in
  }
  tag.writeWithoutEncryption(serviceCodeList: nodes, blockList: blocks, blockData: [Data(count: 16)]) {
    (flag1: Int, flag2: Int, error: (any Error)?) in
  }
  tag.requestSystemCode { (codes: [Data], error: (any Error)?) in }
  tag.requestServiceV2(nodeCodeList: nodes) {
    (flag1: Int, flag2: Int, encryption: NFCFeliCaEncryptionId, aes: [Data], des: [Data], error: (any Error)?) in
  }
  tag.requestSpecificationVersion { (flag1: Int, flag2: Int, basic: Data, option: Data, error: (any Error)?) in }
  tag.resetMode { (flag1: Int, flag2: Int, error: (any Error)?) in }
  tag.sendFeliCaCommand(commandPacket: Data([0x04])) { (answer: Data, error: (any Error)?) in }
}

func useResultsOfFeliCaTag(_ tag: any NFCFeliCaTag) {
  tag.polling(systemCode: Data([0x00, 0x03]), requestCode: .systemCode, timeSlot: .max16) {
    (result: Result<NFCFeliCaPollingResponse, any Error>) in
  }
  tag.requestService(nodeCodeList: nodes) { (result: Result<[Data], any Error>) in }
  tag.requestResponse { (result: Result<Int, any Error>) in }
  tag.readWithoutEncryption(serviceCodeList: nodes, blockList: blocks) {
    (result: Result<(NFCFeliCaStatusFlag, [Data]), any Error>) in
  }
  tag.writeWithoutEncryption(serviceCodeList: nodes, blockList: blocks, blockData: [Data(count: 16)]) {
    (result: Result<NFCFeliCaStatusFlag, any Error>) in
  }
  tag.requestSystemCode { (result: Result<[Data], any Error>) in }
  tag.requestServiceV2(nodeCodeList: nodes) { (result: Result<NFCFeliCaRequsetServiceV2Response, any Error>) in }
  tag.requestSpecificationVersion { (result: Result<NFCFeliCaRequestSpecificationVersionResponse, any Error>) in }
  tag.resetMode { (result: Result<NFCFeliCaStatusFlag, any Error>) in }
  tag.sendFeliCaCommand(commandPacket: Data([0x04])) { (result: Result<Data, any Error>) in }
  // Without types, as samples write it.
  tag.readWithoutEncryption(
    serviceCodeList: nodes, blockList: blocks,
    resultHandler: { result in
      switch result {
      case .success(let (flags, data)): _ = (flags.statusFlag1, data.count)
      case .failure(let error): _ = error.localizedDescription
      }
    })
}

func awaitFeliCaTag(_ tag: any NFCFeliCaTag) async throws {
  let _: (Data, Data) = try await tag.polling(
    systemCode: Data([0x00, 0x03]), requestCode: .communicationPerformance, timeSlot: .max4)
  let _: [Data] = try await tag.requestService(nodeCodeList: nodes)
  let _: Int = try await tag.requestResponse()
  let _: (Int, Int, [Data]) = try await tag.readWithoutEncryption(serviceCodeList: nodes, blockList: blocks)
  let _: (Int, Int) = try await tag.writeWithoutEncryption(
    serviceCodeList: nodes, blockList: blocks, blockData: [Data(count: 16)])
  let _: [Data] = try await tag.requestSystemCode()
  let _: (Int, Int, NFCFeliCaEncryptionId, [Data], [Data]) = try await tag.requestServiceV2(nodeCodeList: nodes)
  let _: (Int, Int, Data, Data) = try await tag.requestSpecificationVersion()
  let _: (Int, Int) = try await tag.resetMode()
  let _: Data = try await tag.sendFeliCaCommand(commandPacket: Data([0x04]))
}
