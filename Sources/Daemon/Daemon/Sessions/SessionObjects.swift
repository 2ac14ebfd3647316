import Bus
import EventLoop
import Glibc
import Journal
import Names
import ReaderProtocol

/// Starts and ends reader sessions, and reports their events to their clients. Only the client of a session sees its
/// object.
@DaemonLoop final class SessionObjects {
  private let core: DaemonCore
  private let authorization: Authorization
  private let processes: ReaderProcesses
  private let operations: TagOperations
  private let sheets: SessionSheets
  private let signals: SessionSignals
  /// By the bus names of clients.
  private var watches: [String: Task<Void, Never>] = [:]
  /// Of log lines, which clients can cause without limit.
  private var lines = LineBudget(most: 120)

  init(
    _ core: DaemonCore, _ authorization: Authorization, _ processes: ReaderProcesses, _ operations: TagOperations,
    _ sheets: SessionSheets
  ) {
    (self.core, self.authorization, self.processes) = (core, authorization, processes)
    (self.operations, self.sheets, signals) = (operations, sheets, SessionSignals(core: core))
  }

  /// The tasks that follow clients end, too.
  func stop() {
    operations.stop()
    for task in watches.values { task.cancel() }
  }

  func start(_ call: IncomingCall) async throws -> [Value] {
    guard let connection = core.connection, let options = call.arguments.first?.asDictionary else {
      throw BusError.invalidArguments("options are missing")
    }
    let request = try ReaderSessionRequest(options)
    let action = request.mayWrite ? Names.PolkitAction.writeTags : Names.PolkitAction.readTags
    let attempt = request.mayWrite ? "write tags" : "read tags"
    let credentials = try await authorization.authorize(call, action, to: attempt)
    let reader = try reader(for: request, of: credentials, attempt)
    try await watch(call.sender, connection)
    // The daemon may have changed its state during the calls. `evaluate` ends the session if it is no longer allowed.
    guard !core.isStopped, watches[call.sender] != nil, let path = core.state.readers[reader]?.path else {
      throw BusError.notPossible("the reader was removed")
    }
    let (session, actions) = try core.state.sessions.add(
      request, client: call.sender, uid: credentials.uid, pid: credentials.pid ?? 0, reader: reader,
      readerPath: path, at: .now)
    note("reader session \(session.id) of \(call.sender) (user \(session.uid)) waits for its reader")
    if !request.leftOut.isEmpty { note("reader session \(session.id) leaves out of \(request.leftOut)") }
    let exported = Result { try export(session, connection) }
    core.apply(core.state.perform(actions) + core.state.evaluate(at: .now))
    if case .failure = exported { core.handle(.invalidate(session.id, message: "")) }
    try exported.get()
    return [.objectPath(session.path)]
  }

  func readingAvailable(_ call: IncomingCall) async throws -> [Value] {
    guard let connection = core.connection else { throw BusError.disconnected() }
    let user = try await connection.credentials(of: call.sender).uid
    return [.boolean(core.state.isReadingAvailable(to: user))]
  }

  private func export(_ session: SessionRecord, _ connection: Connection) throws {
    let interface = interface(of: session)
    try connection.assumeIsolated { try $0.export([interface], at: session.path, for: session.client) }
  }

  private func reader(
    for request: ReaderSessionRequest, of credentials: PeerCredentials, _ attempt: String
  ) throws -> Int {
    let refusal = BusError.notAuthorized(
      "you may not \(attempt): user \(credentials.uid) has no active, unlocked session on the reader's seat")
    let reader: Int
    if let path = request.reader {
      guard let id = core.state.readers.number(at: path) else {
        throw BusError.notPossible("there is no reader \(path)")
      }
      reader = id
    } else {
      guard !core.state.readers.all.isEmpty else { throw BusError.notPossible("there is no reader: connect one") }
      guard let id = core.state.reader(for: credentials.uid, reading: request.technologies) else { throw refusal }
      reader = id
    }
    guard let status = core.state.readers[reader],
      core.state.seats.obstacle(to: credentials.uid, on: status.properties.seat) == nil
    else { throw refusal }
    guard status.isReady || status.isReleased else {
      let reason = status.properties.stateReason
      throw BusError.notPossible("the reader is not ready\(reason.isEmpty ? "" : ": \(reason)")")
    }
    guard status.canRead(some: request.technologies) else { throw BusError.cannotRead(request.technologies) }
    return reader
  }

  // MARK: The client

  /// Ends the client's sessions when the client leaves the bus.
  private func watch(_ client: String, _ connection: Connection) async throws {
    guard watches[client] == nil else { return }
    let owners = try await connection.owners(of: client)
    // Another call of the client may have come first.
    guard !core.isStopped, watches[client] == nil else { return }
    watches[client] = Task { [weak self] in
      for await owner in owners where owner == nil { break }
      self?.clientLeft(client)
    }
  }

  private func clientLeft(_ client: String) {
    watches[client] = nil
    guard !core.isStopped else { return }
    core.handle(.clientGone(sender: client))
  }

  func cancel(_ call: IncomingCall) throws -> [Value] {
    guard let path = call.arguments.first?.asObjectPath else { throw BusError.invalidArguments("session is missing") }
    // The same error for every other caller, so that it does not reveal whether the session exists.
    guard let session = core.state.sessions.session(at: path), session.agent?.sender == call.sender else {
      throw BusError.notAuthorized("only the agent that shows a reader session can cancel it")
    }
    core.handle(.cancelSession(session.id))
    return []
  }

  // MARK: Events

  func perform(_ action: ReaderSessions.Action) {
    switch action {
    case .begin, .release: break  // They are the reader's goal.
    case .activated(let id): activated(id)
    case .found(let id, let tag): found(id, tag)
    case .gone(let id, let path):
      core.connection?.assumeIsolated { $0.unexport(path) }
      signals.send("TagRemoved", [.objectPath(path)], ofSession: id)
    case .roundEnded(let id): signals.send("RoundEnded", ofSession: id)
    case .pollingRestarted(let id): signals.send("PollingRestarted", ofSession: id)
    case .ended(let session): ended(session)
    case .forgotten(let path): core.connection?.assumeIsolated { $0.unexport(path) }
    }
  }

  private func activated(_ id: UInt64) {
    guard let session = core.state.sessions[id] else { return }
    note("reader session \(id) has the reader")
    signals.send("Activated", ofSession: id)
    signals.sendChanges(of: ["State", "Deadline"], of: session)
    sheets.show(session)
  }

  private func found(_ id: UInt64, _ number: UInt64) {
    guard let session = core.state.sessions[id], let tag = session.tags[number] else { return }
    do {
      let interface = operations.interface(of: session, number, tag)
      try core.connection?.assumeIsolated { try $0.export([interface], at: tag.path, for: session.client) }
    } catch {
      core.log(.warning, "cannot export a tag of reader session \(id): \(error)")
    }
    signals.send("TagDetected", [.objectPath(tag.path)], ofSession: id)
    guard session.request.isFirstRead else { return }
    Task { await operations.readFirst(id, number) }
  }

  private func ended(_ session: SessionRecord) {
    note("reader session \(session.id) is over: \(session.end?.rawValue ?? "client-gone")")
    sheets.close(session)
    guard let reason = session.end else { return }
    signals.send("Ended", [.string(reason.rawValue), .string(session.endMessage)], of: session)
    signals.sendChanges(of: ["State", "Deadline", "EndReason"], of: session)
  }

  /// Within a limit, because clients may start and end sessions very fast.
  private func note(_ line: String) {
    switch lines.line(at: .now) {
    case .write: core.log(.info, line)
    case .announce: core.log(.notice, "too many lines about reader sessions: the rest of this minute is omitted")
    case .leaveOut: core.log(.debug, line)
    }
  }

  // MARK: On the bus

  private func interface(of session: SessionRecord) -> ExportedInterface {
    let id = session.id
    func property(
      _ name: String, _ signature: Signature, emits: ExportedProperty.ChangeSignal = .changed,
      _ read: @escaping @Sendable (SessionRecord?) -> Value
    ) -> ExportedProperty {
      ExportedProperty(name, signature, emits: emits) { [weak self] _ in read(await self?.core.state.sessions[id]) }
    }
    let path = session.readerPath
    return ExportedInterface(
      Names.Daemon.readerSessionInterface,
      methods: [
        ExportedMethod("Invalidate", in: [Argument("error_message", "s")], self) { try $0.invalidate(id, $1) },
        ExportedMethod("RestartPolling", self) { part, _ in try part.restartPolling(id, [:]) },
        ExportedMethod("RestartPollingWithOptions", in: [Argument("options", "a{sv}")], self) { part, call in
          guard let options = call.arguments.first?.asDictionary else {
            throw BusError.invalidArguments("options are missing")
          }
          return try part.restartPolling(id, options)
        },
      ],
      properties: [
        property("State", "s") { .string($0?.stateName ?? "ended") },
        ExportedProperty("Message", "s") { [weak self] _ in
          .string(await self?.core.state.sessions[id]?.message ?? "")
        } set: { [weak self] value, _ in
          try await self?.setMessage(value.asString ?? "", of: id)
        },
        property("Reader", "o", emits: .const) { _ in .objectPath(path) },
        property("Deadline", "t") { .uint64($0?.deadline.map(Self.microseconds) ?? 0) },
        property("EndReason", "s") { .string($0?.end?.rawValue ?? "") },
      ],
      signals: [
        ExportedSignal("Activated"), ExportedSignal("TagDetected", [Argument("tag", "o")]),
        ExportedSignal("TagRemoved", [Argument("tag", "o")]), ExportedSignal("RoundEnded"),
        ExportedSignal("PollingRestarted"),
        ExportedSignal("MessageRead", [Argument("tag", "o"), Argument("message", "ay")]),
        ExportedSignal("Progress", [Argument("tag", "o"), Argument("bytes", "t")]),
        ExportedSignal("Ended", [Argument("reason", "s"), Argument("message", "s")]),
      ])
  }

  /// Of CLOCK_MONOTONIC. Neither clock advances during suspend.
  private nonisolated static func microseconds(_ instant: SessionRecord.Instant) -> UInt64 {
    let left = SuspendingClock.now.duration(to: instant) / .microseconds(1)
    return UInt64(clamping: SystemClock.monotonic / 1000 + Int64(left))
  }

  private func invalidate(_ id: UInt64, _ call: IncomingCall) throws -> [Value] {
    let message = call.arguments.first?.asString ?? ""
    try ReaderSessionRequest.check(message, "error_message")
    core.handle(.invalidate(id, message: message))
    return []
  }

  private func restartPolling(_ id: UInt64, _ options: [String: Value]) throws -> [Value] {
    if let session = core.state.sessions[id], let reader = core.state.readers[session.reader] {
      let technologies = try session.request.limited(by: options).technologies
      guard reader.canRead(some: technologies) else { throw BusError.cannotRead(technologies) }
    }
    switch try core.state.sessions[id]?.planRestart(options, at: .now) {
    case nil: break
    case .zero?: restartNow(id)
    case let delay?: DaemonLoop.schedule(after: delay) { [weak self] in self?.restartNow(id) }
    }
    return []
  }

  private func restartNow(_ id: UInt64) {
    guard let session = core.state.sessions[id], session.isActive, let reader = core.state.readers[session.reader]
    else { return }
    let options = session.options.limited(to: reader)
    processes[session.reader]?.process.assumeIsolated { $0.restartPolling(options) }
  }

  private func setMessage(_ message: String, of id: UInt64) throws {
    try ReaderSessionRequest.check(message, "Message")
    guard var session = core.state.sessions[id], session.isOpen else {
      throw BusError.notPossible("the session is over")
    }
    guard session.message != message else { return }
    session.message = message
    core.state.sessions[id] = session
    signals.sendChanges(of: ["Message"], of: session)
    sheets.update(session)
  }
}
