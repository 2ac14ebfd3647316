import Bus
import EventLoop
import Journal
import Names

/// The agent's side of the system bus: registers with whoever is the daemon now, and takes its taps.
///
/// Follows the daemon's name, so that a daemon that restarts is registered with again, and knows by it who may call. What the session
/// is like goes to the daemon with the registration, and again whenever it changes.
actor DaemonLink {
  private static let reportTimeout = Duration.seconds(5)
  /// How long whoever says that the session is locked waits for the daemon: a locker may not lock before that.
  private static let patience = Duration.seconds(5)

  private let clock: any Clock<Duration>
  /// Before a report that failed is made again.
  private let pause: Duration
  /// What a daemon says that does not take this agent. Any other error leaves open what becomes of a registration that was sent before.
  private static let refusals: Set<String> = [Names.Errors.notASession, Names.Errors.alreadyRegistered]
  let connection: Connection
  let log: Log
  private let receive: @Sendable ([String: Value]) async throws -> Void
  private let changed: @Sendable (Bool) async -> Void
  private let refused: @Sendable (BusError?) async -> Void
  let displayIsWanted: @Sendable (Bool) async -> Void
  var question = DisplayQuestion()
  /// What was said of that last.
  var isDisplayWanted = false
  /// How many signals there were of the daemon's properties.
  var changes: UInt64 = 0
  /// What was said in the log of the daemon's version last.
  var notedDifference: VersionDifference?
  private(set) var owner: String?
  /// The daemon before, and our own name on the bus on which it had its own: what it sent before it went may be read after it is known to
  /// be gone, and the tap is nowhere else then. On another bus its name may be anybody's.
  private var former: (owner: String, ownName: String?)?
  private(set) var sheets: SheetReceiver?
  private var registration: Task<Void, Never>?
  /// What the session is like now.
  private(set) var conditions: [String: Bool]
  /// What the daemon knows of that.
  private var told: [String: Bool] = [:]
  /// The user has said that the session is unlocked, and the daemon does not know: it counts whatever was said before.
  private(set) var owesUnlock: Bool
  private var telling: Task<Void, Never>?
  private var tellingAgain: Task<Void, Never>?
  private var lastFailure: String?
  /// Why the daemon has not accepted this agent when it was asked last.
  private var lastRefusal: BusError?

  /// Whether the daemon has accepted this agent.
  private(set) var isRegistered = false
  /// Whether it is being asked to, or has not answered that: it may take what it was sent then whenever it goes on.
  private var isRegistering = false
  /// Until it is asked again.
  private var pausing: Task<Void, Never>?
  private var waiters: [CheckedContinuation<Void, Never>] = []

  nonisolated var unownedExecutor: UnownedSerialExecutor { connection.loop.asUnownedSerialExecutor() }

  /// - Parameters:
  ///   - connection: to the system bus.
  ///   - conditions: what the session is like, as `ReportConditions` has it.
  ///   - owesUnlock: whether the user has said that the session is unlocked, which no daemon was told.
  ///   - clock: what the wait for the daemon is measured by.
  ///   - log: where refusals are told.
  ///   - pause: before a report that failed is made again.
  ///   - changed: is told whether the daemon has accepted this agent, at each change.
  ///   - refused: is told why the daemon has not accepted this agent, at each change; nil where there is no longer a reason.
  ///   - displayIsWanted: is told whether it matters that the display goes off or on, at each change; not from the beginning.
  ///   - receive: stores a tap; what it throws is the daemon's answer.
  init(
    connection: Connection, conditions: [String: Bool], owesUnlock: Bool = false, clock: any Clock<Duration>, log: Log,
    pause: Duration = .seconds(2),
    changed: @escaping @Sendable (Bool) async -> Void,
    refused: @escaping @Sendable (BusError?) async -> Void = { _ in },
    displayIsWanted: @escaping @Sendable (Bool) async -> Void,
    receive: @escaping @Sendable ([String: Value]) async throws -> Void
  ) {
    self.connection = connection
    self.conditions = conditions
    self.owesUnlock = owesUnlock
    self.clock = clock
    self.log = log
    self.pause = pause
    self.changed = changed
    self.refused = refused
    self.displayIsWanted = displayIsWanted
    self.receive = receive
  }

  /// Serves the daemon until the connection is closed.
  ///
  /// - Throws: `BusError` where the bus does not let us export or listen.
  func run() async throws(BusError) {
    let method = ExportedMethod("TagRead", in: [Argument("tap", "a{sv}")]) { [weak self] call in
      try await self?.tagRead(call)
      return []
    }
    try await connection.export(
      [ExportedInterface(Names.Daemon.agentInterface, methods: [method] + sheetMethods(), limits: .tagMessage)],
      at: try ObjectPath(Names.Agent.tapReceiverPath))
    try await followReaders()
    for await owner in try await connection.owners(of: Names.Daemon.busName) { await follow(owner) }
  }

  private func follow(_ owner: String?) async {
    if let present = self.owner { former = (present, uniqueName) }
    self.owner = owner
    registration?.cancel()
    registration = nil
    pausing?.cancel()
    registrationIsAnswered()
    await set(registered: false)
    await set(refusal: nil)
    guard let owner else {
      log(.notice, "the daemon is not on the system bus; waiting for it")
      return
    }
    registration = Task { await register(with: owner) }
  }

  /// Asks until the daemon says yes: a session may become one that it serves.
  private func register(with owner: String) async {
    var delay = Duration.milliseconds(500)
    var mayBeRegistered = false
    while !Task.isCancelled, self.owner == owner {
      let (reported, unlocks) = (conditions, owesUnlock)
      isRegistering = true
      do {
        _ = try await connection.call(
          owner, try ObjectPath(Names.Daemon.path), Names.Daemon.managerInterface, "RegisterAgent",
          [
            .objectPath(try ObjectPath(Names.Agent.tapReceiverPath)),
            .dictionary(Self.registration(Self.report(reported, unlocks))),
          ])
        guard !Task.isCancelled, self.owner == owner else { return }
        isTold(reported, unlocks)
        log(.notice, "registered with the daemon")
        registrationIsAnswered()
        // Whoever hears that it is registered finds no refusal any more.
        await set(refusal: nil)
        guard !Task.isCancelled, self.owner == owner else { return }
        await set(registered: true)
        await tell()
        return
      } catch {
        guard !Task.isCancelled, self.owner == owner else { return }
        // Once each: a session that is never served would fill the log.
        if lastRefusal?.message != error.message {
          log(.warning, "the daemon does not take this agent: \(error.message); asking again")
        }
        mayBeRegistered = error.isTimeout || mayBeRegistered && !Self.refusals.contains(error.name)
        if !mayBeRegistered { registrationIsAnswered() }
        await set(refusal: error)
        guard !Task.isCancelled, self.owner == owner else { return }
        // Where it may have been told what is no longer so, there is no time to lose.
        if !mayBeRegistered || (conditions == reported && owesUnlock == unlocks) { await waitToAskAgain(delay) }
        delay = min(delay * 2, .seconds(30))
      }
    }
  }

  private func waitToAskAgain(_ delay: Duration) async {
    let pausing = Task { [clock] in
      do { try await clock.sleep(for: delay) } catch {}
    }
    self.pausing = pausing
    await pausing.value
  }

  private func registrationIsAnswered() {
    isRegistering = false
    for waiter in waiters { waiter.resume() }
    waiters = []
  }

  private static func report(_ conditions: [String: Bool], _ unlocks: Bool) -> [String: Bool] {
    unlocks ? conditions.merging([Names.Condition.unlockedByUser: true]) { $1 } : conditions
  }

  private func isTold(_ reported: [String: Bool], _ unlocks: Bool) {
    told = reported
    if unlocks { owesUnlock = false }
  }

  /// Takes in the user's own word on the lock; returns once the daemon knows. Where it has refused this agent, nothing is scanned for
  /// the session, and it hears of the lock first of all; where it has not answered, it may do so later with what it was told before.
  ///
  /// - Parameters:
  ///   - locked: the user's word.
  ///   - conditions: all that is known, with that.
  /// - Throws: `BusError` (`NotPossible`) where the daemon does not take it, or has not answered after five seconds; it is told again
  ///   later, or once it answers.
  func declare(locked: Bool, _ conditions: [String: Bool]) async throws(BusError) {
    owesUnlock = !locked
    takeIn(conditions, isWord: true)
    // What has begun goes on behind the wait: the daemon is told as soon as it answers.
    let hasAnswered = await PatientWait(clock: clock).run(atMost: Self.patience) { [weak self] in
      await self?.tellBehindRegistration()
    }
    let lock = Names.Condition.locked
    let isTold = isRegistered ? !owesUnlock && told[lock] == self.conditions[lock] : hasAnswered
    guard !isTold else { return }
    let reason =
      hasAnswered
      ? "the daemon could not be told: \(lastFailure ?? "no answer"). It is told again"
      : "the daemon does not answer. The agent knows, and tells it as soon as it does"
    throw BusError(name: Names.Errors.notPossible, message: "\(reason); what it knew counts until then")
  }

  /// What is told while a registration is under way might be overtaken by what that one says.
  private func tellBehindRegistration() async {
    if isRegistering { await withCheckedContinuation { waiters.append($0) } }
    await tell()
  }

  /// Takes in what the session is like; returns once the daemon has been told, or does not take it, or there is none.
  ///
  /// - Parameter conditions: all that is known.
  func report(_ conditions: [String: Bool]) async {
    takeIn(conditions)
    await tell()
  }

  private func takeIn(_ conditions: [String: Bool], isWord: Bool = false) {
    let isNews = isWord || conditions != self.conditions
    self.conditions = conditions
    if isNews && isRegistering { pausing?.cancel() }
  }

  /// One report after the other, so that the daemon's last one is the newest.
  private func tell() async {
    tellingAgain?.cancel()
    while let telling { await telling.value }
    guard let owner, isRegistered, told != conditions || owesUnlock else { return }
    let task = Task { await tell(owner, conditions, owesUnlock) }
    telling = task
    await task.value
  }

  private func tell(_ owner: String, _ reported: [String: Bool], _ unlocks: Bool) async {
    do throws(BusError) {
      _ = try await connection.call(
        owner, try ObjectPath(Names.Daemon.path), Names.Daemon.managerInterface, "ReportConditions",
        [.booleans(Self.report(reported, unlocks))], timeout: Self.reportTimeout, autoStart: false)
      if self.owner == owner { isTold(reported, unlocks) }
      lastFailure = nil
    } catch {
      if self.owner == owner { failed(error) }
    }
    telling = nil
  }

  private func failed(_ error: BusError) {
    if lastFailure != error.message {
      log(.warning, "the daemon does not take what the session is like: \(error.message); telling it again")
    }
    lastFailure = error.message
    tellingAgain = Task {
      do { try await clock.sleep(for: pause) } catch { return }
      await tell()
    }
  }

  private func set(refusal error: BusError?) async {
    guard error != lastRefusal else { return }
    lastRefusal = error
    await refused(error)
  }

  private func set(registered: Bool) async {
    guard registered != isRegistered else { return }
    isRegistered = registered
    await changed(registered)
    guard registered else {
      question = DisplayQuestion()
      return await tellOfDisplay()
    }
    Task {
      await readReaders()
      question.isRegistered = isRegistered
      await tellOfDisplay()
    }
  }

  /// Has sheets of reader sessions shown; before `run()`.
  func setSheets(_ receiver: @escaping SheetReceiver) { sheets = receiver }

  private func tagRead(_ call: IncomingCall) async throws {
    if call.sender != former?.owner || uniqueName != former?.ownName { try requireDaemon(call) }
    try await receive(call.arguments.first?.asDictionary ?? [:])
  }

  private var uniqueName: String? { connection.assumeIsolated { $0.uniqueName } }

  func requireDaemon(_ call: IncomingCall) throws {
    guard call.sender == owner else {
      log(.warning, "\(call.sender), which is not the daemon, called \(call.member); refused")
      throw BusError(
        name: Names.Errors.notAuthorized, message: "only the owner of \(Names.Daemon.busName) may call this")
    }
  }
}
