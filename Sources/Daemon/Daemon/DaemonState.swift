import Bus
import Journal
import Names
import Presence
import ReaderProtocol
import Settings

/// Everything the daemon decides: which reader scans, which agents are registered, and which session a tap belongs to.
///
/// Pure: events in, actions out. The daemon's parts carry them out. Each event goes to the state of its part, and what
/// follows from it forward: from the readers to the sessions and the agents. Then `evaluate` sets the readers' goals.
struct DaemonState: Sendable {
  /// The administrator's settings.
  struct Policy: Sendable {
    /// `Sessions=any`: every agent is treated like the agent of an active, unlocked session.
    var servesAnySession = false
    /// The user of a station; nil if this machine is not one. Has no effect with `Sessions=any`.
    var station: UInt32?
    var scan = ScanPolicy()
    var smartPosters = true
    /// The intervals and technologies that readers poll for. A reader gets those that it can read.
    var polling = ReaderPolling()
    /// How long the removal of a tag is held back, because the tag may only drop out.
    var removalDelay = Duration.zero
    var sessionLimit = ReaderSessions.defaultTimeLimit
    var logThreshold = LogLevel.debug
  }

  enum Event: Sendable {
    /// `identity` has the numbers of a reader of pcscd's list; nil if they are not known.
    case readerAdded(Int, path: ObjectPath, device: String, seat: String, identity: PCSCReader.Identity? = nil)
    case readerMoved(Int, seat: String)
    /// True if the device is unplugged and udev will report it. False if it is plugged in, or if udev does not report
    /// it.
    case readerAway(Int, Bool)
    /// The reader has no process, or the daemon ignores its process. It may get another one.
    case readerHasNoProcess(Int)
    case readerRemoved(Int)
    case reader(Int, ReaderProcessEvent)
    /// A tag was read for the goal of this epoch. `id` identifies the tap that the daemon may make of it; `time` is in
    /// microseconds since 1970.
    case tag(Int, TagReport, epoch: UInt64, id: String, time: UInt64)
    case enabled(Bool)
    case login(LoginState)
    case agentGone(sender: String)
    case inhibited(by: Set<UInt32>)
    /// Whether the machine's radio switches (rfkill) have every radio off.
    case airplaneMode(Fact)
    case delivery(id: String, sender: String, TapQueue.Outcome)
    case invalidate(UInt64, message: String)
    case cancelSession(UInt64)
    /// A session with `first-read` has read its message.
    case firstRead(UInt64)
    case clientGone(sender: String)
    /// True lends a reader to another program; false takes it back.
    case release(Int, Bool)
    case policy(Policy)
    case stopping
    case tick
  }

  enum Action: Hashable, Sendable {
    case pursue(Int, epoch: UInt64, ReaderGoal)
    case deliver(DetectedTap, to: Agent)
    case tagRemoved(tap: String, to: Agent)
    case reportLock(session: String, Fact)
    /// An agent that had reported the lock of its session is gone.
    case reporterGone(session: String)
    case userUnlocked(session: String)
    case session(ReaderSessions.Action)
    case log(LogLevel, String)
  }

  var agents: AgentsState
  private(set) var readers: ReadersState
  var sessions: ReaderSessions

  init(policy: Policy, isEnabled: Bool) {
    agents = AgentsState(Seats(policy: policy, isEnabled: isEnabled))
    readers = ReadersState(logThreshold: policy.logThreshold)
    sessions = ReaderSessions(timeLimit: policy.sessionLimit)
  }

  var seats: Seats { agents.seats }

  /// When `tick` is due.
  var deadline: TapQueue.Instant? {
    [agents.queue.deadline, sessions.deadline, readers.heldRemovals.deadline].compactMap(\.self).min()
  }

  /// Why no reader may scan; empty if one may.
  var suspendReasons: [String] { readers.suspendReasons(for: seats) }

  mutating func handle(_ event: Event, at now: TapQueue.Instant) -> [Action] {
    var actions: [Action] = []
    switch event {
    case .readerAdded(let id, let path, let device, let seat, let identity):
      readers[id] = RosterReader(
        path: path, device: device, seat: seat, identity: identity,
        technologies: seats.policy.polling.technologies, policy: seats.policy.scan)
    case .readerMoved(let id, let seat):
      readers[id]?.properties.seat = seat
      if let label = readers[id]?.label { actions.append(.log(.notice, "reader \(label) is on \(seat)")) }
    case .readerAway(let id, let isAway): readers[id]?.isAway = isAway
    case .readerHasNoProcess(let id):
      actions += follow(readers.loseProcess(of: id, at: now), at: now)
      agents.forgetPlacements(on: id)
      actions += perform(sessions.handle(.lost, at: id, now))
    case .readerRemoved(let id):
      if let label = readers[id]?.label { actions.append(.log(.notice, "reader \(label) is gone")) }
      actions += perform(sessions.removeReader(id))
      actions += follow(readers.remove(id, at: now), at: now)
      actions += agents.removedReader(id, at: now)
    case .reader(let id, let event): actions += handle(event, of: id, at: now)
    case .tag(let id, let report, let epoch, let tapID, let time):
      let effects = readers.read(report, on: id, epoch: epoch, tapID: tapID, time: time, for: seats, at: now)
      actions += follow(effects, at: now)
    case .enabled(let value): agents.seats.isEnabled = value
    case .inhibited(let users): agents.seats.inhibitingUsers = users
    case .airplaneMode(let fact): agents.seats.airplaneMode = fact
    case .login(let state):
      agents.seats.login = state
      actions += reconcile(at: now)
    case .agentGone(let sender): actions += agents.unregister(sender, at: now)
    case .delivery(let id, let sender, let outcome):
      actions += agents.delivered(id, to: sender, outcome, at: now)
    case .invalidate(let id, let message): actions += perform(sessions.end(id, .invalidated, message: message, at: now))
    case .cancelSession(let id): actions += perform(sessions.end(id, .cancelled, at: now))
    case .firstRead(let id): actions += perform(sessions.end(id, .firstRead, at: now))
    case .clientGone(let sender): actions += perform(sessions.leave(sender, at: now))
    case .release(let id, let isReleased): actions += follow(readers.release(id, isReleased), at: now)
    case .policy(let policy): actions += adopt(policy, at: now)
    case .stopping:
      for session in sessions.open { actions += perform(sessions.end(session.id, .daemonStopping, at: now)) }
    case .tick:
      actions += agents.tick(at: now) + perform(sessions.tick(at: now))
      actions += follow(readers.tick(at: now), at: now)
    }
    return actions + evaluate(at: now)
  }

  private mutating func handle(_ event: ReaderProcessEvent, of id: Int, at now: TapQueue.Instant) -> [Action] {
    switch event {
    case .phase(let phase, let reached): follow(readers.update(phase, reached: reached, of: id, at: now), at: now)
    case .crashed(let crash): follow(readers.crash(crash, of: id), at: now)
    case .log(let level, let text): follow(readers.note(level, of: id, at: now) { "\($0): \(text)" }, at: now)
    case .removed(let placement):
      follow(
        readers.remove(placement: placement, from: id, delay: seats.policy.removalDelay, at: now), at: now)
    case .waiting(let reason): follow(readers.wait(reason, of: id, at: now), at: now)
    case .sessionTag(let number, let tag): perform(sessions.found(tag, by: number))
    case .sessionTagRemoved(let number, let placement): perform(sessions.removed(placement, from: number))
    case .sessionRoundEnded(let number): perform(sessions.endedRound(of: number))
    case .sessionPollingRestarted(let number): perform(sessions.restartedPolling(of: number))
    case .tag, .known, .performed, .progress: []
    }
  }

  /// In order.
  private mutating func follow(_ effects: [ReadersState.Effect], at now: TapQueue.Instant) -> [Action] {
    effects.flatMap { effect -> [Action] in
      switch effect {
      case .log(let level, let text): [.log(level, text)]
      case .pursue(let id, let epoch, let goal): [.pursue(id, epoch: epoch, goal)]
      case .sessions(let id, let event): perform(sessions.handle(event, at: id, now))
      case .tap(let tap, let placement, let id, let isHeld):
        agents.add(tap, placement: placement, on: id, isHeld: isHeld, at: now)
      case .removed(let removal): agents.removed(removal, at: now)
      }
    }
  }

  /// Returns the actions that are not about readers. The daemon carries them out.
  mutating func perform(_ actions: [ReaderSessions.Action]) -> [Action] {
    var rest: [Action] = []
    for action in actions {
      switch action {
      case .begin(let reader, let options):
        guard let status = readers[reader] else { continue }
        readers[reader]?.session = options.limited(to: status)
      case .release(let reader, let id): if readers[reader]?.session?.number == id { readers[reader]?.session = nil }
      default: rest.append(.session(action))
      }
    }
    return rest
  }

  // MARK: After each change

  /// Recomputes the decisions after any change: which reader sessions must end, and what each reader should do.
  mutating func evaluate(at now: TapQueue.Instant) -> [Action] {
    let actions = endForbiddenSessions(at: now) + freeReaders(at: now)
    return actions + follow(readers.evaluate(for: seats, sessions, at: now), at: now)
  }

  private mutating func endForbiddenSessions(at now: TapQueue.Instant) -> [Action] {
    var actions: [Action] = []
    for session in sessions.open {
      guard let seat = readers[session.reader]?.properties.seat,
        let reason = seats.obstacle(to: session.uid, on: seat)
      else { continue }
      actions += perform(sessions.end(session.id, reason, at: now))
    }
    return actions
  }

  /// Frees readers from sessions that ended before their process had received them. Such a process confirms no end.
  private mutating func freeReaders(at now: TapQueue.Instant) -> [Action] {
    var actions: [Action] = []
    for (id, reader) in readers.sorted {
      guard let occupant = sessions.occupant(of: id),
        ![reader.session?.number, reader.goal.session?.number, reader.endingSession].contains(occupant)
      else { continue }
      actions += perform(sessions.handle(.ended(occupant), at: id, now))
    }
    return actions
  }
}

/// Agents and their sessions. Each registration takes effect on the readers before the next one.
extension DaemonState {
  mutating func register(
    _ sender: String, at path: ObjectPath, for candidates: [LoginSessionKey],
    reporting conditions: [String: Bool]? = nil,
    at now: TapQueue.Instant
  ) -> (agent: Agent?, actions: [Action]) {
    let (agent, actions) = agents.register(sender, at: path, for: candidates, reporting: conditions, at: now)
    return (agent, agent == nil ? [] : actions + evaluate(at: now))
  }

  /// Nil if no agent has this name.
  mutating func replaceReport(
    of sender: String, with conditions: [String: Bool], at now: TapQueue.Instant
  ) -> [Action]? {
    agents.replaceReport(of: sender, with: conditions, at: now).map { $0 + evaluate(at: now) }
  }

  /// Drops the taps of sessions that have ended, and moves their agents to the user's next session. An agent may
  /// outlive its session (`KillUserProcesses=no`), and then no second agent of the user starts.
  private mutating func reconcile(at now: TapQueue.Instant) -> [Action] {
    guard seats.login.isAvailable else { return [] }
    var actions = agents.updateSessions(at: now)
    for agent in seats.registry.agents {
      let candidates = seats.sessions(of: agent.session.uid, seats.login)
      // Without another session the agent stays, to get the taps of its old one.
      guard !candidates.isEmpty, !candidates.contains(agent.session) else { continue }
      actions += register(agent.sender, at: agent.path, for: candidates, at: now).actions
    }
    return actions
  }

  /// Applies a new policy. An active reader session keeps its deadline.
  private mutating func adopt(_ policy: Policy, at now: TapQueue.Instant) -> [Action] {
    let former = seats.policy
    agents.seats.policy = policy
    sessions.timeLimit = policy.sessionLimit
    readers.limitTechnologies(to: policy.polling.technologies)
    var actions = agents.dropUnservedTaps(at: now)
    if policy.servesAnySession, !former.servesAnySession {
      actions += serveAnySession(at: now)
    } else if policy.servesAnySession != former.servesAnySession || policy.station != former.station {
      actions += reconcile(at: now)
    }
    // The new policy may treat other lock states as locked.
    for session in agents.sessions { actions += agents.open(session, at: now) }
    return actions
  }

  /// Forgets logind's state. From here each agent serves its user on every seat.
  private mutating func serveAnySession(at now: TapQueue.Instant) -> [Action] {
    agents.seats.login = LoginState()
    var actions: [Action] = []
    for agent in seats.registry.agents {
      let candidates = seats.sessions(of: agent.session.uid, nil)
      let (served, moved) = register(agent.sender, at: agent.path, for: candidates, at: now)
      // If the user has another agent, remove this one. Otherwise both would get the user's taps, and the daemon would
      // ignore this one's lock reports.
      actions += served == nil ? agents.unregister(agent.sender, at: now) : moved
    }
    return actions
  }
}
