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
    _ = (parameters, request, error)
  }
  tag.requestService(nodeCodeList: nodes) { (versions: [Data], error: (any Error)?) in _ = (versions, error) }
  tag.requestResponse { (mode: Int, error: (any Error)?) in _ = (mode, error) }
  tag.readWithoutEncryption(serviceCodeList: nodes, blockList: blocks) {
    (flag1: Int, flag2: Int, data: [Data], error: (any Error)?) in
    _ = (flag1, flag2, data, error)
  }
  tag.writeWithoutEncryption(serviceCodeList: nodes, blockList: blocks, blockData: [Data(count: 16)]) {
    (flag1: Int, flag2: Int, error: (any Error)?) in
    _ = (flag1, flag2, error)
  }
  tag.requestSystemCode { (codes: [Data], error: (any Error)?) in _ = (codes, error) }
  tag.requestServiceV2(nodeCodeList: nodes) {
    (flag1: Int, flag2: Int, encryption: NFCFeliCaEncryptionId, aes: [Data], des: [Data], error: (any Error)?) in
    _ = (flag1, flag2, encryption, aes, des, error)
  }
  tag.requestSpecificationVersion { (flag1: Int, flag2: Int, basic: Data, option: Data, error: (any Error)?) in
    _ = (flag1, flag2, basic, option, error)
  }
  tag.resetMode { (flag1: Int, flag2: Int, error: (any Error)?) in _ = (flag1, flag2, error) }
  tag.sendFeliCaCommand(commandPacket: Data([0x04])) { (answer: Data, error: (any Error)?) in _ = (answer, error) }
}

func useResultsOfFeliCaTag(_ tag: any NFCFeliCaTag) {
  tag.polling(systemCode: Data([0x00, 0x03]), requestCode: .systemCode, timeSlot: .max16) {
    (result: Result<NFCFeliCaPollingResponse, any Error>) in
    _ = result
  }
  tag.requestService(nodeCodeList: nodes) { (result: Result<[Data], any Error>) in _ = result }
  tag.requestResponse { (result: Result<Int, any Error>) in _ = result }
  tag.readWithoutEncryption(serviceCodeList: nodes, blockList: blocks) {
    (result: Result<(NFCFeliCaStatusFlag, [Data]), any Error>) in
    _ = result
  }
  tag.writeWithoutEncryption(serviceCodeList: nodes, blockList: blocks, blockData: [Data(count: 16)]) {
    (result: Result<NFCFeliCaStatusFlag, any Error>) in
    _ = result
  }
  tag.requestSystemCode { (result: Result<[Data], any Error>) in _ = result }
  tag.requestServiceV2(nodeCodeList: nodes) { (result: Result<NFCFeliCaRequsetServiceV2Response, any Error>) in
    _ = result
  }
  tag.requestSpecificationVersion { (result: Result<NFCFeliCaRequestSpecificationVersionResponse, any Error>) in
    _ = result
  }
  tag.resetMode { (result: Result<NFCFeliCaStatusFlag, any Error>) in _ = result }
  tag.sendFeliCaCommand(commandPacket: Data([0x04])) { (result: Result<Data, any Error>) in _ = result }
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
