import CoreNFC

final class FakeISO15693Tag: FakeTag, NFCISO15693Tag {
  override var type: __NFCTagType { .ISO15693 }
  override func asNFCISO15693Tag() -> (any NFCISO15693Tag)? { self }

  let identifier = Data([0xE0, 0x04, 1, 2, 3, 4, 5, 6])
  let icManufacturerCode = 4
  let icSerialNumber = Data([1, 2, 3, 4, 5, 6])

  func readSingleBlock(
    requestFlags flags: NFCISO15693RequestFlag, blockNumber: UInt8,
    completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void
  ) { completionHandler(Data([blockNumber]), nil) }
  func writeSingleBlock(
    requestFlags flags: NFCISO15693RequestFlag, blockNumber: UInt8, dataBlock: Data,
    completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) { completionHandler(nil) }
  func lockBlock(
    requestFlags flags: NFCISO15693RequestFlag, blockNumber: UInt8,
    completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) { completionHandler(nil) }
  func readMultipleBlocks(
    requestFlags flags: NFCISO15693RequestFlag, blockRange: NSRange,
    completionHandler: @escaping @Sendable ([Data], (any Error)?) -> Void
  ) { completionHandler(Array(repeating: Data(count: 4), count: blockRange.length), nil) }
  func writeMultipleBlocks(
    requestFlags flags: NFCISO15693RequestFlag, blockRange: NSRange, dataBlocks: [Data],
    completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) { completionHandler(nil) }
  func getMultipleBlockSecurityStatus(
    requestFlags flags: NFCISO15693RequestFlag, blockRange: NSRange,
    completionHandler: @escaping @Sendable ([NSNumber], (any Error)?) -> Void
  ) { completionHandler([], nil) }
  func extendedReadSingleBlock(
    requestFlags flags: NFCISO15693RequestFlag, blockNumber: Int,
    completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void
  ) { completionHandler(Data(), nil) }
  func extendedWriteSingleBlock(
    requestFlags flags: NFCISO15693RequestFlag, blockNumber: Int, dataBlock: Data,
    completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) { completionHandler(nil) }
  func extendedLockBlock(
    requestFlags flags: NFCISO15693RequestFlag, blockNumber: Int,
    completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) { completionHandler(nil) }
  func extendedReadMultipleBlocks(
    requestFlags flags: NFCISO15693RequestFlag, blockRange: NSRange,
    completionHandler: @escaping @Sendable ([Data], (any Error)?) -> Void
  ) { completionHandler([], nil) }
  func stayQuiet(completionHandler: @escaping @Sendable ((any Error)?) -> Void) { completionHandler(nil) }
  func select(
    requestFlags flags: NFCISO15693RequestFlag, completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) { completionHandler(nil) }
  func resetToReady(
    requestFlags flags: NFCISO15693RequestFlag, completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) { completionHandler(nil) }
  func writeAFI(
    requestFlags flags: NFCISO15693RequestFlag, afi: UInt8,
    completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) { completionHandler(nil) }
  func lockAFI(
    requestFlags flags: NFCISO15693RequestFlag, completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) { completionHandler(nil) }
  func writeDSFID(
    requestFlags flags: NFCISO15693RequestFlag, dsfid: UInt8,
    completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) { completionHandler(nil) }
  func lockDSFID(
    requestFlags flags: NFCISO15693RequestFlag, completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) { completionHandler(nil) }
  func getSystemInfo(
    requestFlags flags: NFCISO15693RequestFlag,
    completionHandler: @escaping @Sendable (Int, Int, Int, Int, Int, (any Error)?) -> Void
  ) { completionHandler(1, 2, 4, 80, 0x44, nil) }
  func customCommand(
    requestFlags flags: NFCISO15693RequestFlag, customCommandCode: Int, customRequestParameters: Data,
    completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void
  ) { completionHandler(customRequestParameters, nil) }
}
