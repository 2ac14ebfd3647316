import Bus
import EventLoop
import Glibc
import Journal
import Names
import TagrouteClient

/// One run of the program: carries out what ``BrokerSession`` decides.
actor MqttRun {
  let settings: MqttSettings
  let log: Log
  let loop = EventLoop(label: "mqtt")
  private(set) var session: BrokerSession
  private var random = SystemRandomNumberGenerator()
  private var link: BrokerLink?
  private var timer: LoopTimer?
  private(set) var agent: AgentClient?
  /// Why the agent does not hand over its taps, and the fix; empty if it does.
  private var agentFailure = ""
  private let notifier = ServiceNotifier.fromEnvironment()
  /// The session bus; nil before the program owns its name.
  private(set) var bus: Connection?
  private var announced = ("", "")
  /// Nil while the daemon cannot be reached.
  var daemon: DaemonClient?
  /// Keeps scanning off by a command.
  var inhibitor: Inhibitor?
  var isScanningOff = false
  private var calls = 0
  private var finished: CheckedContinuation<Void, Never>?

  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  init(_ settings: MqttSettings, log: Log) {
    self.settings = settings
    self.log = log
    session = BrokerSession(identity: settings.identity, messages: settings.messages)
  }

  /// Serves until the program has to end. Returns the exit code.
  func serve() async -> Int32 {
    do throws(BusError) {
      let bus = try await Connection.open(.session, on: loop)
      try await export(on: bus)
      guard try await bus.requestName(Names.Mqtt.busName).isOwner else { return await leave(bus) }
      self.bus = bus
      let agent = try AgentClient(bus)
      self.agent = agent
      try await followAgent(agent, bus)
      Task { await followReaders() }
      Task { await watch() }
      handle(.start)
      notifier.ready(status: status)
      return await followOwnName(bus)
    } catch {
      log(.error, "cannot use the session bus: \(error.message). Run tagroute-mqtt inside a session")
      return Names.ExitCode.unavailable
    }
  }

  /// Publishes `offline` and disconnects; takes less than two seconds.
  func end() async {
    notifier.stopping()
    handle(.stop)
    guard session.phase != .stopped || calls > 0 else { return }
    await withCheckedContinuation { continuation in
      finished = continuation
      // The agent may not answer.
      loop.schedule(after: .milliseconds(1800)) { [weak self] in self?.assumeIsolated { $0.finish() } }
    }
  }

  private func finish() {
    finished?.resume()
    finished = nil
  }

  // MARK: Events and actions

  func handle(_ event: BrokerEvent) {
    for action in session.handle(event, at: now(), using: &random) { perform(action) }
    timer?.cancel()
    if let deadline = session.deadline {
      timer = loop.schedule(after: max(.zero, deadline - now().clock)) { [weak self] in
        self?.assumeIsolated { $0.handle(.time) }
      }
    }
    announce()
    if session.phase == .stopped, calls == 0 { finish() }
  }

  private func perform(_ action: BrokerAction) {
    switch action {
    case .connect(let attempt, let version): connect(attempt, version)
    case .close(let gracefully): link?.post(.close(gracefully: gracefully))
    case .publish(let publication): link?.post(.publish(publication))
    case .subscribe(let topics): link?.post(.subscribe(topics))
    case .take(let limit):
      guard let agent else { return }
      Task {
        do throws(BusError) {
          // Without a position in the list: taps that the inbox's file lacks have no final sequence.
          let taps = try await agent.takeOutgoing(limit: UInt32(clamping: limit))
          agentFailure = ""
          handle(.taken(taps))
        } catch {
          report(error)
          handle(.takingFailed)
        }
      }
    case .acknowledge(let ids):
      guard let agent else { return }
      calls += 1
      Task {
        do throws(BusError) {
          try await agent.acknowledgeOutgoing(ids)
          calls -= 1
          handle(.acknowledged)
        } catch {
          report(error)
          calls -= 1
          handle(.acknowledgingFailed)
        }
      }
    case .perform(let command): Task { await carryOut(command) }
    case .log(let level, let text): log(level, text)
    }
  }

  private func connect(_ attempt: UInt64, _ version: MqttVersion) {
    do throws(SystemError) {
      let link = try BrokerLink()
      self.link = link
      try link.start(settings.identity, attempt: attempt, version) { [weak self] in self?.receive($0) }
    } catch {
      link = nil
      receive(.ended(attempt: attempt, .unreachable("\(error)")))
    }
  }

  /// Handles an event later, in the order of the calls. For any thread.
  private nonisolated func receive(_ event: BrokerEvent) {
    loop.execute { [weak self] in self?.assumeIsolated { $0.handle(event) } }
  }

  private func report(_ error: BusError) {
    // Without an agent, its absence is the state.
    guard session.flow.isAgentPresent else { return }
    let isOld = error.name == BusError.Name.unknownMethod
    let restart = RunningProgram.agent.restart(hasSystemd: SystemDirectories().hasSystemd)
    let failure =
      isOld
      ? "the agent is older than tagroute-mqtt: \(restart)"
      : "the agent does not hand over its taps: \(error.message)"
    guard failure != agentFailure else { return }
    agentFailure = failure
    log(.warning, failure)
  }

  private func now() -> Moment { Moment(clock: .nanoseconds(SystemClock.monotonic), wall: SystemClock.now) }

  // MARK: The session bus

  private func followAgent(_ agent: AgentClient, _ bus: Connection) async throws(BusError) {
    let owners = try await bus.owners(of: Names.Agent.busName)
    let events = try await agent.events()
    Task { for await owner in owners { handle(.agent(isPresent: owner != nil)) } }
    Task { for await event in events where event == .outgoingAvailable { handle(.outgoingAvailable) } }
  }

  /// Reports which process owns the name, and ends.
  private func leave(_ bus: Connection) async -> Int32 {
    var who = "another process"
    if let pid = try? await bus.credentials(of: Names.Mqtt.busName).pid { who = "process \(pid)" }
    log(.error, "\(who) runs as tagroute-mqtt of this session already, and owns \(Names.Mqtt.busName); exiting")
    return Names.ExitCode.alreadyRunning
  }

  /// Ends if another process takes the name, which can happen while the session bus cannot be reached.
  private func followOwnName(_ bus: Connection) async -> Int32 {
    do throws(BusError) {
      for await owner in try await bus.owners(of: Names.Mqtt.busName) {
        guard let owner, let own = await bus.uniqueName, owner != own else { continue }
        // The owner may be this process, under its unique name before a reconnection.
        guard let other = try? await bus.credentials(of: owner), other.pid != UInt32(getpid()) else { continue }
        return await leave(bus)
      }
    } catch {
      log(.error, "cannot follow \(Names.Mqtt.busName): \(error.message)")
    }
    return Names.ExitCode.unavailable
  }

  /// Reports a changed state on the bus and to systemd.
  private func announce() {
    let present = (session.stateName, stateReason)
    guard present != announced, bus != nil else { return }
    announced = present
    notifier.status(status)
    Task {
      guard let path = try? ObjectPath(Names.Mqtt.path) else { return }
      await bus?.propertiesChanged(["State", "StateReason"], of: Names.Mqtt.interface, at: path)
    }
  }

  /// The property `StateReason`.
  var stateReason: String { session.stateReason.isEmpty ? agentFailure : session.stateReason }

  private var status: String { stateReason.isEmpty ? session.stateName : "\(session.stateName): \(stateReason)" }

  private func watch() async {
    guard let interval = notifier.watchdogInterval else { return }
    repeat { notifier.watchdog() } while (try? await Task.sleep(for: interval)) != nil
  }
}

extension MqttRun {
  /// Follows the readers. Connects to the system bus, which may start later. After that, the connection restores itself.
  func followReaders() async {
    var pause = Backoff(from: .milliseconds(250), to: .seconds(30))
    while true {
      do throws(BusError) {
        let daemon = try await DaemonClient.connect(on: loop)
        self.daemon = daemon
        for await _ in try await daemon.changes() { await readersChanged(daemon) }
        return
      } catch {
        log(.debug, "cannot use the system bus: \(error.message); trying again")
      }
      guard (try? await Task.sleep(for: pause.next())) != nil else { return }
    }
  }

  private func readersChanged(_ daemon: DaemonClient) async {
    do throws(BusError) {
      let status = try await daemon.status()
      handle(.readers(status.readers.map { PublishedReader($0, of: status) }))
      // A daemon that was restarted does not know the inhibitor.
      if isScanningOff, inhibitor?.isHeld != true { await keepScanningOff(daemon) }
    } catch {
      let hasNoDaemon = error.name == BusError.Name.nameHasNoOwner || error.name == BusError.Name.serviceUnknown
      if hasNoDaemon { handle(.readers([])) }
    }
  }

  func carryOut(_ command: StationCommand) async {
    switch command {
    case .scan(isOn: true):
      log(.notice, "a command from the broker ends its pause of scanning")
      (isScanningOff, inhibitor) = (false, nil)
    case .scan(isOn: false):
      log(.notice, "a command from the broker keeps scanning off")
      isScanningOff = true
      guard let daemon else { return }
      if inhibitor?.isHeld != true { await keepScanningOff(daemon) }
    case .identify: await identify()
    }
  }

  private func keepScanningOff(_ daemon: DaemonClient) async {
    do throws(BusError) {
      let inhibitor = try await daemon.inhibit(who: "tagroute-mqtt", why: "a command from the MQTT broker")
      // A later command may have come meanwhile.
      self.inhibitor = isScanningOff ? inhibitor : nil
    } catch {
      // If it is not allowed now, do not turn scanning off later.
      if error.name == Names.Errors.notAuthorized { isScanningOff = false }
      log(.warning, "cannot keep scanning off: \(error.message)")
    }
  }

  /// Has the agent show which machine this is.
  private func identify() async {
    do throws(BusError) {
      try await agent?.identify()
    } catch {
      log(.warning, "the agent cannot show which machine this is: \(error.message)")
    }
  }
}

extension MqttRun {
  /// `org.tagroute.Mqtt1`. Config/dbus/interfaces documents each member.
  func export(on bus: Connection) async throws(BusError) {
    let identity = settings.identity
    let station = settings.messages.station
    let interface = ExportedInterface(
      Names.Mqtt.interface,
      properties: [
        ExportedProperty("Version", "s", emits: .const) { _ in .string(Names.version) },
        ExportedProperty("InterfaceVersion", "u", emits: .const) { _ in .uint32(Names.interfaceVersion) },
        ExportedProperty("State", "s") { [weak self] _ in .string(await self?.session.stateName ?? "") },
        ExportedProperty("StateReason", "s") { [weak self] _ in .string(await self?.stateReason ?? "") },
        ExportedProperty("Broker", "s", emits: .const) { _ in .string("\(identity.broker)") },
        ExportedProperty("Station", "s", emits: .const) { _ in .string(station) },
        ExportedProperty("Sent", "t", emits: .none) { [weak self] _ in .uint64(await self?.session.sent ?? 0) },
      ])
    try await bus.export([interface], at: try ObjectPath(Names.Mqtt.path))
  }
}

extension BrokerSession {
  /// The property `State`.
  var stateName: String {
    switch phase {
    case .waiting, .stopped: "waiting"
    case .connecting: "connecting"
    case .connected, .leaving: "connected"
    }
  }

  /// Why the connection is missing, or there are no taps; empty without a problem here.
  var stateReason: String {
    guard trouble.isEmpty else { return trouble }
    guard case .connected = phase, !flow.isAgentPresent else { return "" }
    return "no agent runs in this session, so there are no taps: systemctl --user start tagroute-agent"
  }
}
