import CoreNFC
import Foundation

/// The members of `NFCISO15693Tag` that have no default.
class ISO15693Requirements: MockTag {
  var type: __NFCTagType { .ISO15693 }
  var identifier: Data { Data([0xE0, 0x04, 1, 2, 3, 4, 5, 6]) }
  var icManufacturerCode: Int { 0x04 }
  var icSerialNumber: Data { identifier.dropFirst(2) }
  /// How many of the next reads and custom commands get no answer.
  var failures = 0

  private func acknowledge(_ name: String, _ completionHandler: @Sendable ((any Error)?) -> Void) {
    calls.append(name)
    completionHandler(error)
  }

  private var failure: (any Error)? {
    guard failures > 0 else { return error }
    failures -= 1
    return NFCReaderError(.readerTransceiveErrorTagResponseError)
  }

  func readSingleBlock(
    requestFlags flags: NFCISO15693RequestFlag, blockNumber: UInt8,
    completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void
  ) {
    completionHandler(Data([blockNumber]), error)
  }

  func writeSingleBlock(
    requestFlags flags: NFCISO15693RequestFlag, blockNumber: UInt8, dataBlock: Data,
    completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) {
    acknowledge("writeSingleBlock", completionHandler)
  }

  func lockBlock(
    requestFlags flags: NFCISO15693RequestFlag, blockNumber: UInt8,
    completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) {
    acknowledge("lockBlock", completionHandler)
  }

  func readMultipleBlocks(
    requestFlags flags: NFCISO15693RequestFlag, blockRange: NSRange,
    completionHandler: @escaping @Sendable ([Data], (any Error)?) -> Void
  ) {
    calls.append("read \(blockRange.location)+\(blockRange.length)")
    let numbers = blockRange.location..<blockRange.location + blockRange.length
    completionHandler(numbers.map { Data([UInt8(truncatingIfNeeded: $0)]) }, failure)
  }

  func writeMultipleBlocks(
    requestFlags flags: NFCISO15693RequestFlag, blockRange: NSRange, dataBlocks: [Data],
    completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) {
    acknowledge("writeMultipleBlocks", completionHandler)
  }

  func getMultipleBlockSecurityStatus(
    requestFlags flags: NFCISO15693RequestFlag, blockRange: NSRange,
    completionHandler: @escaping @Sendable ([NSNumber], (any Error)?) -> Void
  ) {
    completionHandler([NSNumber(value: 1)], error)
  }

  func extendedReadSingleBlock(
    requestFlags flags: NFCISO15693RequestFlag, blockNumber: Int,
    completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void
  ) {
    completionHandler(Data([UInt8(blockNumber >> 8)]), error)
  }

  func extendedWriteSingleBlock(
    requestFlags flags: NFCISO15693RequestFlag, blockNumber: Int, dataBlock: Data,
    completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) {
    acknowledge("extendedWriteSingleBlock", completionHandler)
  }

  func extendedLockBlock(
    requestFlags flags: NFCISO15693RequestFlag, blockNumber: Int,
    completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) {
    acknowledge("extendedLockBlock", completionHandler)
  }

  func extendedReadMultipleBlocks(
    requestFlags flags: NFCISO15693RequestFlag, blockRange: NSRange,
    completionHandler: @escaping @Sendable ([Data], (any Error)?) -> Void
  ) {
    completionHandler([Data([7])], error)
  }

  func stayQuiet(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    acknowledge("stayQuiet", completionHandler)
  }

  func select(
    requestFlags flags: NFCISO15693RequestFlag, completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) {
    acknowledge("select", completionHandler)
  }

  func resetToReady(
    requestFlags flags: NFCISO15693RequestFlag, completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) {
    acknowledge("resetToReady", completionHandler)
  }

  func writeAFI(
    requestFlags flags: NFCISO15693RequestFlag, afi: UInt8,
    completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) {
    acknowledge("writeAFI", completionHandler)
  }

  func lockAFI(
    requestFlags flags: NFCISO15693RequestFlag, completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) {
    acknowledge("lockAFI", completionHandler)
  }

  func writeDSFID(
    requestFlags flags: NFCISO15693RequestFlag, dsfid: UInt8,
    completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) {
    acknowledge("writeDSFID", completionHandler)
  }

  func lockDSFID(
    requestFlags flags: NFCISO15693RequestFlag, completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) {
    acknowledge("lockDSFID", completionHandler)
  }

  func getSystemInfo(
    requestFlags flags: NFCISO15693RequestFlag,
    completionHandler: @escaping @Sendable (Int, Int, Int, Int, Int, (any Error)?) -> Void
  ) {
    completionHandler(0, 1, 4, 28, 5, error)
  }

  func customCommand(
    requestFlags flags: NFCISO15693RequestFlag, customCommandCode: Int, customRequestParameters: Data,
    completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void
  ) {
    calls.append("custom")
    completionHandler(customRequestParameters, failure)
  }
}

/// Conforms with the requirements alone.
final class MockISO15693Tag: ISO15693Requirements, NFCISO15693Tag {}

/// Implements `sendRequest` too.
final class SendingISO15693Tag: ISO15693Requirements, NFCISO15693Tag {
  /// The requests so far: flags, command code, and the bytes after it.
  var requests: [[UInt8]] = []
  /// What the tag answers: the response flags and the bytes after them.
  var response: [UInt8] = [0]

  func asNFCISO15693Tag() -> (any NFCISO15693Tag)? { self }

  func sendRequest(
    requestFlags flags: Int, commandCode: Int, data: Data?,
    resultHandler: @escaping @Sendable (Result<(NFCISO15693ResponseFlag, Data?), any Error>) -> Void
  ) {
    requests.append([UInt8(flags), UInt8(commandCode)] + Array(data ?? Data()))
    let data = response.count > 1 ? Data(response.dropFirst()) : nil
    resultHandler(.success((NFCISO15693ResponseFlag(rawValue: response[0]), data)))
  }
}
