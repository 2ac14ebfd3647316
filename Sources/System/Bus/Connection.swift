internal import CDBus
public import EventLoop
internal import Glibc

/// A connection to a message bus that reconnects when the bus returns.
///
/// Everything, libdbus included, runs on one event loop. No method blocks.
///
/// After the connection is lost, calls fail with `BusError.disconnected` until it is restored. The first attempt
/// follows after 50 ms, later ones after doubling delays of up to 5 s. Before `states()` yields `connected`, the
/// connection adds the matches of `owners` and `signals` again. Then it requests its names again, with the same flags.
/// Exported objects stay exported.
///
/// Signals that are sent while the connection is down are lost. So a reader of signals re-reads the state they describe
/// if `states()` or `ReceivedSignal.missed` shows a gap.
///
/// `close()` ends the connection, and so does releasing the last reference. A task that waits in `call` keeps a
/// reference.
public actor Connection {
  /// The loop that everything runs on.
  public nonisolated let loop: EventLoop
  /// The loop, as the executor of this actor.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  /// Where the bus listens.
  public nonisolated let address: BusAddress

  // The socket (Connection+Lifecycle).
  var phase = Phase.idle
  var native: NativeConnection?
  /// Counts connection attempts. Callbacks of an earlier attempt are ignored.
  var generation: UInt64 = 0
  var delay = Backoff(from: .milliseconds(50), to: .seconds(5))
  var connectedSince: ContinuousClock.Instant?
  var opening: CheckedContinuation<Result<Void, BusError>, Never>?
  var lifecycleTimer: LoopTimer?
  var isDrainScheduled = false
  var stateWatchers: [UInt64: AsyncStream<ConnectionState>.Continuation] = [:]

  // Outgoing calls (Connection+Calls).
  var lastToken: UInt64 = 0
  var pending: [UInt32: PendingCall] = [:]
  var serials: [UInt64: UInt32] = [:]

  // Signals and bus names (Connection+Signals, NameTracking, Connection+Names).
  var subscriptions: [UInt64: SignalSubscription] = [:]
  var trackers: [String: NameTracker] = [:]
  var requestedNames: [String] = []

  // Exported objects (Connection+Objects, Connection+IncomingCalls).
  var objects = ExportedObjects()
  var incoming = IncomingCalls()

  enum Phase: Equatable {
    /// Before the first attempt. Can transition to: `.connecting`, `.closed`.
    case idle
    /// Another thread connects the socket. Can transition to: `.greeting`, `.waiting`, `.closed`.
    case connecting
    /// The socket is connected; authentication and Hello are in progress. Can transition to: `.ready`, `.waiting`,
    /// `.closed`.
    case greeting
    /// The bus has replied to Hello. Can transition to: `.waiting`, `.closed`.
    case ready(uniqueName: String)
    /// The connection is down, and a timer starts the next attempt. Can transition to: `.connecting`, `.closed`.
    case waiting
    /// Closed for good. Final.
    case closed(BusError)
  }

  private init(_ address: BusAddress, on loop: EventLoop) {
    self.address = address
    self.loop = loop
  }

  isolated deinit {
    close()
  }

  /// Connects, authenticates and completes Hello.
  ///
  /// - Parameters:
  ///   - address: where the bus listens.
  ///   - loop: the loop that the connection runs on.
  /// - Returns: a connection that is ready for calls.
  /// - Throws: `BusError` if the bus cannot be reached, rejects us, or does not answer within 25 s. There is no second
  ///   attempt: the caller decides whether to wait for a bus that was never there.
  public static func open(_ address: BusAddress, on loop: EventLoop) async throws(BusError) -> Connection {
    let connection = Connection(address, on: loop)
    try await connection.openFirst()
    return connection
  }

  /// Our unique name, for example `:1.42`; nil while disconnected.
  public var uniqueName: String? {
    if case .ready(let name) = phase { name } else { nil }
  }

  /// A number that no other registration of this connection has.
  func makeToken() -> UInt64 {
    lastToken += 1
    return lastToken
  }

  /// Runs `body` in this actor on the loop, after the work that is already queued. Can be called from any thread.
  nonisolated func enqueue(_ body: @escaping @Sendable (isolated Connection) -> Void) {
    loop.execute { [weak self] in self?.assumeIsolated(body) }
  }
}

/// Whether the connection to the bus is up.
public enum ConnectionState: Sendable, Hashable {
  /// It is up.
  case connected(uniqueName: String)
  /// It is down.
  case disconnected
}

extension Connection {
  private static let greetingTimeout = Duration.seconds(25)
  private static let messagesInARow = 64

  /// The current state, then each change. The stream ends when the connection is closed.
  ///
  /// A slow reader may miss intermediate states, but never the last one.
  public nonisolated func states() -> AsyncStream<ConnectionState> {
    let (stream, continuation) = AsyncStream.makeStream(of: ConnectionState.self, bufferingPolicy: .bufferingNewest(8))
    loop.execute { [weak self] in
      guard let self else { return continuation.finish() }
      self.assumeIsolated { $0.addStateWatcher(continuation) }
    }
    return stream
  }

  private func addStateWatcher(_ continuation: AsyncStream<ConnectionState>.Continuation) {
    continuation.yield(state)
    if case .closed = phase { return continuation.finish() }
    let token = makeToken()
    stateWatchers[token] = continuation
    continuation.onTermination = { [weak self] _ in self?.enqueue { $0.stateWatchers[token] = nil } }
  }

  private var state: ConnectionState {
    if case .ready(let name) = phase { .connected(uniqueName: name) } else { .disconnected }
  }

  private func announceState() {
    for watcher in stateWatchers.values { watcher.yield(state) }
  }

  func openFirst() async throws(BusError) {
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        opening = continuation
        connect()
      }
    } onCancel: {
      enqueue { $0.end(.cancelled("opening the connection to the bus was given up")) }
    }
    try result.get()
  }

  /// Closes the connection for good: calls fail, streams end, exported objects are removed. A second call has no
  /// effect.
  ///
  /// Data that the socket has not accepted yet is not sent.
  public func close() {
    end(.disconnected("the connection to the bus has been closed"))
  }

  private func connect() {
    generation += 1
    phase = .connecting
    let generation = generation
    // One time-out covers the whole greeting. Otherwise a bus that accepts the connection and never replies would block
    // us forever.
    lifecycleTimer = loop.schedule(after: Self.greetingTimeout) { [weak self] in
      self?.assumeIsolated { $0.lost(generation, .timedOut("the bus at \($0.address) did not answer in time")) }
    }
    OpenedConnection.open(address, thenOn: loop) { [weak self] result in
      self?.assumeIsolated { $0.finishOpening(result, generation) }
    }
  }

  private func finishOpening(_ result: Result<OpenedConnection, BusError>, _ generation: UInt64) {
    guard generation == self.generation, phase == .connecting else { return }
    do throws(BusError) {
      native = try NativeConnection(
        adopting: result.get(), on: loop,
        onReady: { [weak self] descriptor in self?.assumeIsolated { $0.ready(generation, descriptor) } },
        onMessages: { [weak self] in self?.assumeIsolated { $0.scheduleDrain() } })
      phase = .greeting
      let hello = try Message.call(Bus.name, Bus.path, Bus.interface, "Hello", body: [])
      try send(hello, expecting: .hello, from: Bus.name, timeout: nil)
    } catch {
      lost(generation, error)
    }
  }

  /// Handles the reply to Hello, which contains our unique name.
  func helloAnswered(_ result: Result<[Value], BusError>) {
    guard phase == .greeting, let native else { return }
    do throws(BusError) {
      guard let name = try result.get().first?.asString else { throw .failed("the bus at \(address) gave us no name") }
      native.setUniqueName(name)
      lifecycleTimer?.cancel()
      connectedSince = .now
      phase = .ready(uniqueName: name)
      try restoreMatches()
      try restoreNames()
      announceState()
      opening?.resume(returning: .success(()))
      opening = nil
    } catch {
      lost(generation, error)
    }
  }

  private func ready(_ generation: UInt64, _ descriptor: Int32) {
    guard generation == self.generation, let native else { return }
    native.handle(descriptor)
    drain()
  }

  /// Reads the messages later, because libdbus reports them in the middle of another call and must not be re-entered
  /// now.
  private func scheduleDrain() {
    guard !isDrainScheduled else { return }
    isDrainScheduled = true
    enqueue { connection in
      connection.isDrainScheduled = false
      connection.drain()
    }
  }

  private func drain() {
    let generation = generation
    for _ in 0..<Self.messagesInARow {
      guard generation == self.generation, let native else { return }
      guard let message = native.pop() else {
        if !native.isConnected { lost(generation, .disconnected("the bus at \(address) closed the connection")) }
        return
      }
      receive(message)
    }
    // Other work on the loop runs before the rest is read.
    scheduleDrain()
  }

  private func receive(_ message: borrowing Message) {
    switch message.kind {
    case .reply, .error: receiveReply(message)
    case .signal: if !message.carriesDescriptors { receiveSignal(message) }
    case .call: receiveCall(message)
    case .other: break
    }
  }

  /// Handles the loss of the connection of `generation`. Ignored if a later attempt has started.
  func lost(_ generation: UInt64, _ reason: BusError) {
    guard generation == self.generation else { return }
    switch phase {
    case .connecting, .greeting, .ready: break
    case .idle, .waiting, .closed: return
    }
    // The first attempt belongs to the caller of `open`, who decides whether to retry.
    guard opening == nil else { return end(reason) }
    let wasReady = state != .disconnected
    tearDown(.waiting, reason)
    if let connectedSince { delay.succeeded(for: .now - connectedSince) }
    connectedSince = nil
    if wasReady {
      forgetOwners()
      announceState()
    }
    lifecycleTimer = loop.schedule(after: delay.next()) { [weak self] in
      self?.assumeIsolated { if $0.phase == .waiting { $0.connect() } }
    }
  }

  private func end(_ reason: BusError) {
    if case .closed = phase { return }
    tearDown(.closed(reason), reason)
    announceState()
    for watcher in stateWatchers.values { watcher.finish() }
    stateWatchers = [:]
    endSignals()
    endTracking()
    objects = ExportedObjects()
    incoming.cancelAll()
    opening?.resume(returning: .failure(reason))
    opening = nil
  }

  private func tearDown(_ next: Phase, _ reason: BusError) {
    generation += 1
    phase = next
    lifecycleTimer?.cancel()
    native?.close()
    native = nil
    failPending(reason)
    incoming.forgetPeers()
  }
}

/// The bus itself as a peer ("Message Bus Messages" in the specification).
enum Bus {
  static let name = "org.freedesktop.DBus"
  static let path: ObjectPath = "/org/freedesktop/DBus"
  static let interface = "org.freedesktop.DBus"
}

/// Where a bus listens ("Server Addresses" in the D-Bus specification).
public struct BusAddress: Sendable, Hashable, CustomStringConvertible {
  /// The address as text, for example `unix:path=/run/user/1000/bus`.
  public let string: String

  /// - Parameter string: an address. It is checked only when a connection is opened.
  public init(_ string: String) {
    self.string = string
  }

  /// The text itself.
  public var description: String { string }

  /// The system bus: `DBUS_SYSTEM_BUS_ADDRESS`, by default the well-known socket.
  public static var system: BusAddress {
    BusAddress(environment("DBUS_SYSTEM_BUS_ADDRESS") ?? "unix:path=/var/run/dbus/system_bus_socket")
  }

  /// The session bus: `DBUS_SESSION_BUS_ADDRESS`, by default the user bus in `$XDG_RUNTIME_DIR`, or in the directory
  /// that systemd uses for it.
  public static var session: BusAddress {
    if let address = environment("DBUS_SESSION_BUS_ADDRESS") { return BusAddress(address) }
    return socket((environment("XDG_RUNTIME_DIR") ?? "/run/user/\(getuid())") + "/bus")
  }

  /// The bus that listens on the socket at `path`.
  public static func socket(_ path: String) -> BusAddress {
    guard let escaped = dbus_address_escape_value(path) else { return BusAddress("unix:path=\(path)") }
    defer { dbus_free(escaped) }
    return BusAddress("unix:path=\(String(cString: escaped))")
  }

  private static func environment(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return String(cString: value)
  }
}
