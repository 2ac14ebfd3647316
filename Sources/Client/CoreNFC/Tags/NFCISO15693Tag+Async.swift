public import Foundation

/// The `async` forms. They return what a completion handler or a result has.
extension NFCISO15693Tag {
  // MARK: Blocks

  /// Reads a block (20).
  public func readSingleBlock(requestFlags flags: NFCISO15693RequestFlag, blockNumber: UInt8) async throws -> Data {
    try await fromHandler { readSingleBlock(requestFlags: flags, blockNumber: blockNumber, completionHandler: $0) }
  }

  /// Writes a block (21).
  public func writeSingleBlock(
    requestFlags flags: NFCISO15693RequestFlag, blockNumber: UInt8, dataBlock: Data
  ) async throws {
    try await fromHandler {
      writeSingleBlock(requestFlags: flags, blockNumber: blockNumber, dataBlock: dataBlock, completionHandler: $0)
    }
  }

  /// Makes a block read-only (22). This cannot be undone.
  public func lockBlock(requestFlags flags: NFCISO15693RequestFlag, blockNumber: UInt8) async throws {
    try await fromHandler { lockBlock(requestFlags: flags, blockNumber: blockNumber, completionHandler: $0) }
  }

  /// Reads 1 to 256 blocks (23).
  public func readMultipleBlocks(
    requestFlags flags: NFCISO15693RequestFlag, blockRange: NSRange
  ) async throws -> [Data] {
    try await fromHandler { readMultipleBlocks(requestFlags: flags, blockRange: blockRange, completionHandler: $0) }
  }

  /// Writes 1 to 256 blocks (24).
  public func writeMultipleBlocks(
    requestFlags flags: NFCISO15693RequestFlag, blockRange: NSRange, dataBlocks: [Data]
  ) async throws {
    try await fromHandler {
      writeMultipleBlocks(requestFlags: flags, blockRange: blockRange, dataBlocks: dataBlocks, completionHandler: $0)
    }
  }

  /// Returns the security status of 1 to 256 blocks (2C).
  public func getMultipleBlockSecurityStatus(
    requestFlags flags: NFCISO15693RequestFlag, blockRange: NSRange
  ) async throws -> [NSNumber] {
    try await fromHandler {
      getMultipleBlockSecurityStatus(requestFlags: flags, blockRange: blockRange, completionHandler: $0)
    }
  }

  /// Reads a block with a number of 0 to 65535 (30).
  public func extendedReadSingleBlock(
    requestFlags flags: NFCISO15693RequestFlag, blockNumber: Int
  ) async throws -> Data {
    try await fromHandler {
      extendedReadSingleBlock(requestFlags: flags, blockNumber: blockNumber, completionHandler: $0)
    }
  }

  /// Writes a block with a number of 0 to 65535 (31).
  public func extendedWriteSingleBlock(
    requestFlags flags: NFCISO15693RequestFlag, blockNumber: Int, dataBlock: Data
  ) async throws {
    try await fromHandler {
      extendedWriteSingleBlock(
        requestFlags: flags, blockNumber: blockNumber, dataBlock: dataBlock, completionHandler: $0)
    }
  }

  /// Makes a block with a number of 0 to 65535 read-only (32). This cannot be undone.
  public func extendedLockBlock(requestFlags flags: NFCISO15693RequestFlag, blockNumber: Int) async throws {
    try await fromHandler { extendedLockBlock(requestFlags: flags, blockNumber: blockNumber, completionHandler: $0) }
  }

  /// Reads 1 to 65536 blocks (33).
  public func extendedReadMultipleBlocks(
    requestFlags flags: NFCISO15693RequestFlag, blockRange: NSRange
  ) async throws -> [Data] {
    try await fromHandler {
      extendedReadMultipleBlocks(requestFlags: flags, blockRange: blockRange, completionHandler: $0)
    }
  }

  // MARK: The whole tag

  /// Makes the tag ignore everything but requests with its UID (02).
  public func stayQuiet() async throws { try await fromHandler { stayQuiet(completionHandler: $0) } }

  /// Selects the tag for requests with the flag `select` (25).
  public func select(requestFlags flags: NFCISO15693RequestFlag) async throws {
    try await fromHandler { select(requestFlags: flags, completionHandler: $0) }
  }

  /// Ends the states that Select and Stay quiet have begun (26).
  public func resetToReady(requestFlags flags: NFCISO15693RequestFlag) async throws {
    try await fromHandler { resetToReady(requestFlags: flags, completionHandler: $0) }
  }

  /// Writes the application family identifier (27).
  public func writeAFI(requestFlags flags: NFCISO15693RequestFlag, afi: UInt8) async throws {
    try await fromHandler { writeAFI(requestFlags: flags, afi: afi, completionHandler: $0) }
  }

  /// Makes the application family identifier read-only (28). This cannot be undone.
  public func lockAFI(requestFlags flags: NFCISO15693RequestFlag) async throws {
    try await fromHandler { lockAFI(requestFlags: flags, completionHandler: $0) }
  }

  /// Writes the data storage format identifier (29).
  public func writeDSFID(requestFlags flags: NFCISO15693RequestFlag, dsfid: UInt8) async throws {
    try await fromHandler { writeDSFID(requestFlags: flags, dsfid: dsfid, completionHandler: $0) }
  }

  /// Makes the data storage format identifier read-only (2A; iOS 14). This cannot be undone.
  public func lockDSFID(requestFlags flags: NFCISO15693RequestFlag) async throws {
    try await fromHandler { lockDSFID(requestFlags: flags, completionHandler: $0) }
  }

  /// Returns the tag's properties (2B; iOS 14). The UID is in the order of transmission, the byte E0 last.
  public func systemInfo(requestFlags flags: NFCISO15693RequestFlag) async throws -> NFCISO15693SystemInfo {
    try await fromResult { getSystemInfo(requestFlags: flags, resultHandler: $0) }
  }

  /// Sends a command of the IC's manufacturer, and returns the bytes after the response flags.
  public func customCommand(
    requestFlags flags: NFCISO15693RequestFlag, customCommandCode: Int, customRequestParameters: Data
  ) async throws -> Data {
    try await fromHandler {
      customCommand(
        requestFlags: flags, customCommandCode: customCommandCode, customRequestParameters: customRequestParameters,
        completionHandler: $0)
    }
  }

  /// Sends a request as it is, and returns the response flags and the bytes after them (iOS 14).
  public func sendRequest(
    requestFlags flags: Int, commandCode: Int, data: Data?
  ) async throws -> (NFCISO15693ResponseFlag, Data?) {
    try await fromResult { sendRequest(requestFlags: flags, commandCode: commandCode, data: data, resultHandler: $0) }
  }
}
