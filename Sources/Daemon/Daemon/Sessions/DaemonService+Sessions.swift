import Bus
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
