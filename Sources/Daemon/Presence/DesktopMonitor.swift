package import Bus
package import EventLoop

/// Follows the conditions that only the user's session knows: screen savers, the power of displays, GNOME's airplane
/// mode, cameras.
package actor DesktopMonitor {
  package struct Options: Sendable {
    package var directories: SystemDirectories
    package var followsCameras = false
    /// Between two checks of the displays' connectors.
    package var connectorInterval = Duration.seconds(1)
    /// For the reply of a peer.
    package var timeout = Duration.seconds(5)

    /// With the directories of the process's environment.
    package init(directories: SystemDirectories = SystemDirectories()) { self.directories = directories }
  }

  /// After changes, the newest only, for one consumer.
  package nonisolated let states: AsyncStream<DesktopState>
  package private(set) var state = DesktopState()
  package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  private let loop: EventLoop
  private let connection: Connection
  private var options: Options
  private let continuation: AsyncStream<DesktopState>.Continuation
  private var peers: [PeerWatch] = []
  /// The peers that may still have to report: their owner is not known yet, or has not replied.
  private var unheard = Set(DesktopPeer.all)
  private var waiting: [CheckedContinuation<Void, Never>] = []
  private var isWanted = false
  /// Nil until it is needed for the first time.
  private var connectors: ConnectorWatch?
  private var cameras: CameraWatch?
  /// Counts starts and stops of the camera watch, so that reports of an earlier watch are ignored.
  private var cameraTurns = 0

  package init(_ connection: Connection, options: Options = Options()) {
    self.connection = connection
    self.options = options
    loop = connection.loop
    (states, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// Throws if the bus accepts no match rule, or the connection is closed.
  package func start() async throws(BusError) {
    for peer in DesktopPeer.all {
      let watch = PeerWatch(peer.question, on: connection, timeout: options.timeout) { [weak self] event in
        self?.assumeIsolated { $0.receive(event, from: peer) }
      }
      peers.append(watch)
      try await watch.start()
    }
  }

  /// Only if the options ask for it. After an error it is unknown whether a camera is in use, and
  /// ``setFollowsCameras(_:)`` tries again.
  package func startCameras() async throws(SystemError) {
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

  /// After a stop or an error it is unknown whether a camera is in use.
  package func setFollowsCameras(_ value: Bool) async throws(SystemError) {
    guard value != options.followsCameras else { return }
    options.followsCameras = value
    if value { return try await startCameras() }
    cameraTurns += 1
    cameras = nil
    apply(.camera(.unknown))
  }

  /// Ends the stream of states, too.
  package func stop() async {
    for peer in peers { await peer.stop() }
    peers = []
    isWanted = false
    await followConnectors()
    cameras = nil
    resume()
    continuation.finish()
  }

  /// Waits until each peer on the bus has reported its state, or has failed to reply.
  package func settle(within limit: Duration) async {
    guard !unheard.isEmpty else { return }
    let timer = loop.schedule(after: limit) { [weak self] in self?.assumeIsolated { $0.resume() } }
    await withCheckedContinuation { waiting.append($0) }
    timer.cancel()
  }

  /// A daemon receives the state, and depends on it. Conditions without signals are checked at intervals while this is
  /// so, and at once.
  package func setWanted(_ value: Bool) async {
    isWanted = value
    await followConnectors()
  }

  /// The user's own statement, for lockers that send no signals.
  package func declare(locked: Bool) { apply(.declared(locked: locked)) }

  private func receive(_ event: PeerWatch.Event, from peer: DesktopPeer) {
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
    // The need may have changed during the wait for the other thread. The last call must pass the newest value.
    await connectors?.setNeeded(isNeeded)
    let isStillNeeded = isWanted && state.needsConnectors
    if isStillNeeded != isNeeded { await followConnectors() }
  }
}
