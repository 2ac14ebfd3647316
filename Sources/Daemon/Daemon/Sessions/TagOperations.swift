import Bus
import Journal
import NDEF
import Names
import ReaderProtocol

/// Operations of clients with the tags of their sessions, and the D-Bus objects of these tags.
@DaemonLoop final class TagOperations {
  /// An operation that is in progress, and the call that waits for its result.
  private struct Operation {
    let session: UInt64
    let tag: ObjectPath
    let reader: Int
    let continuation: CheckedContinuation<ReaderOperationResult, Never>
  }

  private let core: DaemonCore
  private let processes: ReaderProcesses
  private let signals: SessionSignals
  /// By the number of the request.
  private var operations: [UInt64: Operation] = [:]
  private var lastRequest: UInt64 = 0

  init(_ core: DaemonCore, _ processes: ReaderProcesses) {
    (self.core, self.processes, signals) = (core, processes, SessionSignals(core: core))
  }

  /// Replies to all calls. The replies are sent while the reader processes end; after that the daemon closes its
  /// connection.
  func stop() {
    for request in Array(operations.keys) {
      finish(request, .failed(.sessionEnded, reason: "the daemon is stopping: a write in progress may be incomplete"))
    }
  }

  // MARK: On the bus

  func interface(of session: SessionRecord, _ number: UInt64, _ tag: SessionRecord.Tag) -> ExportedInterface {
    let id = session.id
    let known = tag.tag
    let selected = known.initialApplication.flatMap { index in
      session.request.applications.indices.contains(index) ? session.request.applications[index] : nil
    }
    func property(_ name: String, _ signature: Signature, _ value: Value) -> ExportedProperty {
      ExportedProperty(name, signature, emits: .const) { _ in value }
    }
    return ExportedInterface(
      Names.Daemon.tagInterface,
      methods: [
        ExportedMethod("QueryNDEF", out: [Argument("status", "s"), Argument("capacity", "u")], self) { part, _ in
          try await part.queryNDEF(id, number)
        },
        ExportedMethod("ReadNDEF", out: [Argument("message", "ay")], self) { part, _ in
          try await part.readNDEF(id, number)
        },
        ExportedMethod("WriteNDEF", in: [Argument("message", "ay")], self) { part, call in
          try await part.writeNDEF(id, number, call.arguments.first?.asBytes ?? [])
        },
        ExportedMethod("Lock", self) { part, _ in try await part.lock(id, number) },
        ExportedMethod(
          "Transceive", in: [Argument("command", "ay"), Argument("timeout_ms", "u")], out: [Argument("answer", "ay")],
          self
        ) { part, call in
          try await part.transceive(
            id, number, call.arguments.first?.asBytes ?? [], timeout: call.arguments.last?.asUInt32 ?? 0)
        },
      ],
      properties: [
        property("Technology", "s", .string(known.placement.technology.rawValue)),
        property("UID", "ay", .bytes(known.placement.uid)),
        property("ATQA", "ay", .bytes(known.atqa)),
        property("SAK", "y", .byte(known.sak ?? 0)),
        property("HistoricalBytes", "ay", .bytes(known.historicalBytes)),
        property("ApplicationData", "ay", .bytes(known.applicationData)),
        property("ProtocolInfo", "ay", .bytes(known.protocolInfo)),
        property("IDm", "ay", .bytes(known.idm)),
        property("PMm", "ay", .bytes(known.pmm)),
        property("SystemCode", "q", .uint16(known.systemCode ?? 0)),
        property("SelectedApplication", "ay", .bytes(selected ?? [])),
      ],
      limits: .tagMessage)
  }

  // MARK: Operations

  private func queryNDEF(_ id: UInt64, _ number: UInt64) async throws -> [Value] {
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

  private func readNDEF(_ id: UInt64, _ number: UInt64) async throws -> [Value] {
    switch try await operate(.read, id, number) {
    case .message(let message): return [.bytes(message)]
    case let other: throw Self.error(other)
    }
  }

  private func writeNDEF(_ id: UInt64, _ number: UInt64, _ message: [UInt8]) async throws -> [Value] {
    try requireWriting(id)
    guard message.count <= ReaderLimits.message else {
      throw BusError(
        name: Names.Errors.tooLong,
        message: "the message has \(message.count) bytes: at most \(ReaderLimits.message) are allowed")
    }
    if !message.isEmpty, (try? NDEFMessage(decoding: message)) == nil {
      throw BusError.invalidArgument("message is not an NDEF message")
    }
    let formats = core.state.sessions[id]?.request.formatsBlankTags ?? false
    return try await done(.write(message, verify: true, format: formats), id, number)
  }

  private func lock(_ id: UInt64, _ number: UInt64) async throws -> [Value] {
    try requireWriting(id)
    return try await done(.lock, id, number)
  }

  /// In milliseconds, if the client gives none.
  private static let defaultTimeout: UInt32 = 1000

  private func transceive(_ id: UInt64, _ number: UInt64, _ command: [UInt8], timeout: UInt32) async throws -> [Value] {
    let timeout = timeout == 0 ? Self.defaultTimeout : timeout
    guard ReaderOperation.timeouts.contains(timeout) else {
      throw BusError.invalidArgument("timeout_ms is \(timeout): use 1 to 5000, or 0 for the default")
    }
    try core.state.sessions[id]?.check(command, tag: number)
    let turn = core.state.sessions[id]?.select(number) ?? 0
    let result = try await operate(.transceive(command, timeout: timeout), id, number)
    let answer: [UInt8]? = if case .answer(let answer) = result { answer } else { nil }
    core.state.sessions[id]?.learn(answer, to: command, tag: number, turn: turn)
    guard let answer else { throw Self.error(result) }
    return [.bytes(answer)]
  }

  /// For a session with `first-read`, which ends if the tag has a message.
  func readFirst(_ id: UInt64, _ number: UInt64) async {
    guard let path = core.state.sessions[id]?.tags[number]?.path,
      case .message(let message)? = try? await operate(.read, id, number),
      core.state.sessions[id]?.isActive == true
    else { return }
    signals.send("MessageRead", [.objectPath(path), .bytes(message)], ofSession: id)
    core.handle(.firstRead(id))
  }

  private func requireWriting(_ id: UInt64) throws {
    guard core.state.sessions[id]?.request.mayWrite != true else { return }
    throw BusError.notAuthorized("the session may only read: start it with access “write”")
  }

  private func done(_ operation: ReaderOperation, _ id: UInt64, _ number: UInt64) async throws -> [Value] {
    switch try await operate(operation, id, number) {
    case .done: return []
    case let other: throw Self.error(other)
    }
  }

  /// There is always a result, even if the process ends.
  private func operate(
    _ operation: ReaderOperation, _ id: UInt64, _ number: UInt64
  ) async throws -> ReaderOperationResult {
    guard let session = core.state.sessions[id], session.isActive,
      let process = processes[session.reader]?.process
    else { throw BusError(name: Names.Errors.sessionEnded, message: "the reader session is over") }
    guard let tag = session.tags[number] else {
      throw BusError(name: Names.Errors.tagLost, message: "the tag was removed")
    }
    lastRequest += 1
    let request = lastRequest
    core.state.sessions[id]?.select(number)
    let result = await withCheckedContinuation { continuation in
      // Log the kind of operation only. Its data is private.
      core.log(.debug, "reader session \(id) is to \(operation.name) tag \(number)")
      operations[request] = Operation(
        session: id, tag: tag.path, reader: session.reader, continuation: continuation)
      process.assumeIsolated { $0.perform(operation, request: request, placement: tag.placement, session: id) }
    }
    if case .failed(let failure, _) = result { core.state.sessions[id]?.failed(failure, tag: number) }
    return result
  }

  func finish(_ request: UInt64, _ result: ReaderOperationResult) {
    operations.removeValue(forKey: request)?.continuation.resume(returning: result)
  }

  func progress(_ request: UInt64, _ bytes: UInt32) {
    guard let operation = operations[request] else { return }
    signals.send(
      "Progress", [.objectPath(operation.tag), .uint64(UInt64(bytes))], ofSession: operation.session)
  }

  /// The daemon ignores the process of the reader from here.
  func abandon(at reader: Int) {
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
  /// For the log.
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
