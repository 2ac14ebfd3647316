internal import EventLoop

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
      self?.assumeIsolated { $0.greet(result, generation) }
    }
  }

  private func greet(_ result: Result<OpenedConnection, BusError>, _ generation: UInt64) {
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
