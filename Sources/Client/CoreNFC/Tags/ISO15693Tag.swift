import Foundation
import TagrouteClient

/// A tag of ISO/IEC 15693.
///
/// On the bus, the UID of a Type 5 tag has eight bytes, the most significant byte, E0, first. `transceive` takes a
/// request as `ISO15693Exchanges` describes it, and returns the response.
///
/// The commands of iOS 14 that are not here are members of the protocol, and use `sendRequest`.
final class ISO15693Tag: DetectedTag, NFCISO15693Tag {
  typealias Flags = NFCISO15693RequestFlag

  var type: __NFCTagType { .ISO15693 }

  var identifier: Data { Data(tag.uid) }

  var icManufacturerCode: Int { tag.uid.count == 8 ? Int(tag.uid[1]) : 0 }

  var icSerialNumber: Data { tag.uid.count == 8 ? Data(tag.uid[2...]) : Data() }

  private func short(_ flags: Flags) -> ISO15693Exchanges { ISO15693Exchanges(identifier, flags) }

  private func extended(_ flags: Flags) -> ISO15693Exchanges {
    ISO15693Exchanges(identifier, flags, isExtended: true)
  }

  // MARK: Blocks

  func readSingleBlock(requestFlags flags: Flags, blockNumber: UInt8, completionHandler: @escaping Handler<Data>) {
    start({ try short(flags).readBlock(Int(blockNumber)) }, or: Data(), completionHandler)
  }

  func writeSingleBlock(
    requestFlags flags: Flags, blockNumber: UInt8, dataBlock: Data, completionHandler: @escaping Handler<>
  ) {
    start({ try short(flags).writeBlock(Int(blockNumber), dataBlock) }, completionHandler)
  }

  func lockBlock(requestFlags flags: Flags, blockNumber: UInt8, completionHandler: @escaping Handler<>) {
    start({ try short(flags).lockBlock(Int(blockNumber)) }, completionHandler)
  }

  func readMultipleBlocks(
    requestFlags flags: Flags, blockRange: NSRange, completionHandler: @escaping Handler<[Data]>
  ) {
    start({ try short(flags).readBlocks(blockRange) }, or: [], completionHandler)
  }

  func writeMultipleBlocks(
    requestFlags flags: Flags, blockRange: NSRange, dataBlocks: [Data], completionHandler: @escaping Handler<>
  ) {
    start({ try short(flags).writeBlocks(blockRange, dataBlocks) }, completionHandler)
  }

  func getMultipleBlockSecurityStatus(
    requestFlags flags: Flags, blockRange: NSRange, completionHandler: @escaping Handler<[NSNumber]>
  ) {
    start({ try short(flags).securityStatus(blockRange) }, or: []) { status, error in
      completionHandler(status.map { NSNumber(value: $0) }, error)
    }
  }

  // MARK: Blocks with numbers of two bytes

  func extendedReadSingleBlock(
    requestFlags flags: Flags, blockNumber: Int, completionHandler: @escaping Handler<Data>
  ) {
    start({ try extended(flags).readBlock(blockNumber) }, or: Data(), completionHandler)
  }

  func extendedWriteSingleBlock(
    requestFlags flags: Flags, blockNumber: Int, dataBlock: Data, completionHandler: @escaping Handler<>
  ) {
    start({ try extended(flags).writeBlock(blockNumber, dataBlock) }, completionHandler)
  }

  func extendedLockBlock(requestFlags flags: Flags, blockNumber: Int, completionHandler: @escaping Handler<>) {
    start({ try extended(flags).lockBlock(blockNumber) }, completionHandler)
  }

  func extendedReadMultipleBlocks(
    requestFlags flags: Flags, blockRange: NSRange, completionHandler: @escaping Handler<[Data]>
  ) {
    start({ try extended(flags).readBlocks(blockRange) }, or: [], completionHandler)
  }

  // MARK: The whole tag

  /// Not sent: the reader would take a tag that does not answer for one that was removed.
  func stayQuiet(completionHandler: @escaping Handler<>) {
    start({ throw NFCReaderError(.readerErrorUnsupportedFeature) }, completionHandler)
  }

  func select(requestFlags flags: Flags, completionHandler: @escaping Handler<>) {
    start({ try short(flags).select() }, completionHandler)
  }

  func resetToReady(requestFlags flags: Flags, completionHandler: @escaping Handler<>) {
    start({ try short(flags).resetToReady() }, completionHandler)
  }

  func writeAFI(requestFlags flags: Flags, afi: UInt8, completionHandler: @escaping Handler<>) {
    start({ try short(flags).writeAFI(afi) }, completionHandler)
  }

  func lockAFI(requestFlags flags: Flags, completionHandler: @escaping Handler<>) {
    start({ try short(flags).lockAFI() }, completionHandler)
  }

  func writeDSFID(requestFlags flags: Flags, dsfid: UInt8, completionHandler: @escaping Handler<>) {
    start({ try short(flags).writeDSFID(dsfid) }, completionHandler)
  }

  func lockDSFID(requestFlags flags: Flags, completionHandler: @escaping Handler<>) {
    start({ try short(flags).lockDSFID() }, completionHandler)
  }

  func getSystemInfo(requestFlags flags: Flags, completionHandler: @escaping Handler<Int, Int, Int, Int, Int>) {
    getSystemInfo(requestFlags: flags) { result in
      switch result {
      case .success(let info):
        completionHandler(
          info.dataStorageFormatIdentifier, info.applicationFamilyIdentifier, info.blockSize, info.totalBlocks,
          info.icReference, nil)
      case .failure(let error): completionHandler(-1, -1, -1, -1, -1, error)
      }
    }
  }

  func getSystemInfo(requestFlags flags: Flags, resultHandler: @escaping ResultHandler<NFCISO15693SystemInfo>) {
    start({ try short(flags).systemInfo() }, resultHandler)
  }

  func customCommand(
    requestFlags flags: Flags, customCommandCode: Int, customRequestParameters: Data,
    completionHandler: @escaping Handler<Data>
  ) {
    start(
      { try short(flags).custom(customCommandCode, manufacturer: icManufacturerCode, customRequestParameters) },
      or: Data(), completionHandler)
  }

  func sendRequest(
    requestFlags flags: Int, commandCode: Int, data: Data?,
    resultHandler: @escaping ResultHandler<(NFCISO15693ResponseFlag, Data?)>
  ) {
    start({ try ISO15693Exchanges.request(flags: flags, code: commandCode, data: data) }, resultHandler)
  }
}
