import Foundation
import TagrouteClient

/// A tag of ISO/IEC 15693.
///
/// On the bus, the UID of a Type 5 tag has eight bytes, the most significant byte, E0, first. `transceive` takes a
/// request as `ISO15693Exchanges` describes it, and returns the response.
///
/// The commands of iOS 14 that are not here are members of the protocol, and use `sendRequest`.
final class ISO15693Tag: DetectedTag, NFCISO15693Tag {
  var type: __NFCTagType { .ISO15693 }

  var identifier: Data { Data(tag.uid) }

  var icManufacturerCode: Int { tag.uid.count == 8 ? Int(tag.uid[1]) : 0 }

  var icSerialNumber: Data { tag.uid.count == 8 ? Data(tag.uid[2...]) : Data() }

  private var exchanges: ISO15693Exchanges { ISO15693Exchanges(identifier: identifier) }

  /// Runs a command without an answer of its own.
  private func startCommand(
    _ make: () throws -> TagExchange<Void>, _ completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) {
    start(make) { (result: Result<Void, any Error>) in completionHandler(result.errorOrNil) }
  }

  // MARK: Blocks

  func readSingleBlock(
    requestFlags flags: NFCISO15693RequestFlag, blockNumber: UInt8,
    completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void
  ) {
    start({ try exchanges.readBlock(flags, Int(blockNumber), .short) }, or: Data(), completionHandler)
  }

  func writeSingleBlock(
    requestFlags flags: NFCISO15693RequestFlag, blockNumber: UInt8, dataBlock: Data,
    completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) {
    startCommand({ try exchanges.writeBlock(flags, Int(blockNumber), dataBlock, .short) }, completionHandler)
  }

  func lockBlock(
    requestFlags flags: NFCISO15693RequestFlag, blockNumber: UInt8,
    completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) {
    startCommand({ try exchanges.lockBlock(flags, Int(blockNumber), .short) }, completionHandler)
  }

  func readMultipleBlocks(
    requestFlags flags: NFCISO15693RequestFlag, blockRange: NSRange,
    completionHandler: @escaping @Sendable ([Data], (any Error)?) -> Void
  ) {
    start({ try exchanges.readBlocks(flags, blockRange, .short) }, or: [], completionHandler)
  }

  func writeMultipleBlocks(
    requestFlags flags: NFCISO15693RequestFlag, blockRange: NSRange, dataBlocks: [Data],
    completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) {
    startCommand({ try exchanges.writeBlocks(flags, blockRange, dataBlocks, .short) }, completionHandler)
  }

  func getMultipleBlockSecurityStatus(
    requestFlags flags: NFCISO15693RequestFlag, blockRange: NSRange,
    completionHandler: @escaping @Sendable ([NSNumber], (any Error)?) -> Void
  ) {
    start({ try exchanges.securityStatus(flags, blockRange, .short) }, or: []) { status, error in
      completionHandler(status.map { NSNumber(value: $0) }, error)
    }
  }

  // MARK: Blocks with numbers of two bytes

  func extendedReadSingleBlock(
    requestFlags flags: NFCISO15693RequestFlag, blockNumber: Int,
    completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void
  ) {
    start({ try exchanges.readBlock(flags, blockNumber, .extended) }, or: Data(), completionHandler)
  }

  func extendedWriteSingleBlock(
    requestFlags flags: NFCISO15693RequestFlag, blockNumber: Int, dataBlock: Data,
    completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) {
    startCommand({ try exchanges.writeBlock(flags, blockNumber, dataBlock, .extended) }, completionHandler)
  }

  func extendedLockBlock(
    requestFlags flags: NFCISO15693RequestFlag, blockNumber: Int,
    completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) {
    startCommand({ try exchanges.lockBlock(flags, blockNumber, .extended) }, completionHandler)
  }

  func extendedReadMultipleBlocks(
    requestFlags flags: NFCISO15693RequestFlag, blockRange: NSRange,
    completionHandler: @escaping @Sendable ([Data], (any Error)?) -> Void
  ) {
    start({ try exchanges.readBlocks(flags, blockRange, .extended) }, or: [], completionHandler)
  }

  // MARK: The whole tag

  /// Not sent: the reader would take a tag that does not answer for one that was removed.
  func stayQuiet(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    refuse(.readerErrorUnsupportedFeature) { (result: Result<Void, any Error>) in
      completionHandler(result.errorOrNil)
    }
  }

  func select(
    requestFlags flags: NFCISO15693RequestFlag, completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) {
    startCommand({ try exchanges.select(flags) }, completionHandler)
  }

  func resetToReady(
    requestFlags flags: NFCISO15693RequestFlag, completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) {
    startCommand({ try exchanges.command(flags, 0x26) }, completionHandler)
  }

  func writeAFI(
    requestFlags flags: NFCISO15693RequestFlag, afi: UInt8,
    completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) {
    startCommand({ try exchanges.command(flags, 0x27, [afi]) }, completionHandler)
  }

  func lockAFI(
    requestFlags flags: NFCISO15693RequestFlag, completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) {
    startCommand({ try exchanges.command(flags, 0x28) }, completionHandler)
  }

  func writeDSFID(
    requestFlags flags: NFCISO15693RequestFlag, dsfid: UInt8,
    completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) {
    startCommand({ try exchanges.command(flags, 0x29, [dsfid]) }, completionHandler)
  }

  func lockDSFID(
    requestFlags flags: NFCISO15693RequestFlag, completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) {
    startCommand({ try exchanges.command(flags, 0x2A) }, completionHandler)
  }

  func getSystemInfo(
    requestFlags flags: NFCISO15693RequestFlag,
    completionHandler: @escaping @Sendable (Int, Int, Int, Int, Int, (any Error)?) -> Void
  ) {
    start({ try exchanges.systemInfo(flags) }) { (result: Result<NFCISO15693SystemInfo, any Error>) in
      switch result {
      case .success(let info):
        completionHandler(
          info.dataStorageFormatIdentifier, info.applicationFamilyIdentifier, info.blockSize, info.totalBlocks,
          info.icReference, nil)
      case .failure(let error): completionHandler(-1, -1, -1, -1, -1, error)
      }
    }
  }

  func getSystemInfo(
    requestFlags flags: NFCISO15693RequestFlag,
    resultHandler: @escaping @Sendable (Result<NFCISO15693SystemInfo, any Error>) -> Void
  ) {
    start({ try exchanges.systemInfo(flags) }, resultHandler)
  }

  func customCommand(
    requestFlags flags: NFCISO15693RequestFlag, customCommandCode: Int, customRequestParameters: Data,
    completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void
  ) {
    let (exchanges, manufacturer) = (self.exchanges, icManufacturerCode)
    start(
      { try exchanges.custom(flags, customCommandCode, manufacturer: manufacturer, customRequestParameters) },
      or: Data(), completionHandler)
  }

  func sendRequest(
    requestFlags flags: Int, commandCode: Int, data: Data?,
    resultHandler: @escaping @Sendable (Result<(NFCISO15693ResponseFlag, Data?), any Error>) -> Void
  ) {
    start({ try ISO15693Exchanges.request(flags: flags, code: commandCode, data: data) }, resultHandler)
  }
}
