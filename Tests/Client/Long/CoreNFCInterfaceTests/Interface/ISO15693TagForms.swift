import CoreNFC

// Calls every method of NFCISO15693Tag in each of its forms.

private let flags: NFCISO15693RequestFlag = [.highDataRate, .address]
private var range: NSRange { NSRange(location: 0, length: 2) }
private let block = Data(count: 4)

func readISO15693Tag(_ tag: any NFCISO15693Tag) {
  let _: any NFCNDEFTag = tag
  let _: any __NFCTag = tag
  let _: Data = tag.identifier
  let _: Int = tag.icManufacturerCode
  let _: Data = tag.icSerialNumber
  tag.readSingleBlock(requestFlags: flags, blockNumber: UInt8(0)) { (data: Data, error: (any Error)?) in }
  tag.extendedReadSingleBlock(requestFlags: flags, blockNumber: Int(0)) { (data: Data, error: (any Error)?) in }
  tag.readMultipleBlocks(requestFlags: flags, blockRange: range) { (data: [Data], error: (any Error)?) in }
  tag.extendedReadMultipleBlocks(requestFlags: flags, blockRange: range) { (data: [Data], error: (any Error)?) in }
  tag.customCommand(requestFlags: flags, customCommandCode: 0xA0, customRequestParameters: Data()) {
    (data: Data, error: (any Error)?) in
  }
  tag.getMultipleBlockSecurityStatus(requestFlags: flags, blockRange: range) {
    (status: [NSNumber], error: (any Error)?) in
  }
}

/// The handlers of these methods get only an error.
func writeISO15693Tag(_ tag: any NFCISO15693Tag) {
  let done: @Sendable ((any Error)?) -> Void = { _ in }
  tag.writeSingleBlock(requestFlags: flags, blockNumber: UInt8(0), dataBlock: block, completionHandler: done)
  tag.extendedWriteSingleBlock(requestFlags: flags, blockNumber: Int(0), dataBlock: block, completionHandler: done)
  tag.writeMultipleBlocks(requestFlags: flags, blockRange: range, dataBlocks: [block, block], completionHandler: done)
  tag.extendedWriteMultipleBlocks(
    requestFlags: flags, blockRange: range, dataBlocks: [block, block], completionHandler: done)
  tag.lockBlock(requestFlags: flags, blockNumber: UInt8(0), completionHandler: done)
  tag.extendedLockBlock(requestFlags: flags, blockNumber: Int(0), completionHandler: done)
  tag.stayQuiet(completionHandler: done)
  tag.select(requestFlags: flags, completionHandler: done)
  tag.resetToReady(requestFlags: flags, completionHandler: done)
  tag.writeAFI(requestFlags: flags, afi: UInt8(1), completionHandler: done)
  tag.lockAFI(requestFlags: flags, completionHandler: done)
  tag.writeDSFID(requestFlags: flags, dsfid: UInt8(1), completionHandler: done)
  tag.lockDSFID(requestFlags: flags, completionHandler: done)
  tag.challenge(requestFlags: flags, cryptoSuiteIdentifier: 0, message: Data(), completionHandler: done)
  tag.stayQuiet { error in _ = error?.localizedDescription }
}

func useResultsOfISO15693Tag(_ tag: any NFCISO15693Tag) {
  typealias Response = Result<(NFCISO15693ResponseFlag, Data), any Error>
  tag.readSingleBlock(requestFlags: flags, blockNumber: UInt8(0)) { (result: Result<Data, any Error>) in }
  tag.extendedReadSingleBlock(requestFlags: flags, blockNumber: Int(0)) { (result: Result<Data, any Error>) in }
  tag.readMultipleBlocks(requestFlags: flags, blockRange: range) { (result: Result<[Data], any Error>) in }
  tag.fastReadMultipleBlocks(requestFlags: flags, blockRange: range) { (result: Result<[Data], any Error>) in }
  tag.extendedFastReadMultipleBlocks(requestFlags: flags, blockRange: range) { (result: Result<[Data], any Error>) in }
  tag.customCommand(requestFlags: flags, customCommandCode: 0xA0, customRequestParameters: Data()) {
    (result: Result<Data, any Error>) in
  }
  tag.getSystemInfo(requestFlags: flags) { (result: Result<NFCISO15693SystemInfo, any Error>) in }
  tag.extendedGetMultipleBlockSecurityStatus(requestFlags: flags, blockRange: range) {
    (result: Result<NFCISO15693MultipleBlockSecurityStatus, any Error>) in
  }
  tag.authenticate(requestFlags: flags, cryptoSuiteIdentifier: 0, message: Data()) { (result: Response) in }
  tag.keyUpdate(requestFlags: flags, keyIdentifier: 0, message: Data()) { (result: Response) in }
  tag.readBuffer(requestFlags: flags) { (result: Response) in }
  tag.sendRequest(requestFlags: Int(0x02), commandCode: 0x2B, data: nil) {
    (result: Result<(NFCISO15693ResponseFlag, Data?), any Error>) in
  }
}

func awaitISO15693Tag(_ tag: any NFCISO15693Tag) async throws {
  let _: Data = try await tag.readSingleBlock(requestFlags: flags, blockNumber: UInt8(0))
  let _: Data = try await tag.extendedReadSingleBlock(requestFlags: flags, blockNumber: Int(0))
  let _: [Data] = try await tag.readMultipleBlocks(requestFlags: flags, blockRange: range)
  let _: [Data] = try await tag.extendedReadMultipleBlocks(requestFlags: flags, blockRange: range)
  let _: [Data] = try await tag.fastReadMultipleBlocks(requestFlags: flags, blockRange: range)
  let _: [Data] = try await tag.extendedFastReadMultipleBlocks(requestFlags: flags, blockRange: range)
  let _: Data = try await tag.customCommand(
    requestFlags: flags, customCommandCode: 0xA0, customRequestParameters: Data())
  let _: [NSNumber] = try await tag.getMultipleBlockSecurityStatus(requestFlags: flags, blockRange: range)
  let _: NFCISO15693SystemInfo = try await tag.systemInfo(requestFlags: flags)
  let _: NFCISO15693MultipleBlockSecurityStatus = try await tag.extendedGetMultipleBlockSecurityStatus(
    requestFlags: flags, blockRange: range)
  let _: (NFCISO15693ResponseFlag, Data) = try await tag.authenticate(
    requestFlags: flags, cryptoSuiteIdentifier: 0, message: Data())
  let _: (NFCISO15693ResponseFlag, Data) = try await tag.keyUpdate(
    requestFlags: flags, keyIdentifier: 0, message: Data())
  let _: (NFCISO15693ResponseFlag, Data) = try await tag.readBuffer(requestFlags: flags)
  let _: (NFCISO15693ResponseFlag, Data?) = try await tag.sendRequest(
    requestFlags: Int(0x02), commandCode: 0x2B, data: nil)
  try await tag.writeSingleBlock(requestFlags: flags, blockNumber: UInt8(0), dataBlock: block)
  try await tag.extendedWriteSingleBlock(requestFlags: flags, blockNumber: Int(0), dataBlock: block)
  try await tag.writeMultipleBlocks(requestFlags: flags, blockRange: range, dataBlocks: [block, block])
  try await tag.extendedWriteMultipleBlocks(requestFlags: flags, blockRange: range, dataBlocks: [block, block])
  try await tag.lockBlock(requestFlags: flags, blockNumber: UInt8(0))
  try await tag.extendedLockBlock(requestFlags: flags, blockNumber: Int(0))
  try await tag.stayQuiet()
  try await tag.select(requestFlags: flags)
  try await tag.resetToReady(requestFlags: flags)
  try await tag.writeAFI(requestFlags: flags, afi: UInt8(1))
  try await tag.lockAFI(requestFlags: flags)
  try await tag.writeDSFID(requestFlags: flags, dsfid: UInt8(1))
  try await tag.lockDSFID(requestFlags: flags)
  try await tag.challenge(requestFlags: flags, cryptoSuiteIdentifier: 0, message: Data())
}
