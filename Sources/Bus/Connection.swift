public import EventLoop

/// A connection to a message bus that comes back by itself when the bus does.
///
/// All of it, libdbus included, runs on one event loop. Nothing here blocks.
///
/// After the connection is lost, calls fail with `BusError.disconnected` until it is back; it is looked for after 50 ms,
/// then with doubling delays of up to 5 s. What was set up stays set up: exported objects answer again, the matches of
/// `signals` and `owners` are added again, names are requested again with the same flags, in this order, before
/// `states()` says `connected`. What passed on the bus in between is gone, so a user of signals re-reads the state they
/// describe when `states()` or `ReceivedSignal.missed` says so.
///
/// `close()` ends it; so does letting go of the last reference. A task that waits in `call` keeps it.
public actor Connection {
  /// The loop that everything runs on.
  public nonisolated let loop: EventLoop
  /// The loop.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  /// Where the bus listens.
  public nonisolated let address: BusAddress

  // The socket (Connection+Lifecycle).
  var phase = Phase.idle
  var native: NativeConnection?
  /// Counts attempts to connect. What was started for an older one has no say any more.
  var generation: UInt64 = 0
  var delay = ReconnectionDelay()
  var connectedSince: ContinuousClock.Instant?
  var opening: CheckedContinuation<Result<Void, BusError>, Never>?
  var lifecycleTimer: LoopTimer?
  var isDrainScheduled = false
  var stateWatchers: [UInt64: AsyncStream<ConnectionState>.Continuation] = [:]

  // Calls of ours (Connection+Calls).
  var lastToken: UInt64 = 0
  var pending: [UInt32: PendingCall] = [:]
  var serials: [UInt64: UInt32] = [:]

  // What others say (Connection+Signals, Connection+Names).
  var subscriptions: [UInt64: SignalSubscription] = [:]
  var trackers: [String: NameTracker] = [:]
  var requestedNames: [(name: String, flags: UInt32)] = []

  // Objects of ours (Connection+Objects, Connection+IncomingCalls).
  var objects = ExportedObjects()
  var incoming = IncomingCalls()

  enum Phase: Equatable {
    case idle
    /// Another thread connects the socket.
    case connecting
    /// Authentication and Hello are on their way.
    case greeting
    case ready(uniqueName: String)
    /// Until the next attempt.
    case waiting
    case closed(BusError)
  }

  private init(_ address: BusAddress, on loop: EventLoop) {
    self.address = address
    self.loop = loop
  }

  isolated deinit {
    close()
  }

  /// Connects, authenticates and says Hello.
  ///
  /// - Parameters:
  ///   - address: where the bus listens.
  ///   - loop: the loop that everything runs on from here on.
  /// - Returns: a connection that is up.
  /// - Throws: `BusError` where the bus cannot be reached, does not let us in, or does not answer within 25 s. There is no
  ///   second attempt: whether to wait for a bus that was never there is the caller's decision.
  public static func open(_ address: BusAddress, on loop: EventLoop) async throws(BusError) -> Connection {
    let connection = Connection(address, on: loop)
    try await connection.openFirst()
    return connection
  }

  /// Our unique name, `:1.42` say, while connected.
  public var uniqueName: String? {
    if case .ready(let name) = phase { name } else { nil }
  }

  /// A number that no other of this connection's registrations has.
  func makeToken() -> UInt64 {
    lastToken += 1
    return lastToken
  }

  /// Runs `body` in this actor on the loop, after what is going on there now; from any thread.
  nonisolated func enqueue(_ body: @escaping @Sendable (isolated Connection) -> Void) {
    loop.execute { [weak self] in self?.assumeIsolated(body) }
  }
}

/// Whether the bus can be talked to.
public enum ConnectionState: Sendable, Hashable {
  /// It can.
  case connected(uniqueName: String)
  /// It cannot, now.
  case disconnected
}
