import TestRig
import Testing

@testable import ReaderLink
@testable import ReaderSimulator

/// Helpers for tests of reader sessions.
extension CardReaderRig {
  /// A rig that waits for a ready reader and begins a session.
  static func inSession(
    _ model: CardReaderModel = .acr1252U, _ options: ReaderSessionOptions = ReaderSessionOptions(number: 1),
    starter: String = #function
  ) async throws -> CardReaderRig {
    let rig = try await CardReaderRig(model, starter: starter)
    try await rig.isReady()
    try await rig.begin(options)
    return rig
  }

  func begin(_ options: ReaderSessionOptions) async throws {
    await beginSession(options)
    try await expect(.sessionBegan(options.number))
  }

  func end(_ number: UInt64 = 1) async throws {
    await endSession(number)
    try await expect(.sessionEnded(number))
  }

  func sessionTag() async throws -> SessionTag {
    try await next("a tag of a session") { if case .sessionTag(_, let tag) = $0 { tag } else { nil } }
  }

  /// Inserts a card, and waits until the session reports it.
  func finds(_ tag: SimulatedTag) async throws -> (id: TagID, tag: SessionTag) {
    let id = try await insert(tag)
    return (id, try await sessionTag())
  }

  /// The number of the next placement in the session that ends.
  func sessionRemoval() async throws -> UInt64 {
    try await next("a removal") { if case .sessionTagRemoved(_, let number) = $0 { number } else { nil } }
  }

  /// Takes the card of the session away, and waits until the session reports that.
  func takeAway(
    _ id: TagID, _ tag: SessionTag, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    await remove(id)
    #expect(try await sessionRemoval() == tag.placement.number, sourceLocation: sourceLocation)
  }

  func ask(_ operation: ReaderOperation, _ tag: SessionTag, request: UInt64 = 1, session: UInt64 = 1) async {
    await process.perform(operation, request: request, placement: tag.placement.number, session: session)
  }

  /// Performs an operation on a tag and returns its result.
  func perform(
    _ operation: ReaderOperation, _ tag: SessionTag, request: UInt64 = 1, session: UInt64 = 1
  ) async throws -> ReaderOperationResult {
    await ask(operation, tag, request: request, session: session)
    return try await result(request)
  }

  func result(_ request: UInt64 = 1) async throws -> ReaderOperationResult {
    try await next("an answer") { if case .performed(request, let result) = $0 { result } else { nil } }
  }

  /// Sends a raw command, given in hexadecimal digits, and returns the answer.
  func transceive(_ command: String, _ tag: SessionTag, timeout: UInt32 = 1000) async throws -> [UInt8] {
    try await transceive(try hex(command), tag, timeout: timeout)
  }

  /// Sends a raw command and returns the answer.
  func transceive(_ command: [UInt8], _ tag: SessionTag, timeout: UInt32 = 1000) async throws -> [UInt8] {
    let result = try await perform(.transceive(command, timeout: timeout), tag)
    guard case .answer(let bytes) = result else { throw await failure("expected an answer, got \(result)") }
    return bytes
  }

  /// Why a raw command has no answer.
  func refusal(_ command: String, _ tag: SessionTag, timeout: UInt32 = 1000) async throws -> ReaderOperationFailure? {
    try await perform(.transceive(try hex(command), timeout: timeout), tag).failure
  }

  /// The tags that sessions have reported so far.
  var reported: [SessionTag] { seen.compactMap { if case .sessionTag(_, let tag) = $0 { tag } else { nil } } }
}

extension ReaderOperationResult {
  var failure: ReaderOperationFailure? { if case .failed(let failure, _) = self { failure } else { nil } }

  /// Why the operation failed, in words.
  var reason: String? { if case .failed(_, let reason) = self { reason } else { nil } }
}
