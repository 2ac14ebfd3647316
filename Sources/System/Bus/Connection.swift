public import EventLoop

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
