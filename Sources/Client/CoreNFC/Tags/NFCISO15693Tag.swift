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
