import Dispatch
public import Foundation

/// The commands that go through `sendRequest` (iOS 14).
extension NFCISO15693Tag {
  /// Fails with code 1.
  @preconcurrency
  public func sendRequest(
    requestFlags flags: Int, commandCode: Int, data: Data?,
    resultHandler: @escaping @Sendable (Result<(NFCISO15693ResponseFlag, Data?), any Error>) -> Void
  ) {
    callbackQueue.async { resultHandler(.failure(NFCReaderError(.readerErrorUnsupportedFeature))) }
  }

  /// Writes 1 to 65536 blocks (34).
  @preconcurrency
  public func extendedWriteMultipleBlocks(
    requestFlags flags: NFCISO15693RequestFlag, blockRange: NSRange, dataBlocks: [Data],
    completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) {
    request(flags, isExtended: true, { try $0.writeBlocks(blockRange, dataBlocks) }) {
      completionHandler($0.errorOrNil)
    }
  }

  /// Reads 1 to 256 blocks at double speed (2D).
  @preconcurrency
  public func fastReadMultipleBlocks(
    requestFlags flags: NFCISO15693RequestFlag, blockRange: NSRange,
    resultHandler: @escaping @Sendable (Result<[Data], any Error>) -> Void
  ) {
    request(flags, { try $0.readBlocks(blockRange, isFast: true) }, resultHandler)
  }

  /// Reads 1 to 65536 blocks at double speed (3D).
  @preconcurrency
  public func extendedFastReadMultipleBlocks(
    requestFlags flags: NFCISO15693RequestFlag, blockRange: NSRange,
    resultHandler: @escaping @Sendable (Result<[Data], any Error>) -> Void
  ) {
    request(flags, isExtended: true, { try $0.readBlocks(blockRange, isFast: true) }, resultHandler)
  }

  /// Asks which of 1 to 65536 blocks are locked (3C).
  @preconcurrency
  public func extendedGetMultipleBlockSecurityStatus(
    requestFlags flags: NFCISO15693RequestFlag, blockRange: NSRange,
    resultHandler: @escaping @Sendable (Result<NFCISO15693MultipleBlockSecurityStatus, any Error>) -> Void
  ) {
    request(flags, isExtended: true, { try $0.securityStatus(blockRange) }) { result in
      resultHandler(result.map { NFCISO15693MultipleBlockSecurityStatus(blockSecurityStatus: $0) })
    }
  }

  /// Authenticates (35). The result has the response flags and the bytes after them.
  ///
  /// The UID is only sent if the flags have `address`. A response that says that the tag is still busy is returned.
  ///
  /// - Parameters:
  ///   - flags: the request flags.
  ///   - cryptoSuiteIdentifier: the cryptographic suite, 0 to 255 (ISO/IEC 29167).
  ///   - message: the message of the suite.
  ///   - resultHandler: gets the response, or the error.
  @preconcurrency
  public func authenticate(
    requestFlags flags: NFCISO15693RequestFlag, cryptoSuiteIdentifier: Int, message: Data,
    resultHandler: @escaping @Sendable (Result<(NFCISO15693ResponseFlag, Data), any Error>) -> Void
  ) {
    request(flags, { try $0.authenticate(cryptoSuiteIdentifier, message) }, resultHandler)
  }

  /// Changes a key (36). The result has the response flags and the bytes after them.
  ///
  /// The UID is only sent if the flags have `address`. A response that says that the tag is still busy is returned.
  ///
  /// - Parameters:
  ///   - flags: the request flags.
  ///   - keyIdentifier: the key, 0 to 255.
  ///   - message: the message of the cryptographic suite.
  ///   - resultHandler: gets the response, or the error.
  @preconcurrency
  public func keyUpdate(
    requestFlags flags: NFCISO15693RequestFlag, keyIdentifier: Int, message: Data,
    resultHandler: @escaping @Sendable (Result<(NFCISO15693ResponseFlag, Data), any Error>) -> Void
  ) {
    request(flags, { try $0.keyUpdate(keyIdentifier, message) }, resultHandler)
  }

  /// Sends a challenge (39). The tag does not answer. `readBuffer` reads the answer that it has computed.
  ///
  /// The UID is only sent if the flags have `address`.
  ///
  /// - Parameters:
  ///   - flags: the request flags.
  ///   - cryptoSuiteIdentifier: the cryptographic suite, 0 to 255 (ISO/IEC 29167).
  ///   - message: the message of the suite.
  ///   - completionHandler: gets nil, or the error.
  @preconcurrency
  public func challenge(
    requestFlags flags: NFCISO15693RequestFlag, cryptoSuiteIdentifier: Int, message: Data,
    completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) {
    request(flags, { try $0.challenge(cryptoSuiteIdentifier, message) }) { completionHandler($0.errorOrNil) }
  }

  /// Reads what a cryptographic command has left in the tag's buffer (3A). The UID is only sent with `address`.
  @preconcurrency
  public func readBuffer(
    requestFlags flags: NFCISO15693RequestFlag,
    resultHandler: @escaping @Sendable (Result<(NFCISO15693ResponseFlag, Data), any Error>) -> Void
  ) {
    request(flags, { try $0.readBuffer() }, resultHandler)
  }

  // MARK: Sending

  /// Runs an exchange with `sendRequest`, which a program's own tag may implement.
  func request<Answer: Sendable>(
    _ flags: NFCISO15693RequestFlag, isExtended: Bool = false,
    _ make: (ISO15693Exchanges) throws -> TagExchange<Answer>, _ handler: @escaping ResultHandler<Answer>
  ) {
    do {
      let exchange = try make(ISO15693Exchanges(identifier, flags, isExtended: isExtended))
      sendRequest(
        requestFlags: Int(exchange.command[0]), commandCode: Int(exchange.command[1]),
        data: Data(exchange.command.dropFirst(2))
      ) { result in
        handler(
          Result {
            let (flags, data) = try result.get()
            return try exchange.read([flags.rawValue] + (data ?? Data()))
          })
      }
    } catch {
      callbackQueue.async { handler(.failure(error)) }
    }
  }

  /// The session's queue. A tag of the program's own may have no session.
  var callbackQueue: DispatchQueue { (session as? NFCReaderSession)?.sessionQueue ?? .global() }
}

// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
/// The `async` forms of these commands.
extension NFCISO15693Tag {
  public func extendedWriteMultipleBlocks(
    requestFlags flags: NFCISO15693RequestFlag, blockRange: NSRange, dataBlocks: [Data]
  ) async throws {
    try await fromHandler {
      extendedWriteMultipleBlocks(
        requestFlags: flags, blockRange: blockRange, dataBlocks: dataBlocks, completionHandler: $0)
    }
  }

  public func fastReadMultipleBlocks(
    requestFlags flags: NFCISO15693RequestFlag, blockRange: NSRange
  ) async throws -> [Data] {
    try await fromResult { fastReadMultipleBlocks(requestFlags: flags, blockRange: blockRange, resultHandler: $0) }
  }

  public func extendedFastReadMultipleBlocks(
    requestFlags flags: NFCISO15693RequestFlag, blockRange: NSRange
  ) async throws -> [Data] {
    try await fromResult {
      extendedFastReadMultipleBlocks(requestFlags: flags, blockRange: blockRange, resultHandler: $0)
    }
  }

  public func extendedGetMultipleBlockSecurityStatus(
    requestFlags flags: NFCISO15693RequestFlag, blockRange: NSRange
  ) async throws -> NFCISO15693MultipleBlockSecurityStatus {
    try await fromResult {
      extendedGetMultipleBlockSecurityStatus(requestFlags: flags, blockRange: blockRange, resultHandler: $0)
    }
  }

  public func authenticate(
    requestFlags flags: NFCISO15693RequestFlag, cryptoSuiteIdentifier: Int, message: Data
  ) async throws -> (NFCISO15693ResponseFlag, Data) {
    try await fromResult {
      authenticate(
        requestFlags: flags, cryptoSuiteIdentifier: cryptoSuiteIdentifier, message: message, resultHandler: $0)
    }
  }

  public func keyUpdate(
    requestFlags flags: NFCISO15693RequestFlag, keyIdentifier: Int, message: Data
  ) async throws -> (NFCISO15693ResponseFlag, Data) {
    try await fromResult {
      keyUpdate(requestFlags: flags, keyIdentifier: keyIdentifier, message: message, resultHandler: $0)
    }
  }

  public func challenge(
    requestFlags flags: NFCISO15693RequestFlag, cryptoSuiteIdentifier: Int, message: Data
  ) async throws {
    try await fromHandler {
      challenge(
        requestFlags: flags, cryptoSuiteIdentifier: cryptoSuiteIdentifier, message: message, completionHandler: $0)
    }
  }

  public func readBuffer(requestFlags flags: NFCISO15693RequestFlag) async throws -> (NFCISO15693ResponseFlag, Data) {
    try await fromResult { readBuffer(requestFlags: flags, resultHandler: $0) }
  }
}
