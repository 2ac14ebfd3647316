public import Bus
import EventLoop
public import ScanGate

/// Follows logind (or elogind, which offers the same interface) on the system bus.
///
/// Signals are taken in as they come; what a signal does not tell (`State` never comes in one) is read. A reading that a
/// signal overtook is thrown away and done again, so that a stale "unlocked" never covers a fresh "locked".
public actor LoginMonitor {
  private static let name = "org.freedesktop.login1"
  private static let managerPath: ObjectPath = "/org/freedesktop/login1"
  private static let managerInterface = "org.freedesktop.login1.Manager"
  private static let sessionInterface = "org.freedesktop.login1.Session"
  private static let propertiesInterface = "org.freedesktop.DBus.Properties"

  /// The state after each change, the newest only; for one consumer.
  public nonisolated let states: AsyncStream<LoginState>
  /// What is known now.
  public private(set) var state = LoginState()
  /// The loop of the connection.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  private let loop: EventLoop
  private let connection: Connection
  private let timeout: Duration
  private let continuation: AsyncStream<LoginState>.Continuation
  private var tasks: [Task<Void, Never>] = []
  /// How many signals there were, a session: a reading is of no worth where this moved meanwhile.
  private var signalCounts: [ObjectPath: Int] = [:]
  private var isPresent = false
  /// Counts the logind processes that were seen: what was asked of an earlier one has no say any more.
  private var generation = 0
  private var isAskingAgain = false

  /// - Parameters:
  ///   - connection: to the system bus.
  ///   - timeout: how long logind may take to answer before it is asked again.
  public init(_ connection: Connection, timeout: Duration = .seconds(5)) {
    self.connection = connection
    self.timeout = timeout
    loop = connection.loop
    (states, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// Begins to follow logind; where there is none, waits for one.
  ///
  /// - Throws: `BusError` where the bus takes no match, or the connection is closed.
  public func start() async throws(BusError) {
    let manager = try await connection.signals(
      MatchRule(sender: Self.name, path: Self.managerPath, interface: Self.managerInterface))
    let properties = try await connection.signals(
      MatchRule(
        sender: Self.name, pathNamespace: "/org/freedesktop/login1/session", interface: Self.propertiesInterface,
        member: "PropertiesChanged"))
    let owners = try await connection.owners(of: Self.name)
    tasks = [
      Task { for await signal in manager { receiveManagerSignal(signal) } },
      Task { for await signal in properties { receivePropertiesChanged(signal) } },
      Task { for await owner in owners { receiveOwner(owner) } },
    ]
    // elogind is started by the bus for whoever asks first.
    tasks.append(Task { await synchronize() })
  }

  /// Ends following, and the stream of states.
  public func stop() {
    for task in tasks { task.cancel() }
    tasks = []
    continuation.finish()
  }

  /// Takes in what the agent of a session says about its lock.
  ///
  /// - Parameters:
  ///   - id: the session's id.
  ///   - locked: unknown where the agent left or cannot tell.
  public func report(_ id: String, locked: Fact) { apply(.reported(id: id, locked: locked)) }

  /// Reads everything again, and answers when that is done or logind does not answer.
  ///
  /// - Returns: the state then.
  public func refresh() async -> LoginState {
    await synchronize()
    return state
  }

  private func apply(_ event: LoginState.Event) {
    let before = state
    state.handle(event)
    if state != before { continuation.yield(state) }
  }

  private func receiveOwner(_ owner: String?) {
    let wasPresent = isPresent
    isPresent = owner != nil
    generation += 1
    if wasPresent { apply(.logindGone) }
    if owner != nil { read { await $0.synchronize() } }
  }

  private func receiveManagerSignal(_ signal: ReceivedSignal) {
    if signal.missed > 0 { read { await $0.synchronize() } }
    switch signal.member {
    case "SessionNew":
      guard let path = signal.arguments.dropFirst().first?.asObjectPath else { return }
      read { await $0.readSession(path) }
    case "SessionRemoved":
      guard let path = signal.arguments.dropFirst().first?.asObjectPath else { return }
      signalCounts[path] = nil
      apply(.removed(path))
    case "PrepareForSleep":
      guard let sleeping = signal.arguments.first?.asBool else { return }
      apply(.sleeping(sleeping))
    default: break
    }
  }

  private func receivePropertiesChanged(_ signal: ReceivedSignal) {
    guard signal.arguments.first?.asString == Self.sessionInterface,
      let changed = signal.arguments.dropFirst().first?.asDictionary
    else { return }
    signalCounts[signal.path, default: 0] += 1
    apply(.changed(signal.path, changed))
    if signal.missed > 0 {
      read { await $0.synchronize() }
    } else {
      let path = signal.path
      read { await $0.readSession(path) }
    }
  }

  /// Reads outside the loops that take signals in, which must not wait.
  private func read(_ body: @escaping @Sendable (LoginMonitor) async -> Void) {
    Task { [weak self] in
      guard let self else { return }
      await body(self)
    }
  }

  private func synchronize() async {
    let asked = generation
    do throws(BusError) {
      let reply = try await connection.call(
        Self.name, Self.managerPath, Self.managerInterface, "ListSessions", timeout: timeout)
      let paths = reply.first?.asArray?.compactMap { $0.asStructure?.last?.asObjectPath } ?? []
      guard asked == generation else { return }
      apply(.listed(paths))
      for path in paths { await readSession(path) }
      await readSleep()
      if asked == generation { apply(.synchronized) }
    } catch {
      // There is no logind, or it has just left: its return is seen as a new owner of the name.
      askAgain(after: error)
    }
  }

  private func readSession(_ path: ObjectPath) async {
    // Signals come in bursts when a user switches; one that overtakes every reading is one that goes on talking.
    for _ in 0..<8 {
      let count = signalCounts[path]
      guard let properties = await properties(of: path, Self.sessionInterface) else { return }
      if signalCounts[path] == count {
        apply(.read(path, properties))
        return
      }
    }
  }

  private func readSleep() async {
    guard let properties = await properties(of: Self.managerPath, Self.managerInterface) else { return }
    if let sleeping = properties["PreparingForSleep"]?.asBool { apply(.sleeping(sleeping)) }
  }

  private func properties(of path: ObjectPath, _ interface: String) async -> [String: Value]? {
    do throws(BusError) {
      let reply = try await connection.call(
        Self.name, path, Self.propertiesInterface, "GetAll", [.string(interface)], timeout: timeout)
      return reply.first?.asDictionary
    } catch {
      askAgain(after: error)
      return nil
    }
  }

  /// A logind that is there but slow, on a machine that is just waking up say, gives no signal once it has time again.
  private func askAgain(after error: BusError) {
    guard error.name == BusError.Name.timeout, isPresent, !isAskingAgain else { return }
    isAskingAgain = true
    read { await $0.synchronizeAgain() }
  }

  private func synchronizeAgain() async {
    isAskingAgain = false
    await synchronize()
  }
}
