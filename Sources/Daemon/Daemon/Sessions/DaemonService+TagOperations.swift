import Bus
import Journal
import NDEF
import Names
import ReaderProtocol

/// An operation with a tag that is in progress, and the call that waits for its result.
struct TagOperation {
  let session: UInt64
  let tag: ObjectPath
  let reader: Int
  let continuation: CheckedContinuation<ReaderOperationResult, Never>
}

/// Operations of clients with the tags of their sessions.
extension DaemonService {
  func queryNDEF(_ id: UInt64, _ number: UInt64) async throws -> [Value] {
    switch try await operate(.query, id, number) {
    case .status(let access, let capacity):
      let status =
        switch access {
        case .notSupported: "not-supported"
        case .readWrite: "read-write"
        case .readOnly: "read-only"
        }
      return [.string(status), .uint32(capacity)]
    case let other: throw Self.error(other)
    }
  }

  func readNDEF(_ id: UInt64, _ number: UInt64) async throws -> [Value] {
    switch try await operate(.read, id, number) {
    case .message(let message): return [.bytes(message)]
    case let other: throw Self.error(other)
    }
  }

  func writeNDEF(_ id: UInt64, _ number: UInt64, _ message: [UInt8]) async throws -> [Value] {
    try requireWriting(id)
    guard message.count <= ReaderLimits.message else {
      throw BusError(
        name: Names.Errors.tooLong,
        message: "the message has \(message.count) bytes: at most \(ReaderLimits.message) are allowed")
    }
    if !message.isEmpty, (try? NDEFMessage(decoding: message)) == nil {
      throw BusError.invalidArgument("message is not an NDEF message")
    }
    let formats = state.sessions[id]?.request.formatsBlankTags ?? false
    return try await done(.write(message, verify: true, format: formats), id, number)
  }

  func lock(_ id: UInt64, _ number: UInt64) async throws -> [Value] {
    try requireWriting(id)
    return try await done(.lock, id, number)
  }

  /// The timeout of a raw command in milliseconds, if the client gives none.
  private static let defaultTimeout: UInt32 = 1000

  func transceive(_ id: UInt64, _ number: UInt64, _ command: [UInt8], timeout: UInt32) async throws -> [Value] {
    let timeout = timeout == 0 ? Self.defaultTimeout : timeout
    guard ReaderOperation.timeouts.contains(timeout) else {
      throw BusError.invalidArgument("timeout_ms is \(timeout): use 1 to 5000, or 0 for the default")
    }
    try state.sessions[id]?.check(command, tag: number)
    let turn = state.sessions[id]?.select(number) ?? 0
    let result = try await operate(.transceive(command, timeout: timeout), id, number)
    let answer: [UInt8]? = if case .answer(let answer) = result { answer } else { nil }
    state.sessions[id]?.learn(answer, to: command, tag: number, turn: turn)
    guard let answer else { throw Self.error(result) }
    return [.bytes(answer)]
  }

  /// Reads the first tag of a session with `first-read`. The session ends if the tag has a message.
  func readFirst(_ id: UInt64, _ number: UInt64) async {
    guard let path = state.sessions[id]?.tags[number]?.path,
      case .message(let message)? = try? await operate(.read, id, number),
      state.sessions[id]?.isActive == true
    else { return }
    tell(id, "MessageRead", [.objectPath(path), .bytes(message)])
    handle(.firstRead(id))
  }

  private func requireWriting(_ id: UInt64) throws {
    guard state.sessions[id]?.request.mayWrite != true else { return }
    throw BusError.notAuthorized("the session may only read: start it with access “write”")
  }

  private func done(_ operation: ReaderOperation, _ id: UInt64, _ number: UInt64) async throws -> [Value] {
    switch try await operate(operation, id, number) {
    case .done: return []
    case let other: throw Self.error(other)
    }
  }

  /// Sends an operation to the reader process and waits for the result. There is always one, even if the process ends.
  private func operate(
    _ operation: ReaderOperation, _ id: UInt64, _ number: UInt64
  ) async throws -> ReaderOperationResult {
    guard let session = state.sessions[id], session.isActive,
      let process = units[session.reader]?.process
    else { throw BusError(name: Names.Errors.sessionEnded, message: "the reader session is over") }
    guard let tag = session.tags[number] else {
      throw BusError(name: Names.Errors.tagLost, message: "the tag was removed")
    }
    lastOperation += 1
    let request = lastOperation
    state.sessions[id]?.select(number)
    let result = await withCheckedContinuation { continuation in
      // Log the kind of operation only. Its data is private.
      log(.debug, "reader session \(id) is to \(operation.name) tag \(number)")
      operations[request] = TagOperation(
        session: id, tag: tag.path, reader: session.reader, continuation: continuation)
      process.assumeIsolated { $0.perform(operation, request: request, placement: tag.placement, session: id) }
    }
    if case .failed(let failure, _) = result { state.sessions[id]?.failed(failure, tag: number) }
    return result
  }

  func finish(_ request: UInt64, _ result: ReaderOperationResult) {
    operations.removeValue(forKey: request)?.continuation.resume(returning: result)
  }

  func progress(_ request: UInt64, _ bytes: UInt32) {
    guard let operation = operations[request] else { return }
    tell(operation.session, "Progress", [.objectPath(operation.tag), .uint64(UInt64(bytes))])
  }

  /// Fails the operations of a reader. The daemon ignores its process from here.
  func abandonOperations(at reader: Int) {
    for (request, operation) in operations where operation.reader == reader {
      finish(request, .failed(.deviceLost, reason: "the reader was removed or has failed"))
    }
  }

  private static func error(_ result: ReaderOperationResult) -> BusError {
    guard case .failed(let failure, let reason) = result else {
      return BusError(name: Names.Errors.failed, message: "the reader process sent a result of the wrong kind")
    }
    let name =
      switch failure {
      case .tagLost: Names.Errors.tagLost
      case .notSupported: Names.Errors.notSupported
      case .readOnly: Names.Errors.readOnly
      case .tooLong: Names.Errors.tooLong
      case .refused: Names.Errors.refused
      case .timeout: Names.Errors.timedOut
      case .busy: Names.Errors.busy
      case .notAsWritten: Names.Errors.notAsWritten
      case .cannotLock: Names.Errors.cannotLock
      case .empty: Names.Errors.empty
      case .notFormatted: Names.Errors.notFormatted
      case .deviceLost: Names.Errors.readerLost
      case .sessionEnded: Names.Errors.sessionEnded
      }
    return BusError(name: name, message: reason)
  }
}

extension ReaderOperation {
  /// The name in the log.
  fileprivate var name: String {
    switch self {
    case .query: "query"
    case .read: "read"
    case .write: "write"
    case .lock: "lock"
    case .transceive: "send a command to"
    }
  }
}
