package import Bus
import EventLoop

/// Follows logind (or elogind, which offers the same interface) on the system bus.
///
/// Signals take effect as they arrive. A property that no signal carries (`State`) is read; `SessionReadings` decides
/// when. Values from signals that arrive during a reading replace those of the reading, so that a stale "unlocked"
/// never covers a fresh "locked".
package actor LoginMonitor {
  private static let name = "org.freedesktop.login1"
  private static let managerPath: ObjectPath = "/org/freedesktop/login1"
  private static let managerInterface = "org.freedesktop.login1.Manager"
  private static let sessionInterface = "org.freedesktop.login1.Session"
  private static let propertiesInterface = "org.freedesktop.DBus.Properties"
  /// The pause between two readings of one session that keeps changing, and between two of everything. Each
  /// registration of a user without a session causes a reading of everything.
  private static let readingPause = Duration.milliseconds(100)

  /// The state after each change, for one consumer. No state is skipped: a session that was briefly in the foreground,
  /// or locked, still matters afterwards.
  package nonisolated let states: AsyncStream<LoginState>
  package private(set) var state = LoginState()
  package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  private let loop: EventLoop
  private let connection: Connection
  private let timeout: Duration
  private let continuation: AsyncStream<LoginState>.Continuation
  private var tasks: [Task<Void, Never>] = []
  private var readings = SessionReadings()
  /// The running readings of sessions, each with the newest values from signals since it began.
  private var underWay: [UInt64: (path: ObjectPath, changes: [String: Value])] = [:]
  private var lastReading: UInt64 = 0
  /// Counts the signals about the machine's sleep. A reading is discarded if one arrives meanwhile.
  private var sleepSignals = 0
  private var isPresent = false
  /// Counts the logind processes. Replies of an earlier process are ignored.
  private var generation = 0
  /// The running reading of everything, and the one after it. Requests during a reading share the next one, because the
  /// running one may already have passed the relevant session.
  private var reading: Task<Void, Never>?
  private var nextReading: Task<Void, Never>?
  /// When everything was last read; nil if logind has restarted since.
  private var lastReadingEnd: ContinuousClock.Instant?
  private var retryTimer: LoopTimer?
  private var retryPause = Backoff(from: .milliseconds(250), to: .seconds(30))
  private var isStopped = false

  /// `connection` is to the system bus. The monitor asks logind again if a reply takes longer than `timeout`.
  package init(_ connection: Connection, timeout: Duration = .seconds(5)) {
    self.connection = connection
    self.timeout = timeout
    loop = connection.loop
    (states, continuation) = AsyncStream.makeStream()
  }

  /// If there is no logind, waits for one. Throws if the bus accepts no match rule, or the connection is closed.
  package func start() async throws(BusError) {
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
    // The bus starts elogind for its first caller.
    readEverything()
  }

  /// Ends the stream of states, too.
  package func stop() {
    isStopped = true
    retryTimer?.cancel()
    reading?.cancel()
    nextReading?.cancel()
    for task in tasks { task.cancel() }
    tasks = []
    continuation.finish()
  }

  /// Unknown if the session's agent left or cannot tell.
  package func agentReported(_ id: String, locked: Fact) { apply(.reported(id: id, locked: locked)) }

  package func reporterGone(_ id: String) { apply(.reporterGone(id: id)) }

  /// The user's statement overrides all earlier reports.
  package func userUnlocked(_ id: String) { apply(.userUnlocked(id: id)) }

  /// Reads everything again. Returns when that is done, or when logind does not reply. Callers at the same time share
  /// one reading.
  package func refresh() async -> LoginState {
    // A reading is void if logind restarts meanwhile. Another one follows the restart.
    for _ in 0..<8 {
      let asked = generation
      await readEverything().value
      if asked == generation { break }
    }
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
    underWay = [:]
    perform(.ownerChanged)
    if wasPresent { apply(.logindGone) }
    retryTimer?.cancel()
    retryTimer = nil
    retryPause.reset()
    lastReadingEnd = nil
    if owner != nil { readEverything() }
  }

  private func receiveManagerSignal(_ signal: ReceivedSignal) {
    if signal.missed > 0 { readEverything() }
    switch signal.member {
    case "SessionNew":
      guard let path = signal.arguments.dropFirst().first?.asObjectPath else { return }
      apply(.announced(path))
      perform(.added(path))
    case "SessionRemoved":
      guard let path = signal.arguments.dropFirst().first?.asObjectPath else { return }
      underWay = underWay.filter { $0.value.path != path }
      perform(.removed(path))
      apply(.removed(path))
    case "PrepareForSleep":
      guard let sleeping = signal.arguments.first?.asBool else { return }
      sleepSignals += 1
      apply(.sleeping(sleeping))
    default: break
    }
  }

  private func receivePropertiesChanged(_ signal: ReceivedSignal) {
    if signal.missed > 0 { readAllAgain() }
    guard !readings.ignores(signal.path), signal.arguments.first?.asString == Self.sessionInterface,
      let changed = signal.arguments.dropFirst().first?.asDictionary
    else { return }
    for (number, reading) in underWay where reading.path == signal.path {
      underWay[number]?.changes.merge(changed) { $1 }
    }
    apply(.changed(signal.path, changed))
    perform(.changed(signal.path))
  }

  /// Reads every session again, because the lost signals may concern any of them. Values that arrived before the loss
  /// are older than the reading that is under way.
  private func readAllAgain() {
    for number in underWay.keys { underWay[number]?.changes = [:] }
    for path in Set(state.paths).union(underWay.values.map(\.path)) { perform(.changed(path)) }
  }

  private func perform(_ event: SessionReadings.Event) {
    switch readings.handle(event) {
    case .read(let path): Task { [weak self] in await self?.readSession(path) }
    case .pause(let path):
      loop.schedule(after: Self.readingPause) { [weak self] in self?.assumeIsolated { $0.perform(.pauseEnded(path)) } }
    case nil: break
    }
  }

  // MARK: Reading, outside the loops that receive signals, because those must not wait

  @discardableResult
  private func readEverything() -> Task<Void, Never> {
    if let nextReading { return nextReading }
    guard let present = reading else {
      let task = Task { await synchronize() }
      reading = task
      return task
    }
    let task = Task {
      await present.value
      reading = nextReading
      nextReading = nil
      await synchronize()
    }
    nextReading = task
    return task
  }

  private func readSession(_ path: ObjectPath) async {
    guard !isStopped else { return }
    let asked = generation
    do throws(BusError) {
      try await read(path)
    } catch {
      guard asked == generation else { return }
      perform(.finished(path, hasSeat: nil))
      retryLater()
    }
  }

  private func synchronize() async {
    await pauseBeforeReading()
    let asked = generation
    do throws(BusError) {
      try await readAll(asked)
    } catch {
      // If logind is not on the bus, its return is seen as a new owner of the name. If it is, ask it again: it may be
      // stopped for a while, or busy, and no other event would bring its sessions back.
      if asked == generation { retryLater() }
    }
    reading = nil
    lastReadingEnd = .now
  }

  private func pauseBeforeReading() async {
    let due = lastReadingEnd.map { Self.readingPause - ($0.duration(to: .now)) } ?? .zero
    guard due > .zero else { return }
    await withCheckedContinuation { continuation in loop.schedule(after: due) { continuation.resume() } }
  }

  private func readAll(_ asked: Int) async throws(BusError) {
    let reply = try await connection.call(
      Self.name, Self.managerPath, Self.managerInterface, "ListSessions", timeout: timeout)
    let paths = reply.first?.asArray?.compactMap { $0.asStructure?.last?.asObjectPath } ?? []
    guard asked == generation else { return }
    apply(.listed(paths))
    perform(.listed(paths))
    for path in paths where !readings.ignores(path) { try await read(path) }
    guard try await readSleep(asked) else { return }
    apply(.synchronized)
    retryPause.reset()
  }

  /// Returns false if logind has restarted meanwhile.
  private func readSleep(_ asked: Int) async throws(BusError) -> Bool {
    for _ in 0..<8 {
      let count = sleepSignals
      let manager = try await properties(of: Self.managerPath, Self.managerInterface)
      guard asked == generation else { return false }
      guard count == sleepSignals else { continue }
      if let sleeping = manager["PreparingForSleep"]?.asBool { apply(.sleeping(sleeping)) }
      return true
    }
    throw BusError.failed("the machine went to sleep or woke up during each of eight readings")
  }

  private func read(_ path: ObjectPath) async throws(BusError) {
    lastReading += 1
    let number = lastReading
    underWay[number] = (path, [:])
    defer { underWay[number] = nil }
    let read: [String: Value]
    do throws(BusError) {
      read = try await properties(of: path, Self.sessionInterface)
    } catch  where Self.meansGone(error) {
      // The session has ended, and the signal is on its way. An error from an earlier logind is ignored.
      if underWay[number] != nil { perform(.removed(path)) }
      return
    }
    // Discard the reading if the session ended, or logind left, meanwhile.
    guard let changes = underWay[number]?.changes else { return }
    let isFirst = !state.paths.contains(path)
    let properties = read.merging(changes) { $1 }
    apply(.read(path, properties))
    // A session that was not known has not received these changes.
    if isFirst { apply(.changed(path, changes)) }
    perform(.finished(path, hasSeat: LoginSession(properties: properties)?.seat.isEmpty != true))
  }

  private func properties(of path: ObjectPath, _ interface: String) async throws(BusError) -> [String: Value] {
    let reply = try await connection.call(
      Self.name, path, Self.propertiesInterface, "GetAll", [.string(interface)], timeout: timeout)
    guard let properties = reply.first?.asDictionary else {
      throw .failed("the properties of \(path) are no dictionary")
    }
    return properties
  }

  private static func meansGone(_ error: BusError) -> Bool {
    [BusError.Name.unknownObject, "org.freedesktop.login1.NoSuchSession"].contains(error.name)
  }

  /// Reads everything again after a pause, if logind is on the bus.
  private func retryLater() {
    guard isPresent, !isStopped, retryTimer == nil else { return }
    retryTimer = loop.schedule(after: retryPause.next()) { [weak self] in self?.assumeIsolated { $0.retry() } }
  }

  private func retry() {
    retryTimer = nil
    readEverything()
  }
}

/// When the properties of each session are read.
///
/// Pure: `LoginMonitor` feeds it, and performs the actions. Signals carry the lock and the foreground, which take
/// effect at once. No signal carries `State`, so a reading follows each change. A user can change a session of theirs
/// thousands of times per second. The plan therefore allows one reading of a session at a time, with a pause after it.
/// A session without a seat is not read again.
struct SessionReadings: Sendable {
  enum Event: Sendable, Hashable {
    /// logind created the session.
    case added(ObjectPath)
    /// A signal reported a change of the session, or signals were lost.
    case changed(ObjectPath)
    /// A reading for the session has ended; `hasSeat` is nil if it failed.
    case finished(ObjectPath, hasSeat: Bool?)
    /// The pause after a reading is over.
    case pauseEnded(ObjectPath)
    case removed(ObjectPath)
    /// These are all sessions.
    case listed([ObjectPath])
    /// Another logind took the name, or the name has no owner.
    case ownerChanged
  }

  enum Action: Sendable, Hashable {
    /// Read the properties of the session, then report `finished`.
    case read(ObjectPath)
    /// Wait, then report `pauseEnded`.
    case pause(ObjectPath)
  }

  /// A session without an entry is idle: its next change is read at once.
  private enum Phase {
    /// Can transition to `.pausing`, or to idle if the reading fails.
    case reading(isDirty: Bool)
    /// Can transition to `.reading` if the session changed meanwhile, else to idle.
    case pausing(isDirty: Bool)
    /// The session has no seat, and never gets one (logind's `Seat` is constant). It is not read again. A session of
    /// another class than `user` is followed if it has a seat, because a greeter in front suspends scanning.
    case seatless
  }

  private var phases: [ObjectPath: Phase] = [:]

  /// Whether changes of the session can be ignored.
  func ignores(_ path: ObjectPath) -> Bool {
    if case .seatless = phases[path] { true } else { false }
  }

  mutating func handle(_ event: Event) -> Action? {
    switch event {
    case .added(let path):
      phases[path] = .reading(isDirty: false)
      return .read(path)
    case .changed(let path):
      switch phases[path] {
      case nil:
        phases[path] = .reading(isDirty: false)
        return .read(path)
      case .reading: phases[path] = .reading(isDirty: true)
      case .pausing: phases[path] = .pausing(isDirty: true)
      case .seatless: break
      }
    case .finished(let path, hasSeat: false): phases[path] = .seatless
    case .finished(let path, let hasSeat):
      guard case .reading(let isDirty) = phases[path] else { break }
      phases[path] = hasSeat == nil ? nil : .pausing(isDirty: isDirty)
      return hasSeat == nil ? nil : .pause(path)
    case .pauseEnded(let path):
      guard case .pausing(let isDirty) = phases[path] else { break }
      phases[path] = isDirty ? .reading(isDirty: false) : nil
      return isDirty ? .read(path) : nil
    case .removed(let path): phases[path] = nil
    case .listed(let paths):
      let present = Set(paths)
      phases = phases.filter { present.contains($0.key) }
    case .ownerChanged: phases = [:]
    }
    return nil
  }
}
