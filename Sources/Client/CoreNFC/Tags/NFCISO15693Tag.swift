public import Foundation

/// A tag of ISO/IEC 15693, NFC Forum Type 5 (iOS 11).
///
/// The parts of the standard that are cited are those of ISO/IEC 15693-3. A command has the flag `address` and the
/// tag's UID, unless its description says otherwise. With the flag `select`, it goes to the selected tag instead.
///
/// A command that breaks a rule is not sent, and fails with a code:
///
/// - 3: lists do not match.
/// - 4: blocks are empty, longer than 32 bytes or of different sizes.
/// - 5: a number is out of range.
/// - 105: the request is longer than 256 bytes.
///
/// If the tag answers with an error, the code is 102. The user info then has the tag's error code (7.4.2) as an
/// `NSNumber` under `NFCISO15693TagResponseErrorKey`.
///
/// Programs that conform to this protocol implement the members without a default. The commands that have only a
/// default go through `sendRequest(requestFlags:commandCode:data:resultHandler:)`.
public protocol NFCISO15693Tag: NFCNDEFTag, __NFCTag {
  /// The UID, eight bytes, the most significant byte, E0, first.
  var identifier: Data { get }
  /// The manufacturer of the IC, the second byte of the UID (ISO/IEC 7816-6).
  var icManufacturerCode: Int { get }
  /// The serial number of the IC, the last six bytes of the UID, the most significant byte first.
  var icSerialNumber: Data { get }

  // MARK: Blocks

  /// Reads a block (20). With the flag `option`, its security status comes before it.
  @preconcurrency
  func readSingleBlock(
    requestFlags flags: NFCISO15693RequestFlag, blockNumber: UInt8,
    completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void)
  /// Writes a block (21).
  @preconcurrency
  func writeSingleBlock(
    requestFlags flags: NFCISO15693RequestFlag, blockNumber: UInt8, dataBlock: Data,
    completionHandler: @escaping @Sendable ((any Error)?) -> Void)
  /// Makes a block read-only (22). This cannot be undone.
  @preconcurrency
  func lockBlock(
    requestFlags flags: NFCISO15693RequestFlag, blockNumber: UInt8,
    completionHandler: @escaping @Sendable ((any Error)?) -> Void)
  /// Reads 1 to 256 blocks (23). With the flag `option`, each has its security status before it.
  @preconcurrency
  func readMultipleBlocks(
    requestFlags flags: NFCISO15693RequestFlag, blockRange: NSRange,
    completionHandler: @escaping @Sendable ([Data], (any Error)?) -> Void)
  /// Writes 1 to 256 blocks (24).
  @preconcurrency
  func writeMultipleBlocks(
    requestFlags flags: NFCISO15693RequestFlag, blockRange: NSRange, dataBlocks: [Data],
    completionHandler: @escaping @Sendable ((any Error)?) -> Void)
  /// Asks which of 1 to 256 blocks are locked (2C). The handler gets the security status of each.
  @preconcurrency
  func getMultipleBlockSecurityStatus(
    requestFlags flags: NFCISO15693RequestFlag, blockRange: NSRange,
    completionHandler: @escaping @Sendable ([NSNumber], (any Error)?) -> Void)

  // MARK: Blocks with numbers of two bytes

  /// Reads a block with a number of 0 to 65535 (30).
  @preconcurrency
  func extendedReadSingleBlock(
    requestFlags flags: NFCISO15693RequestFlag, blockNumber: Int,
    completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void)
  /// Writes a block with a number of 0 to 65535 (31).
  @preconcurrency
  func extendedWriteSingleBlock(
    requestFlags flags: NFCISO15693RequestFlag, blockNumber: Int, dataBlock: Data,
    completionHandler: @escaping @Sendable ((any Error)?) -> Void)
  /// Makes a block with a number of 0 to 65535 read-only (32). This cannot be undone.
  @preconcurrency
  func extendedLockBlock(
    requestFlags flags: NFCISO15693RequestFlag, blockNumber: Int,
    completionHandler: @escaping @Sendable ((any Error)?) -> Void)
  /// Reads 1 to 65536 blocks (33).
  @preconcurrency
  func extendedReadMultipleBlocks(
    requestFlags flags: NFCISO15693RequestFlag, blockRange: NSRange,
    completionHandler: @escaping @Sendable ([Data], (any Error)?) -> Void)

  // MARK: The whole tag

  /// Makes the tag ignore everything but requests with its UID (02).
  ///
  /// A tag that a session has found does not send it, and fails with code 1: its reader would treat a tag that does not
  /// answer as removed.
  @preconcurrency
  func stayQuiet(completionHandler: @escaping @Sendable ((any Error)?) -> Void)
  /// Selects the tag for requests with the flag `select` (25).
  @preconcurrency
  func select(
    requestFlags flags: NFCISO15693RequestFlag, completionHandler: @escaping @Sendable ((any Error)?) -> Void)
  /// Ends the states that Select and Stay quiet have begun (26).
  @preconcurrency
  func resetToReady(
    requestFlags flags: NFCISO15693RequestFlag, completionHandler: @escaping @Sendable ((any Error)?) -> Void)
  /// Writes the application family identifier (27).
  @preconcurrency
  func writeAFI(
    requestFlags flags: NFCISO15693RequestFlag, afi: UInt8,
    completionHandler: @escaping @Sendable ((any Error)?) -> Void)
  /// Makes the application family identifier read-only (28). This cannot be undone.
  @preconcurrency
  func lockAFI(
    requestFlags flags: NFCISO15693RequestFlag, completionHandler: @escaping @Sendable ((any Error)?) -> Void)
  /// Writes the data storage format identifier (29).
  @preconcurrency
  func writeDSFID(
    requestFlags flags: NFCISO15693RequestFlag, dsfid: UInt8,
    completionHandler: @escaping @Sendable ((any Error)?) -> Void)
  /// Makes the data storage format identifier read-only (2A; iOS 14). This cannot be undone.
  @preconcurrency
  func lockDSFID(
    requestFlags flags: NFCISO15693RequestFlag, completionHandler: @escaping @Sendable ((any Error)?) -> Void)
  /// Asks for the tag's properties (2B).
  ///
  /// The handler gets five numbers: DSFID, AFI, the size of a block in bytes, the number of blocks, and the IC
  /// reference. A number that the tag does not give is -1.
  @available(*, deprecated, message: "use the form with a result, or systemInfo(requestFlags:)")
  @preconcurrency
  func getSystemInfo(
    requestFlags flags: NFCISO15693RequestFlag,
    completionHandler: @escaping @Sendable (Int, Int, Int, Int, Int, (any Error)?) -> Void)
  /// Sends a command of the IC's manufacturer.
  ///
  /// `icManufacturerCode` is inserted behind the command code. With the flag `address`, the UID follows.
  ///
  /// - Parameters:
  ///   - flags: the request flags.
  ///   - customCommandCode: the command code, A0 to DF.
  ///   - customRequestParameters: the bytes after manufacturer and UID.
  ///   - completionHandler: gets the bytes after the response flags, or the error.
  @preconcurrency
  func customCommand(
    requestFlags flags: NFCISO15693RequestFlag, customCommandCode: Int, customRequestParameters: Data,
    completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void)

  // MARK: Members with a default

  /// Asks for the tag's properties (2B; iOS 14). The UID is in the order of transmission, the byte E0 last.
  ///
  /// The default uses the form with a completion handler, and takes the UID from `identifier`.
  @preconcurrency
  func getSystemInfo(
    requestFlags flags: NFCISO15693RequestFlag,
    resultHandler: @escaping @Sendable (Result<NFCISO15693SystemInfo, any Error>) -> Void)
  /// Sends a request as it is (iOS 14). A response is returned as it is, also if it has the error flag.
  ///
  /// The default fails with code 1.
  ///
  /// - Parameters:
  ///   - flags: the request flags, 0 to 255.
  ///   - commandCode: the command code, 0 to 255.
  ///   - data: the bytes after the command code, with the UID if the flags demand it; nil for none.
  ///   - resultHandler: gets the response flags and the bytes after them, nil if there are none; or the error.
  @preconcurrency
  func sendRequest(
    requestFlags flags: Int, commandCode: Int, data: Data?,
    resultHandler: @escaping @Sendable (Result<(NFCISO15693ResponseFlag, Data?), any Error>) -> Void)
  /// Sends a command of the IC's manufacturer, again if it fails. The handler gets the bytes after the response flags.
  ///
  /// The default uses `customCommand`, or `sendRequest` for another manufacturer than the tag's.
  @preconcurrency
  func sendCustomCommand(
    commandConfiguration: NFCISO15693CustomCommandConfiguration,
    completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void)
  /// Reads blocks with several commands, each sent again if it fails. The handler gets all blocks as one.
  ///
  /// The default uses `readMultipleBlocks`.
  @preconcurrency
  func readMultipleBlock(
    readConfiguration: NFCISO15693ReadMultipleBlocksConfiguration,
    completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void)
}

// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
/// The forms with a result of calls that also have a completion handler (iOS 14).
extension NFCISO15693Tag {
  @preconcurrency
  public func readSingleBlock(
    requestFlags flags: NFCISO15693RequestFlag, blockNumber: UInt8,
    resultHandler: @escaping @Sendable (Result<Data, any Error>) -> Void
  ) {
    readSingleBlock(
      requestFlags: flags, blockNumber: blockNumber, completionHandler: { resultHandler(outcome($1, $0)) })
  }

  @preconcurrency
  public func readMultipleBlocks(
    requestFlags flags: NFCISO15693RequestFlag, blockRange: NSRange,
    resultHandler: @escaping @Sendable (Result<[Data], any Error>) -> Void
  ) {
    readMultipleBlocks(
      requestFlags: flags, blockRange: blockRange, completionHandler: { resultHandler(outcome($1, $0)) })
  }

  @preconcurrency
  public func extendedReadSingleBlock(
    requestFlags flags: NFCISO15693RequestFlag, blockNumber: Int,
    resultHandler: @escaping @Sendable (Result<Data, any Error>) -> Void
  ) {
    extendedReadSingleBlock(
      requestFlags: flags, blockNumber: blockNumber, completionHandler: { resultHandler(outcome($1, $0)) })
  }

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

// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
/// The `async` forms. They return what a completion handler or a result has.
extension NFCISO15693Tag {
  public func readSingleBlock(requestFlags flags: NFCISO15693RequestFlag, blockNumber: UInt8) async throws -> Data {
    try await fromHandler { readSingleBlock(requestFlags: flags, blockNumber: blockNumber, completionHandler: $0) }
  }

  public func writeSingleBlock(
    requestFlags flags: NFCISO15693RequestFlag, blockNumber: UInt8, dataBlock: Data
  ) async throws {
    try await fromHandler {
      writeSingleBlock(requestFlags: flags, blockNumber: blockNumber, dataBlock: dataBlock, completionHandler: $0)
    }
  }

  public func lockBlock(requestFlags flags: NFCISO15693RequestFlag, blockNumber: UInt8) async throws {
    try await fromHandler { lockBlock(requestFlags: flags, blockNumber: blockNumber, completionHandler: $0) }
  }

  public func readMultipleBlocks(
    requestFlags flags: NFCISO15693RequestFlag, blockRange: NSRange
  ) async throws -> [Data] {
    try await fromHandler { readMultipleBlocks(requestFlags: flags, blockRange: blockRange, completionHandler: $0) }
  }

  public func writeMultipleBlocks(
    requestFlags flags: NFCISO15693RequestFlag, blockRange: NSRange, dataBlocks: [Data]
  ) async throws {
    try await fromHandler {
      writeMultipleBlocks(requestFlags: flags, blockRange: blockRange, dataBlocks: dataBlocks, completionHandler: $0)
    }
  }

  public func getMultipleBlockSecurityStatus(
    requestFlags flags: NFCISO15693RequestFlag, blockRange: NSRange
  ) async throws -> [NSNumber] {
    try await fromHandler {
      getMultipleBlockSecurityStatus(requestFlags: flags, blockRange: blockRange, completionHandler: $0)
    }
  }

  public func extendedReadSingleBlock(
    requestFlags flags: NFCISO15693RequestFlag, blockNumber: Int
  ) async throws -> Data {
    try await fromHandler {
      extendedReadSingleBlock(requestFlags: flags, blockNumber: blockNumber, completionHandler: $0)
    }
  }

  public func extendedWriteSingleBlock(
    requestFlags flags: NFCISO15693RequestFlag, blockNumber: Int, dataBlock: Data
  ) async throws {
    try await fromHandler {
      extendedWriteSingleBlock(
        requestFlags: flags, blockNumber: blockNumber, dataBlock: dataBlock, completionHandler: $0)
    }
  }

  public func extendedLockBlock(requestFlags flags: NFCISO15693RequestFlag, blockNumber: Int) async throws {
    try await fromHandler { extendedLockBlock(requestFlags: flags, blockNumber: blockNumber, completionHandler: $0) }
  }

  public func extendedReadMultipleBlocks(
    requestFlags flags: NFCISO15693RequestFlag, blockRange: NSRange
  ) async throws -> [Data] {
    try await fromHandler {
      extendedReadMultipleBlocks(requestFlags: flags, blockRange: blockRange, completionHandler: $0)
    }
  }

  public func stayQuiet() async throws { try await fromHandler { stayQuiet(completionHandler: $0) } }

  public func select(requestFlags flags: NFCISO15693RequestFlag) async throws {
    try await fromHandler { select(requestFlags: flags, completionHandler: $0) }
  }

  public func resetToReady(requestFlags flags: NFCISO15693RequestFlag) async throws {
    try await fromHandler { resetToReady(requestFlags: flags, completionHandler: $0) }
  }

  public func writeAFI(requestFlags flags: NFCISO15693RequestFlag, afi: UInt8) async throws {
    try await fromHandler { writeAFI(requestFlags: flags, afi: afi, completionHandler: $0) }
  }

  public func lockAFI(requestFlags flags: NFCISO15693RequestFlag) async throws {
    try await fromHandler { lockAFI(requestFlags: flags, completionHandler: $0) }
  }

  public func writeDSFID(requestFlags flags: NFCISO15693RequestFlag, dsfid: UInt8) async throws {
    try await fromHandler { writeDSFID(requestFlags: flags, dsfid: dsfid, completionHandler: $0) }
  }

  public func lockDSFID(requestFlags flags: NFCISO15693RequestFlag) async throws {
    try await fromHandler { lockDSFID(requestFlags: flags, completionHandler: $0) }
  }

  /// Returns the tag's properties (2B; iOS 14). The UID is in the order of transmission, the byte E0 last.
  public func systemInfo(requestFlags flags: NFCISO15693RequestFlag) async throws -> NFCISO15693SystemInfo {
    try await fromResult { getSystemInfo(requestFlags: flags, resultHandler: $0) }
  }

  public func customCommand(
    requestFlags flags: NFCISO15693RequestFlag, customCommandCode: Int, customRequestParameters: Data
  ) async throws -> Data {
    try await fromHandler {
      customCommand(
        requestFlags: flags, customCommandCode: customCommandCode, customRequestParameters: customRequestParameters,
        completionHandler: $0)
    }
  }

  public func sendRequest(
    requestFlags flags: Int, commandCode: Int, data: Data?
  ) async throws -> (NFCISO15693ResponseFlag, Data?) {
    try await fromResult { sendRequest(requestFlags: flags, commandCode: commandCode, data: data, resultHandler: $0) }
  }
}
