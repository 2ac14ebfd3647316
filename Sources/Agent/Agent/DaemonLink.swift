import Bus
import EventLoop
import Journal
import Names
import Presence

/// The agent's side of the system bus: registers with the daemon, reports the session's conditions, and receives taps.
///
/// It follows the owner of the daemon's name. So it registers again after a restart of the daemon, and knows which peer
/// may call it.
actor DaemonLink {
  /// A change that the rest of the agent acts on.
  enum Notice: Sendable {
    /// Whether the daemon has accepted this agent, and why not. The error is nil if it has, or there is no daemon.
    case registration(isAccepted: Bool, BusError?)
    /// Whether the display has to be watched. Not sent before the first change.
    case displayNeeded(Bool)
    case sheet(ReaderSheets.Event)
    case tagRemoved(String)
  }

  private static let reportTimeout = Duration.seconds(5)
  /// A locker may wait this long for the daemon before it locks.
  private static let declarationTimeout = Duration.seconds(5)

  let connection: Connection
  let log: Log
  /// Runs on this actor, so that notices keep their order.
  let notify: @Sendable (isolated any Actor, Notice) async -> Void
  private let clock: any Clock<Duration>
  private let receive: @Sendable (isolated any Actor, [String: Value]) async throws -> Void

  private(set) var owner: String?
  private(set) var registration: DaemonRegistration
  /// The call or pause in progress.
  private var activity: Task<Void, Never>?
  private var lockWaiters: [CheckedContinuation<Void, Never>] = []
  private var announced: (isRegistered: Bool, error: BusError?) = (false, nil)
  private var loggedError: String?

  var displayWatch = DisplayWatch()
  var isDisplayNeeded = false
  /// The latest reading of the daemon's properties.
  var reading: Task<Void, Never>?
  /// How many signals of the daemon's properties have arrived.
  var propertySignals: UInt64 = 0
  /// The last difference of versions in the log.
  var loggedDifference: VersionDifference?

  nonisolated var unownedExecutor: UnownedSerialExecutor { connection.loop.asUnownedSerialExecutor() }

  /// `report` is in the first registration, and `reportPause` is the wait before repeating a report that failed. An
  /// error of `receive`, which stores a tap, is the reply to the daemon.
  init(
    connection: Connection, report: DaemonRegistration.Report, clock: any Clock<Duration>, log: Log,
    reportPause: Duration = .seconds(2), notify: @escaping @Sendable (isolated any Actor, Notice) async -> Void,
    receive: @escaping @Sendable (isolated any Actor, [String: Value]) async throws -> Void
  ) {
    self.connection = connection
    registration = DaemonRegistration(desired: report, reportPause: reportPause)
    self.clock = clock
    self.log = log
    self.notify = notify
    self.receive = receive
  }

  /// Serves the daemon until the connection is closed. Throws if the bus refuses an object or a match rule.
  func run() async throws(BusError) {
    let method = ExportedMethod("TagRead", in: [Argument("tap", "a{sv}")]) { [weak self] _, call in
      try await self?.tagRead(call)
      return []
    }
    let methods = [method, removalMethod()] + sheetMethods()
    try await connection.export(
      [ExportedInterface(Names.Daemon.agentInterface, methods: methods, limits: .tagMessage)],
      at: try ObjectPath(Names.Agent.tapReceiverPath))
    try await followReaders()
    for await owner in try await connection.owners(of: Names.Daemon.busName) { await receive(owner: owner) }
  }

  private func receive(owner: String?) async {
    self.owner = owner
    activity?.cancel()
    activity = nil
    loggedError = nil
    if owner == nil { log(.notice, "the daemon is not on the system bus; waiting for it") }
    await proceed(registration.daemonChanged(isPresent: owner != nil))
  }

  /// As soon as the daemon can take them.
  func report(_ conditions: [String: Bool]) async { await proceed(registration.report(conditions)) }

  /// Reports that the user has locked or unlocked the session by command, and waits for the daemon's reply. Throws
  /// `NotPossible` if the report failed, or the daemon did not reply within five seconds. The agent repeats the report
  /// later. The conditions include this one.
  func declare(isLocked: Bool, _ conditions: [String: Bool]) async throws(BusError) {
    await proceed(registration.report(.init(conditions: conditions, isUnlockedByUser: !isLocked)))
    await clock.wait(atMost: Self.declarationTimeout) { [weak self] in await self?.lockAnswer() }
    let reason: String
    switch registration.lockKnowledge {
    case .known: return
    case .failed(let error): reason = "the report to the daemon failed: \(error.message). The agent repeats it"
    case .pending: reason = "the daemon does not answer. The agent reports it as soon as it does"
    }
    throw BusError(
      name: Names.Errors.notPossible, message: "\(reason); until then the lock stays as the daemon knew it")
  }

  private func lockAnswer() async {
    guard registration.lockKnowledge == .pending else { return }
    await withCheckedContinuation { lockWaiters.append($0) }
  }

  /// Announces changes, too.
  private func proceed(_ action: DaemonRegistration.Action?) async {
    if let action, let owner {
      activity?.cancel()
      activity = Task {
        let error = await perform(action, owner)
        guard !Task.isCancelled else { return }
        activity = nil
        logOnce(error)
        await proceed(registration.ended(error))
      }
    }
    if registration.lockKnowledge != .pending {
      for waiter in lockWaiters { waiter.resume() }
      lockWaiters = []
    }
    let current = (registration.isRegistered, registration.error)
    guard current != announced else { return }
    let isChanged = current.0 != announced.isRegistered
    announced = current
    if isChanged && registration.isRegistered { log(.notice, "registered with the daemon") }
    await notify(self, .registration(isAccepted: current.0, current.1))
    if isChanged { await watchReaders() }
  }

  /// Returns why the call failed.
  private func perform(_ action: DaemonRegistration.Action, _ owner: String) async -> BusError? {
    do throws(BusError) {
      switch action {
      case .register(let report):
        let path = try ObjectPath(Names.Agent.tapReceiverPath)
        try await call(owner, "RegisterAgent", [.objectPath(path), .dictionary(Self.options(report))])
      case .report(let report):
        try await call(owner, "ReportConditions", [.booleans(report.values)], timeout: Self.reportTimeout)
      case .pause(let duration):
        try? await clock.sleep(for: duration)
        return nil
      }
      loggedError = nil
      return nil
    } catch { return error }
  }

  /// A daemon that never accepts this agent must not fill the log.
  private func logOnce(_ error: BusError?) {
    guard let error, error.message != loggedError else { return }
    loggedError = error.message
    let what = registration.isRegistered ? "the session's conditions" : "this agent"
    log(.warning, "the daemon does not accept \(what): \(error.message); trying again")
  }

  /// Makes the readers of this agent show themselves. The daemon refuses that if its session is in the background, and
  /// does not know the call before version 2.
  func identifyReaders() async {
    guard let owner else { return }
    do throws(BusError) {
      try await call(owner, "IdentifyReaders", [.dictionary([:])])
    } catch { log(.info, "the readers do not show themselves: \(error.message)") }
  }

  /// The name and the device of a reader; empty if the daemon does not know it.
  func names(ofReader path: String) async -> [String] {
    guard let owner, let path = try? ObjectPath(path) else { return [] }
    let reply = try? await connection.call(
      owner, path, Self.properties, "GetAll", [.string(Names.Daemon.readerInterface)], timeout: .seconds(2),
      autoStart: false)
    let values = reply?.first?.asDictionary ?? [:]
    return ["Name", "Device"].compactMap { values[$0]?.asString }.filter { !$0.isEmpty }
  }

  func call(
    _ owner: String, _ member: String, _ arguments: [Value], timeout: Duration = .seconds(25)
  ) async throws(BusError) {
    _ = try await connection.call(
      owner, try ObjectPath(Names.Daemon.path), Names.Daemon.managerInterface, member, arguments, timeout: timeout,
      autoStart: false)
  }

  private func tagRead(_ call: IncomingCall) async throws {
    // A tap that the previous daemon sent may arrive after that daemon has left, and no other process has this tap.
    try requireDaemon(call, orFormer: true)
    try await receive(self, call.arguments.first?.asDictionary ?? [:])
  }

  /// Throws if the peer is not the daemon.
  func requireDaemon(_ call: IncomingCall, orFormer: Bool = false) throws {
    let isDaemon = connection.assumeIsolated {
      $0.isOwner(call.sender, of: Names.Daemon.busName, orFormer: orFormer)
    }
    guard isDaemon else {
      log(.warning, "refused \(call.member) from \(call.sender), which is not the daemon")
      throw BusError(
        name: Names.Errors.notAuthorized, message: "only the owner of \(Names.Daemon.busName) may call this")
    }
  }
}

extension DaemonLink {
  func removalMethod() -> ExportedMethod {
    ExportedMethod("TagRemoved", in: [Argument("tap", "s"), Argument("options", "a{sv}")]) { [weak self] _, call in
      try await self?.tagRemoved(call)
      return []
    }
  }

  private func tagRemoved(_ call: IncomingCall) async throws {
    try requireDaemon(call)
    guard let id = call.arguments.first?.asString, Names.Handler.isTapID(id) else {
      throw BusError.invalidArgument("tap must be a UUID")
    }
    await notify(self, .tagRemoved(id))
  }
}

extension DaemonLink {
  /// The methods besides `TagRead` that the daemon calls.
  func sheetMethods() -> [ExportedMethod] {
    [
      ExportedMethod("ShowReaderSession", in: [Argument("session", "o"), Argument("options", "a{sv}")]) {
        [weak self] _, call in
        try await self?.take(call) { path, arguments in
          let options = arguments.last?.asDictionary ?? [:]
          return .show(
            path, message: options["message"]?.asString ?? "", application: options["app"]?.asString ?? "")
        }
        return []
      },
      ExportedMethod("UpdateReaderSession", in: [Argument("session", "o"), Argument("options", "a{sv}")]) {
        [weak self] _, call in
        try await self?.take(call) { path, arguments in
          arguments.last?.asDictionary?["message"]?.asString.map { .update(path, message: $0) }
        }
        return []
      },
      ExportedMethod(
        "CloseReaderSession", in: [Argument("session", "o"), Argument("outcome", "s"), Argument("message", "s")]
      ) { [weak self] _, call in
        try await self?.take(call) { path, arguments in
          .close(path, outcome: arguments[1].asString ?? "", message: arguments[2].asString ?? "")
        }
        return []
      },
    ]
  }

  private func take(
    _ call: IncomingCall, _ read: @Sendable (ObjectPath, [Value]) -> ReaderSheets.Event?
  ) async throws {
    try requireDaemon(call)
    guard let path = call.arguments.first?.asObjectPath, let event = read(path, call.arguments) else { return }
    await notify(self, .sheet(event))
  }

  /// The daemon refuses that if the session is over already.
  func cancelReaderSession(_ session: ObjectPath) async {
    guard let owner else { return }
    do {
      try await call(owner, "CancelReaderSession", [.objectPath(session)])
    } catch {
      log(.info, "a reader session was not cancelled: \(error)")
    }
  }
}

/// The daemon's properties: they decide whether the display has to be watched.
extension DaemonLink {
  private static let properties = "org.freedesktop.DBus.Properties"
  /// How often the properties are read if signals keep arriving meanwhile. The signals carry the same values.
  private static let maximumReadings = 8

  func followReaders() async throws(BusError) {
    let signals = try await connection.signals(
      MatchRule(
        sender: Names.Daemon.busName, path: try ObjectPath(Names.Daemon.path), interface: Self.properties,
        member: "PropertiesChanged"))
    Task { [weak self] in
      for await signal in signals { await self?.propertiesChanged(signal) }
    }
  }

  private func propertiesChanged(_ signal: ReceivedSignal) async {
    guard signal.sender == owner, signal.arguments.first?.asString == Names.Daemon.managerInterface else { return }
    propertySignals += 1
    await update(signal.arguments.dropFirst().first?.asDictionary ?? [:])
    if signal.missed > 0 { await readReaders() }
  }

  /// Reads the daemon's properties once it has accepted this agent, and forgets them when it is gone.
  func watchReaders() async {
    guard registration.isRegistered else {
      displayWatch = DisplayWatch()
      return await updateDisplay()
    }
    reading = Task {
      await readReaders()
      displayWatch.isRegistered = registration.isRegistered
      await updateDisplay()
    }
  }

  private func readReaders() async {
    guard let owner, let path = try? ObjectPath(Names.Daemon.path) else { return }
    for _ in 0..<Self.maximumReadings {
      let before = propertySignals
      let reply = try? await connection.call(
        owner, path, Self.properties, "GetAll", [.string(Names.Daemon.managerInterface)], timeout: .seconds(5),
        autoStart: false)
      guard self.owner == owner else { return }
      logDifference(reply?.first?.asDictionary ?? [:])
      // A signal that arrived before the reply is newer.
      if propertySignals == before { return await update(reply?.first?.asDictionary ?? [:]) }
    }
  }

  private func update(_ values: [String: Value]) async {
    if let reasons = values["SuspendReasons"]?.asStrings { displayWatch.reasons = Set(reasons) }
    if let readers = values["Readers"]?.asObjectPaths { displayWatch.readers = readers.count }
    await updateDisplay()
  }

  /// For `RegisterAgent`. A daemon ignores keys that it does not know.
  static func options(_ report: DaemonRegistration.Report) -> [String: Value] {
    [
      Names.Registration.conditions: .booleans(report.values), Names.Registration.version: .string(Names.version),
      Names.Registration.interfaceVersion: .uint32(Names.interfaceVersion),
    ]
  }

  /// Once: that the daemon has another version, and what to restart. Tags work all the same.
  private func logDifference(_ properties: [String: Value]) {
    guard let version = properties["Version"]?.asString else { return }
    let difference = RunningProgram.daemon.difference(version: version)
    defer { loggedDifference = difference }
    guard let difference, difference != loggedDifference else { return }
    log(
      .notice,
      difference.notice(
        interfaceVersion: properties["InterfaceVersion"]?.asUInt32, to: .agent,
        hasSystemd: SystemDirectories().hasSystemd))
  }

  private func updateDisplay() async {
    let isNeeded = displayWatch.isNeeded
    guard isNeeded != isDisplayNeeded else { return }
    isDisplayNeeded = isNeeded
    await notify(self, .displayNeeded(isNeeded))
  }
}

/// Whether the agent has to watch the display, by the daemon's reasons for not scanning.
///
/// Pure: ``DaemonLink`` updates it. To watch means to poll the display's connectors, so the agent does it only while no
/// other reason stops the readers.
struct DisplayWatch: Sendable, Hashable {
  /// Whether the daemon has accepted this agent, and was asked for its readers.
  var isRegistered = false
  /// Empty if a reader scans; nil if the daemon has not reported it.
  var reasons: Set<String>?
  var readers = 0

  var isNeeded: Bool {
    guard isRegistered else { return false }
    guard let reasons else { return true }
    // The daemon merges the reasons of all readers. A reason of another seat's reader must not hide that this display
    // is on again.
    let others = readers > 1 ? reasons.intersection(Self.everyReaders) : reasons.subtracting(Self.displays)
    return others.isEmpty
  }

  private static let displays = Set(SuspendReasons.displayOff.names)
  /// On all seats.
  private static let everyReaders = Set(([.disabled, .sleeping, .inhibited] as SuspendReasons).names)
}
