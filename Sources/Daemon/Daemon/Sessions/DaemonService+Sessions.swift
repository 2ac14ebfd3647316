import Bus
import EventLoop
import Glibc
import Journal
import Names
import ReaderProtocol

/// Starts and ends reader sessions, and reports their events to their clients.
extension DaemonService {
  func startReaderSession(_ call: IncomingCall) async throws -> [Value] {
    guard let connection, let options = call.arguments.first?.asDictionary else {
      throw BusError.invalidArguments("options are missing")
    }
    let request = try ReaderSessionRequest(options)
    let action = request.mayWrite ? Names.PolkitAction.writeTags : Names.PolkitAction.readTags
    let attempt = request.mayWrite ? "write tags" : "read tags"
    let credentials = try await authorize(call, action, to: attempt)
    let reader = try reader(for: request, of: credentials, attempt)
    try await watch(call.sender, connection)
    // The daemon may have changed its state during the calls. `evaluate` ends the session if it is no longer allowed.
    guard !isStopped, clientWatches[call.sender] != nil, let path = state.readers[reader]?.path else {
      throw BusError.notPossible("the reader was removed")
    }
    let (session, actions) = try state.sessions.add(
      request, client: call.sender, uid: credentials.uid, pid: credentials.pid ?? 0, reader: reader,
      readerPath: path, at: .now)
    note("reader session \(session.id) of \(call.sender) (user \(session.uid)) waits for its reader")
    if !request.leftOut.isEmpty { note("reader session \(session.id) leaves out of \(request.leftOut)") }
    let exported = Result { try export(session, connection) }
    apply(state.perform(actions) + state.evaluate(at: .now))
    if case .failure = exported { handle(.invalidate(session.id, message: "")) }
    try exported.get()
    return [.objectPath(session.path)]
  }

  func readingAvailable(_ call: IncomingCall) async throws -> [Value] {
    guard let connection else { throw BusError.disconnected() }
    let user = try await connection.credentials(of: call.sender).uid
    return [.boolean(state.isReadingAvailable(to: user))]
  }

  private func export(_ session: SessionRecord, _ connection: Connection) throws {
    let interface = sessionInterface(session)
    try connection.assumeIsolated { try $0.export([interface], at: session.path, for: session.client) }
  }

  private func reader(
    for request: ReaderSessionRequest, of credentials: PeerCredentials, _ attempt: String
  ) throws -> Int {
    let refusal = BusError.notAuthorized(
      "you may not \(attempt): user \(credentials.uid) has no active, unlocked session on the reader's seat")
    let reader: Int
    if let path = request.reader {
      guard let id = state.reader(at: path), let seat = state.readers[id]?.properties.seat else {
        throw BusError.notPossible("there is no reader \(path)")
      }
      guard state.obstacle(to: credentials.uid, on: seat) == nil else { throw refusal }
      reader = id
    } else {
      guard let id = state.reader(for: credentials.uid, reading: request.technologies) else {
        guard state.readers.isEmpty else { throw refusal }
        throw BusError.notPossible("there is no reader: connect one")
      }
      reader = id
    }
    guard let status = state.readers[reader], status.isReady || status.isReleased else {
      let reason = state.readers[reader]?.properties.stateReason ?? ""
      throw BusError.notPossible("the reader is not ready\(reason.isEmpty ? "" : ": \(reason)")")
    }
    guard status.canRead(some: request.technologies) else { throw BusError.cannotRead(request.technologies) }
    return reader
  }

  /// The name of a client's program, for the sheet.
  func name(ofProcess pid: UInt32) -> String {
    guard pid > 0 else { return "" }
    let file = open("/proc/\(pid)/comm", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return "" }
    defer { Glibc.close(file) }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = read(file, &bytes, bytes.count)
    let text = String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
    return String(text.unicodeScalars.filter { $0.properties.generalCategory != .control }.map(Character.init))
  }

  // MARK: The client

  /// Ends the sessions of the client when it leaves the bus.
  private func watch(_ client: String, _ connection: Connection) async throws {
    guard clientWatches[client] == nil else { return }
    let owners = try await connection.owners(of: client)
    // Another call of the client may have come first.
    guard !isStopped, clientWatches[client] == nil else { return }
    clientWatches[client] = Task { [weak self] in
      for await owner in owners where owner == nil { break }
      await self?.clientLeft(client)
    }
  }

  private func clientLeft(_ client: String) {
    clientWatches[client] = nil
    guard !isStopped else { return }
    handle(.clientGone(sender: client))
  }

  func cancelReaderSession(_ call: IncomingCall) throws -> [Value] {
    guard let path = call.arguments.first?.asObjectPath else { throw BusError.invalidArguments("session is missing") }
    // The same error for every other caller, so that it does not reveal whether the session exists.
    guard let session = state.sessions.session(at: path), session.agent?.sender == call.sender else {
      throw BusError.notAuthorized("only the agent that shows a reader session can cancel it")
    }
    handle(.cancelSession(session.id))
    return []
  }

  // MARK: Events

  func perform(_ action: ReaderSessions.Action) {
    switch action {
    case .begin, .release: break  // They are the reader's goal.
    case .activated(let id): activated(id)
    case .found(let id, let tag): found(id, tag)
    case .gone(let id, let path):
      connection?.assumeIsolated { $0.unexport(path) }
      tell(id, "TagRemoved", [.objectPath(path)])
    case .roundEnded(let id): tell(id, "RoundEnded")
    case .pollingRestarted(let id): tell(id, "PollingRestarted")
    case .ended(let session): ended(session)
    case .forgotten(let path): connection?.assumeIsolated { $0.unexport(path) }
    }
  }

  private func activated(_ id: UInt64) {
    guard let session = state.sessions[id] else { return }
    note("reader session \(id) has the reader")
    tell(id, "Activated")
    changed(session, ["State", "Deadline"])
    show(session)
  }

  private func found(_ id: UInt64, _ number: UInt64) {
    guard let session = state.sessions[id], let tag = session.tags[number] else { return }
    do {
      let interface = tagInterface(session, number, tag)
      try connection?.assumeIsolated { try $0.export([interface], at: tag.path, for: session.client) }
    } catch {
      log(.warning, "cannot export a tag of reader session \(id): \(error)")
    }
    tell(id, "TagDetected", [.objectPath(tag.path)])
    guard session.request.isFirstRead else { return }
    Task { [weak self] in await self?.readFirst(id, number) }
  }

  private func ended(_ session: SessionRecord) {
    note("reader session \(session.id) is over: \(session.end?.rawValue ?? "client-gone")")
    close(session)
    guard let reason = session.end else { return }
    tell(session, "Ended", [.string(reason.rawValue), .string(session.endMessage)])
    changed(session, ["State", "Deadline", "EndReason"])
  }

  /// Logs a line, within a limit, because clients may start and end sessions very fast.
  private func note(_ line: String) {
    switch sessionLines.line(at: .now) {
    case .write: log(.info, line)
    case .announce: log(.notice, "too many lines about reader sessions: the rest of this minute is omitted")
    case .leaveOut: log(.debug, line)
    }
  }

  /// Sends a signal to the client of a session only.
  func tell(_ id: UInt64, _ member: String, _ arguments: [Value] = []) {
    guard let session = state.sessions[id] else { return }
    tell(session, member, arguments)
  }

  private func tell(_ session: SessionRecord, _ member: String, _ arguments: [Value]) {
    do {
      try connection?.assumeIsolated {
        try $0.emit(
          path: session.path, interface: Names.Daemon.readerSessionInterface, member: member, arguments,
          destination: session.client)
      }
    } catch {
      log(.debug, "cannot send \(member) of reader session \(session.id): \(error)")
    }
  }

  func changed(_ session: SessionRecord, _ names: [String]) {
    Task { await connection?.propertiesChanged(names, of: Names.Daemon.readerSessionInterface, at: session.path) }
  }
}

extension DaemonService {
  func sessionInterface(_ session: SessionRecord) -> ExportedInterface {
    let id = session.id
    func property(
      _ name: String, _ signature: Signature, emits: ExportedProperty.ChangeSignal = .changed,
      _ read: @escaping @Sendable (SessionRecord?) -> Value
    ) -> ExportedProperty {
      ExportedProperty(name, signature, emits: emits) { [weak self] _ in read(await self?.state.sessions[id]) }
    }
    let path = session.readerPath
    return ExportedInterface(
      Names.Daemon.readerSessionInterface,
      methods: [
        ExportedMethod("Invalidate", in: [Argument("error_message", "s")]) { [weak self] _, call in
          try await self?.invalidate(id, call) ?? []
        },
        ExportedMethod("RestartPolling") { [weak self] _, _ in try await self?.restartPolling(id, [:]) ?? [] },
        ExportedMethod("RestartPollingWithOptions", in: [Argument("options", "a{sv}")]) { [weak self] _, call in
          guard let options = call.arguments.first?.asDictionary else {
            throw BusError.invalidArguments("options are missing")
          }
          return try await self?.restartPolling(id, options) ?? []
        },
      ],
      properties: [
        property("State", "s") { .string($0?.stateName ?? "ended") },
        ExportedProperty("Message", "s") { [weak self] _ in
          .string(await self?.state.sessions[id]?.message ?? "")
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

  /// Converts to microseconds of CLOCK_MONOTONIC. Neither clock advances during suspend.
  private static func microseconds(_ instant: SessionRecord.Instant) -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    let now = Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    let left = SuspendingClock.now.duration(to: instant) / .microseconds(1)
    return UInt64(clamping: now + Int64(left))
  }

  private func invalidate(_ id: UInt64, _ call: IncomingCall) throws -> [Value] {
    let message = call.arguments.first?.asString ?? ""
    try ReaderSessionRequest.check(message, "error_message")
    handle(.invalidate(id, message: message))
    return []
  }

  private func restartPolling(_ id: UInt64, _ options: [String: Value]) throws -> [Value] {
    if let session = state.sessions[id], let reader = state.readers[session.reader] {
      let technologies = try session.request.limited(by: options).technologies
      guard reader.canRead(some: technologies) else { throw BusError.cannotRead(technologies) }
    }
    switch try state.sessions[id]?.planRestart(options, at: .now) {
    case nil: break
    case .zero?: restartNow(id)
    case let delay?: loop.schedule(after: delay) { [weak self] in self?.assumeIsolated { $0.restartNow(id) } }
    }
    return []
  }

  private func restartNow(_ id: UInt64) {
    guard let session = state.sessions[id], session.isActive, let reader = state.readers[session.reader] else { return }
    let options = session.options.limited(to: reader)
    units[session.reader]?.process.assumeIsolated { $0.restartPolling(options) }
  }

  private func setMessage(_ message: String, of id: UInt64) throws {
    try ReaderSessionRequest.check(message, "Message")
    guard var session = state.sessions[id], session.isOpen else { throw BusError.notPossible("the session is over") }
    guard session.message != message else { return }
    session.message = message
    state.sessions[id] = session
    changed(session, ["Message"])
    update(session)
  }

  func tagInterface(_ session: SessionRecord, _ number: UInt64, _ tag: SessionRecord.Tag) -> ExportedInterface {
    let id = session.id
    let known = tag.tag
    let selected = known.initialApplication.flatMap { index in
      session.request.applications.indices.contains(index) ? session.request.applications[index] : nil
    }
    func property(_ name: String, _ signature: Signature, _ value: Value) -> ExportedProperty {
      ExportedProperty(name, signature, emits: .const) { _ in value }
    }
    func method(
      _ name: String, in input: [Argument] = [], out output: [Argument] = [],
      _ body: @escaping @Sendable (isolated DaemonService, IncomingCall) async throws -> [Value]
    ) -> ExportedMethod {
      ExportedMethod(name, in: input, out: output) { [weak self] _, call in
        guard let self else { throw BusError.disconnected() }
        return try await body(self, call)
      }
    }
    return ExportedInterface(
      Names.Daemon.tagInterface,
      methods: [
        method("QueryNDEF", out: [Argument("status", "s"), Argument("capacity", "u")]) { service, _ in
          try await service.queryNDEF(id, number)
        },
        method("ReadNDEF", out: [Argument("message", "ay")]) { service, _ in try await service.readNDEF(id, number) },
        method("WriteNDEF", in: [Argument("message", "ay")]) { service, call in
          try await service.writeNDEF(id, number, call.arguments.first?.asBytes ?? [])
        },
        method("Lock") { service, _ in try await service.lock(id, number) },
        method(
          "Transceive", in: [Argument("command", "ay"), Argument("timeout_ms", "u")], out: [Argument("answer", "ay")]
        ) { service, call in
          try await service.transceive(
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
}

/// The sheet that the user's agent shows during a reader session. A session also works without an agent.
extension DaemonService {
  func show(_ session: SessionRecord) {
    guard let agent = state.agent(showing: session) else { return }
    state.sessions[session.id]?.agent = agent
    let options: [String: Value] = ["message": .string(session.message), "app": .string(name(ofProcess: session.pid))]
    call(agent, "ShowReaderSession", [.objectPath(session.path), .dictionary(options)])
  }

  /// Shows the active sessions to an agent that has just registered.
  func showSessions(to sender: String) {
    for session in state.sessions.open where session.isActive && session.agent?.sender != sender {
      if state.agent(showing: session)?.sender == sender { show(session) }
    }
  }

  func update(_ session: SessionRecord) {
    guard let agent = session.agent else { return }
    let options: [String: Value] = ["message": .string(session.message)]
    call(agent, "UpdateReaderSession", [.objectPath(session.path), .dictionary(options)])
  }

  func close(_ session: SessionRecord) {
    guard let agent = session.agent else { return }
    let outcome: String
    switch session.end {
    case .invalidated?: outcome = session.errorMessage.isEmpty ? "done" : "error"
    case .firstRead?: outcome = "done"
    case .timedOut?, .readerLost?: outcome = "error"
    case .cancelled?: outcome = "cancelled"
    default: outcome = "closed"
    }
    call(
      agent, "CloseReaderSession", [.objectPath(session.path), .string(outcome), .string(session.endMessage)])
  }
}
