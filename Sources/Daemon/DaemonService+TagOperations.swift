import Bus
import Journal
import NDEF
import Names
import ReaderLink

/// Something that is being done with a tag, and who waits for it.
struct TagOperation {
  let session: UInt64
  let tag: ObjectPath
  let reader: Int
  let continuation: CheckedContinuation<ReaderOperationResult, Never>
}

/// What clients do with the tags of their sessions.
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
      throw BusError(name: Names.Errors.tooLong, message: "the message has \(message.count) bytes")
    }
    if !message.isEmpty, (try? NDEFMessage(decoding: message)) == nil {
      throw BusError(name: Names.Errors.invalidArgument, message: "message is no NDEF message")
    }
    return try await done(.write(message, verify: true), id, number)
  }

  func lock(_ id: UInt64, _ number: UInt64) async throws -> [Value] {
    try requireWriting(id)
    return try await done(.lock, id, number)
  }

  /// What is sent where the client does not say.
  private static let defaultTimeout: UInt32 = 1000

  func transceive(_ id: UInt64, _ number: UInt64, _ command: [UInt8], timeout: UInt32) async throws -> [Value] {
    let timeout = timeout == 0 ? Self.defaultTimeout : timeout
    guard ReaderOperation.timeouts.contains(timeout) else {
      throw BusError(name: Names.Errors.invalidArgument, message: "timeout_ms is \(timeout): give 1 to 5000, or 0")
    }
    do throws(TransceivePolicy.Refusal) {
      try state.sessions.check(command, id, tag: number)
    } catch {
      let name =
        switch error {
        case .invalid: Names.Errors.invalidArgument
        case .notPossible: Names.Errors.notSupported
        case .notAuthorized: Names.Errors.notAuthorized
        }
      throw BusError(name: name, message: error.message)
    }
    let turn = state.sessions.call(id, tag: number)
    let result = try await operate(.transceive(command, timeout: timeout), id, number)
    guard case .answer(let answer) = result else {
      state.sessions.learn(nil, to: command, id, tag: number, turn: turn)
      throw Self.error(result)
    }
    state.sessions.learn(answer, to: command, id, tag: number, turn: turn)
    return [.bytes(answer)]
  }

  /// In a session that ends after the first message.
  func readFirst(_ id: UInt64, _ number: UInt64) async {
    guard let path = state.sessions.sessions[id]?.tags[number]?.path,
      case .message(let message)? = try? await operate(.read, id, number),
      state.sessions.sessions[id]?.state == .active
    else { return }
    tell(id, "MessageRead", [.objectPath(path), .bytes(message)])
    handle(.firstRead(id))
  }

  private func requireWriting(_ id: UInt64) throws {
    guard state.sessions.sessions[id]?.request.mayWrite != true else { return }
    throw BusError(
      name: Names.Errors.notAuthorized, message: "the session may only read: begin it with access “write”")
  }

  private func done(_ operation: ReaderOperation, _ id: UInt64, _ number: UInt64) async throws -> [Value] {
    switch try await operate(operation, id, number) {
    case .done: return []
    case let other: throw Self.error(other)
    }
  }

  /// Has the reader process do something, and waits for what comes of it: each request is answered, whatever becomes of the process.
  private func operate(
    _ operation: ReaderOperation, _ id: UInt64, _ number: UInt64
  ) async throws -> ReaderOperationResult {
    guard let session = state.sessions.sessions[id], session.state == .active,
      let process = units[session.reader]?.process
    else { throw BusError(name: Names.Errors.sessionEnded, message: "the reader session is over") }
    guard let tag = session.tags[number] else {
      throw BusError(name: Names.Errors.tagLost, message: "the tag was taken away")
    }
    lastOperation += 1
    let request = lastOperation
    _ = state.sessions.call(id, tag: number)
    let result = await withCheckedContinuation { continuation in
      // What is done, and not with what: that is the client's and the tag's.
      log(.debug, "reader session \(id) is to \(operation.name) tag \(number)")
      operations[request] = TagOperation(
        session: id, tag: tag.path, reader: session.reader, continuation: continuation)
      process.assumeIsolated { $0.perform(operation, request: request, placement: tag.placement, session: id) }
    }
    if case .failed(let failure, _) = result { state.sessions.failed(failure, id, tag: number) }
    return result
  }

  func finish(_ request: UInt64, _ result: ReaderOperationResult) {
    operations.removeValue(forKey: request)?.continuation.resume(returning: result)
  }

  func progress(_ request: UInt64, _ bytes: UInt32) {
    guard let operation = operations[request] else { return }
    tell(operation.session, "Progress", [.objectPath(operation.tag), .uint64(UInt64(bytes))])
  }

  /// The process of a reader is not listened to any more.
  func abandonOperations(at reader: Int) {
    for (request, operation) in operations where operation.reader == reader {
      finish(request, .failed(.deviceLost, reason: "the reader is gone"))
    }
  }

  private static func error(_ result: ReaderOperationResult) -> BusError {
    guard case .failed(let failure, let reason) = result else {
      return BusError(name: Names.Errors.failed, message: "the reader answered something else than it was asked")
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
      case .deviceLost: Names.Errors.readerLost
      case .sessionEnded: Names.Errors.sessionEnded
      }
    return BusError(name: name, message: reason)
  }
}

extension ReaderOperation {
  /// What the log calls it.
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
