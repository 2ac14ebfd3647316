public import Bus
public import EventLoop
import ScanGate

/// Follows what only the user's session knows: screen savers, the power of displays, GNOME's airplane mode, cameras.
public actor DesktopMonitor {
  /// What is followed, and where.
  public struct Options: Sendable {
    /// Where devices, their state and the processes are.
    public var directories: SystemDirectories
    /// Whether cameras are followed.
    public var followsCameras = false
    /// From one look at the displays' connectors to the next.
    public var connectorInterval = Duration.seconds(1)
    /// How long a peer may take to answer.
    public var timeout = Duration.seconds(5)

    /// The defaults, with the directories of the process's environment.
    public init(directories: SystemDirectories = SystemDirectories()) { self.directories = directories }
  }

  /// The state after each change, the newest only; for one consumer.
  public nonisolated let states: AsyncStream<DesktopState>
  /// What is known now.
  public private(set) var state = DesktopState()
  /// The loop of the connection.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  private let loop: EventLoop
  private let connection: Connection
  private var options: Options
  private let continuation: AsyncStream<DesktopState>.Continuation
  private var peers: [PeerWatch] = []
  /// The peers of whom it is not known yet whether they are there, and if so what they say.
  private var unheard = Set(DesktopPeer.all)
  private var waiting: [CheckedContinuation<Void, Never>] = []
  private var isWanted = false
  /// nil as long as nobody needed it.
  private var connectors: ConnectorWatch?
  private var cameras: CameraWatch?
  /// How often cameras were begun to be followed, or no more: what an earlier watch still says counts no more.
  private var cameraTurns = 0

  /// - Parameters:
  ///   - connection: to the session bus.
  ///   - options: what is followed, and where.
  public init(_ connection: Connection, options: Options = Options()) {
    self.connection = connection
    self.options = options
    loop = connection.loop
    (states, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// Begins to follow.
  ///
  /// - Throws: `BusError` where the bus takes no match, or the connection is closed.
  public func start() async throws(BusError) {
    for peer in DesktopPeer.all {
      let watch = PeerWatch(peer.question, on: connection, timeout: options.timeout) { [weak self] event in
        self?.assumeIsolated { $0.hear(event, from: peer) }
      }
      peers.append(watch)
      try await watch.start()
    }
  }

  /// Begins to follow cameras, where the options say so.
  ///
  /// - Throws: `SystemError` where they cannot be followed; then it is not known whether one is in use, and
  ///   ``setFollowsCameras(_:)`` tries again.
  public func startCameras() async throws(SystemError) {
    guard options.followsCameras else { return }
    cameraTurns += 1
    let turn = cameraTurns
    let cameras = CameraWatch(options.directories) { [weak self, loop] fact in
      loop.execute { [weak self] in
        self?.assumeIsolated { if $0.cameraTurns == turn { $0.apply(.camera(fact)) } }
      }
    }
    self.cameras = cameras
    do throws(SystemError) {
      try await cameras.start()
    } catch {
      if cameraTurns == turn { (options.followsCameras, self.cameras) = (false, nil) }
      throw error
    }
  }

  /// Follows cameras from here on, or no more: then it is not known whether one is in use.
  ///
  /// - Parameter value: whether they are followed.
  /// - Throws: `SystemError` where they cannot be followed.
  public func setFollowsCameras(_ value: Bool) async throws(SystemError) {
    guard value != options.followsCameras else { return }
    options.followsCameras = value
    if value { return try await startCameras() }
    cameraTurns += 1
    cameras = nil
    apply(.camera(.unknown))
  }

  /// Ends following, and the stream of states.
  public func stop() async {
    for peer in peers { await peer.stop() }
    peers = []
    isWanted = false
    await followConnectors()
    cameras = nil
    resume()
    continuation.finish()
  }

  /// Waits until every peer that is there has said how it is, or has shown that it does not answer.
  ///
  /// - Parameter limit: how long at most.
  public func settle(within limit: Duration) async {
    guard !unheard.isEmpty else { return }
    let timer = loop.schedule(after: limit) { [weak self] in self?.assumeIsolated { $0.resume() } }
    await withCheckedContinuation { waiting.append($0) }
    timer.cancel()
  }

  /// Takes in whether anybody wants to know. What has to be looked at by the clock is looked at only then, and at once.
  ///
  /// - Parameter value: whether there is a daemon that is told, and for which it makes a difference.
  public func setWanted(_ value: Bool) async {
    isWanted = value
    await followConnectors()
  }

  /// Takes in the user's own word, for lockers that tell nobody.
  ///
  /// - Parameter locked: whether the session is locked.
  public func declare(locked: Bool) { apply(.declared(locked: locked)) }

  private func hear(_ event: PeerWatch.Event, from peer: DesktopPeer) {
    switch event {
    case .owner(let owner):
      apply(.owner(peer, owner))
      if owner == nil { unheard.remove(peer) }
    case .said(let fact, let sender):
      apply(.said(peer, fact, by: sender))
      unheard.remove(peer)
    }
    if unheard.isEmpty { resume() }
  }

  private func resume() {
    let waiters = waiting
    waiting = []
    for waiter in waiters { waiter.resume() }
  }

  private func apply(_ event: DesktopState.Event) {
    let before = state
    state.handle(event)
    guard state != before else { return }
    continuation.yield(state)
    Task { await followConnectors() }
  }

  private func followConnectors() async {
    let isNeeded = isWanted && state.needsConnectors
    if connectors == nil && isNeeded {
      let folder = "\(options.directories.kernel)/class/drm"
      connectors = ConnectorWatch(folder: folder, interval: options.connectorInterval) { [weak self, loop] fact in
        loop.execute { [weak self] in self?.assumeIsolated { $0.apply(.connectors(fact)) } }
      }
    }
    // What is needed may have changed while the other thread was waited for: the last word has to be the newest.
    await connectors?.setNeeded(isNeeded)
    let isStillNeeded = isWanted && state.needsConnectors
    if isStillNeeded != isNeeded { await followConnectors() }
  }
}
