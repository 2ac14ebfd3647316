public import Foundation

/// The forms with a result of calls that also have a completion handler (iOS 14).
extension NFCISO15693Tag {
  /// Reads a block (20).
  @preconcurrency
  public func readSingleBlock(
    requestFlags flags: NFCISO15693RequestFlag, blockNumber: UInt8,
    resultHandler: @escaping @Sendable (Result<Data, any Error>) -> Void
  ) {
    readSingleBlock(
      requestFlags: flags, blockNumber: blockNumber, completionHandler: { resultHandler(outcome($1, $0)) })
  }

  /// Reads 1 to 256 blocks (23).
  @preconcurrency
  public func readMultipleBlocks(
    requestFlags flags: NFCISO15693RequestFlag, blockRange: NSRange,
    resultHandler: @escaping @Sendable (Result<[Data], any Error>) -> Void
  ) {
    readMultipleBlocks(
      requestFlags: flags, blockRange: blockRange, completionHandler: { resultHandler(outcome($1, $0)) })
  }

  /// Reads a block with a number of 0 to 65535 (30).
  @preconcurrency
  public func extendedReadSingleBlock(
    requestFlags flags: NFCISO15693RequestFlag, blockNumber: Int,
    resultHandler: @escaping @Sendable (Result<Data, any Error>) -> Void
  ) {
    extendedReadSingleBlock(
      requestFlags: flags, blockNumber: blockNumber, completionHandler: { resultHandler(outcome($1, $0)) })
  }

  /// Sends a command of the IC's manufacturer.
  @preconcurrency
  public func customCommand(
    requestFlags flags: NFCISO15693RequestFlag, customCommandCode: Int, customRequestParameters: Data,
    resultHandler: @escaping @Sendable (Result<Data, any Error>) -> Void
  ) {
    customCommand(
      requestFlags: flags, customCommandCode: customCommandCode, customRequestParameters: customRequestParameters,
      completionHandler: { resultHandler(outcome($1, $0)) })
  }

  /// Asks for the tag's properties with the form that has a completion handler, and takes the UID from `identifier`.
  @preconcurrency
  public func getSystemInfo(
    requestFlags flags: NFCISO15693RequestFlag,
    resultHandler: @escaping @Sendable (Result<NFCISO15693SystemInfo, any Error>) -> Void
  ) {
    let uid = Data(identifier.reversed())
    let numbers: any SystemInfoReading = SystemInfoNumbers(tag: self)
    numbers.read(flags) {
      resultHandler(
        outcome(
          $5,
          NFCISO15693SystemInfo(
            uniqueIdentifier: uid, dataStorageFormatIdentifier: $0, applicationFamilyIdentifier: $1, blockSize: $2,
            totalBlocks: $3, icReference: $4)))
    }
  }
}

// The requirement that gives the numbers is deprecated for programs. These two types call it without a warning.

private protocol SystemInfoReading {
  func read(
    _ flags: NFCISO15693RequestFlag, _ handler: @escaping @Sendable (Int, Int, Int, Int, Int, (any Error)?) -> Void)
}

private struct SystemInfoNumbers<Tag: NFCISO15693Tag>: SystemInfoReading {
  let tag: Tag

  @available(*, deprecated)
  func read(
    _ flags: NFCISO15693RequestFlag, _ handler: @escaping @Sendable (Int, Int, Int, Int, Int, (any Error)?) -> Void
  ) {
    tag.getSystemInfo(requestFlags: flags, completionHandler: handler)
  }
}
