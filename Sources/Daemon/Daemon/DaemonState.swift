import Bus
import Journal
import NDEF
import Names
import Presence
import ReaderProtocol
import Settings

/// Everything the daemon decides: which reader scans, which agents are registered, and which session a tap belongs to.
///
/// Pure: events in, actions out. The service carries them out.
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
    /// How long a reader session may have the reader.
    var sessionLimit = ReaderSessions.defaultTimeLimit
    /// The least severe log level that is written.
    var logThreshold = LogLevel.debug
  }

  enum Event: Sendable {
    /// `identity` has the numbers of a reader of pcscd's list; nil if they are not known.
    case readerAdded(Int, path: ObjectPath, device: String, seat: String, identity: PCSCReader.Identity? = nil)
    case readerMoved(Int, seat: String)
    /// True if the device is unplugged and udev will report it. False if it is plugged in, or if udev does not report
    /// it.
    case readerAway(Int, Bool)
    /// The reader has no process, or the daemon ignores the one that it had. It may get another one.
    case readerHasNoProcess(Int)
    case readerRemoved(Int)
    case reader(Int, ReaderProcessEvent)
    /// A tag was read for the goal of this epoch. `id` identifies the tap that the daemon may make of it; `time` is in
    /// microseconds since 1970.
    case tag(Int, TagReport, epoch: UInt64, id: String, time: UInt64)
    case enabled(Bool)
    case login(LoginState)
    case agentGone(sender: String)
    /// The users who hold inhibitors now.
    case inhibited(by: Set<UInt32>)
    /// Whether the machine's radio switches (rfkill) have every radio off.
    case airplaneMode(Fact)
    case delivery(id: String, sender: String, TapQueue.Outcome)
    /// A client ends its session.
    case invalidate(UInt64, message: String)
    /// The user has cancelled a session.
    case cancelSession(UInt64)
    /// A session with `first-read` has read its message.
    case firstRead(UInt64)
    /// A client of reader sessions has left the bus.
    case clientGone(sender: String)
    /// True lends a reader to another program; false takes it back.
    case release(Int, Bool)
    /// The administrator's settings have changed.
    case policy(Policy)
    /// The daemon ends.
    case stopping
    case tick
  }

  enum Action: Hashable, Sendable {
    /// Send this goal to the reader's process.
    case pursue(Int, epoch: UInt64, ReaderGoal)
    case deliver(DetectedTap, to: Agent)
    /// Tell this agent that the tag of its tap was removed.
    case reportRemoval(tap: String, to: Agent)
    /// An agent has reported this about the lock of its session.
    case reportLock(session: String, Fact)
    /// An agent that had reported the lock of its session is gone.
    case reporterGone(session: String)
    /// The user of a session has confirmed that it is unlocked.
    case userUnlocked(session: String)
    case session(ReaderSessions.Action)
    case log(LogLevel, String)
  }

  private(set) var policy: Policy
  private(set) var isEnabled: Bool
  var readers: [Int: RosterReader] = [:]
  var registry = AgentRegistry()
  private var inhibitingUsers: Set<UInt32> = []
  private(set) var airplaneMode = Fact.unknown
  var login = LoginState()
  var queue = TapQueue()
  var placedTaps = PlacedTaps()
  var heldRemovals = HeldRemovals()
  var sessions: ReaderSessions
  /// Bounds the lines of a process that looks for any device and has found none.
  var searchLines = LineBudget(most: 60)
  /// Bounds the lines that users cause with their requests.
  var userLines = UserLines()

  init(policy: Policy, isEnabled: Bool) {
    self.policy = policy
    self.isEnabled = isEnabled
    sessions = ReaderSessions(timeLimit: policy.sessionLimit)
  }

  /// When `tick` is due.
  var deadline: TapQueue.Instant? {
    [queue.deadline, sessions.deadline, heldRemovals.deadline].compactMap(\.self).min()
  }

  mutating func handle(_ event: Event, at now: TapQueue.Instant) -> [Action] {
    var actions: [Action] = []
    switch event {
    case .readerAdded(let id, let path, let device, let seat, let identity):
      readers[id] = RosterReader(
        path: path, device: device, seat: seat, identity: identity, technologies: policy.polling.technologies,
        policy: policy.scan)
    case .readerMoved(let id, let seat):
      readers[id]?.properties.seat = seat
      if let label = readers[id]?.label { actions.append(.log(.notice, "reader \(label) is on \(seat)")) }
    case .readerAway(let id, let isAway): readers[id]?.isAway = isAway
    case .readerHasNoProcess(let id):
      readers[id]?.hasNoProcess()
      actions += carryOut(heldRemovals.forget(reader: id), at: now)
      placedTaps.forget(reader: id)
      actions += perform(sessions.handle(.lost, at: id, now))
    case .readerRemoved(let id):
      if let label = readers[id]?.label { actions.append(.log(.notice, "reader \(label) is gone")) }
      actions += perform(sessions.removeReader(id))
      readers[id] = nil
      actions += carryOut(heldRemovals.forget(reader: id), at: now)
      actions += placedTaps.removed(id).flatMap { report($0, at: now) }
    case .reader(let id, let event):
      actions += handle(event, of: id, at: now)
    case .tag(let id, let report, let epoch, let tapID, let time):
      actions += handle(report, of: id, epoch: epoch, tapID: tapID, time: time, at: now)
    case .enabled(let value): isEnabled = value
    case .inhibited(let users): inhibitingUsers = users
    case .airplaneMode(let fact): airplaneMode = fact
    case .login(let state):
      login = state
      actions += reconcile(with: login, at: now)
    case .agentGone(let sender):
      actions += unregister(sender, at: now)
    case .delivery(let id, let sender, let outcome):
      actions += perform(queue.handle(.finished(id: id, sender: sender, outcome), at: now), at: now)
      if outcome == .stored, let removal = placedTaps.stored(id, by: sender) { actions += report(removal, at: now) }
    case .invalidate(let id, let message): actions += perform(sessions.end(id, .invalidated, message: message, at: now))
    case .cancelSession(let id): actions += perform(sessions.end(id, .cancelled, at: now))
    case .firstRead(let id): actions += perform(sessions.end(id, .firstRead, at: now))
    case .clientGone(let sender): actions += perform(sessions.leave(sender, at: now))
    case .release(let id, let isReleased): actions += release(id, isReleased, at: now)
    case .policy(let value):
      let former = policy
      policy = value
      actions += adopt(value, insteadOf: former, at: now)
    case .stopping:
      for session in sessions.open { actions += perform(sessions.end(session.id, .daemonStopping, at: now)) }
    case .tick:
      actions += perform(queue.handle(.tick, at: now), at: now) + perform(sessions.tick(at: now))
      actions += carryOut(heldRemovals.due(at: now), at: now)
    }
    return actions + evaluate(at: now)
  }

  /// Whether an inhibitor has an effect on a seat: one of root, or of the user of the seat's active session. A user who
  /// has left the machine must not keep the next user's readers from scanning. With `Sessions=any`, every inhibitor has
  /// an effect.
  func isInhibited(on seat: String) -> Bool {
    guard !policy.servesAnySession else { return !inhibitingUsers.isEmpty }
    let front = stationInFront(of: seat)?.uid ?? login.activeSession(on: seat)?.uid
    return inhibitingUsers.contains(0) || front.map(inhibitingUsers.contains) ?? false
  }
}

/// Changes of the policy while the daemon runs.
extension DaemonState {
  /// Applies the new policy. An active reader session keeps its deadline.
  mutating func adopt(
    _ policy: Policy, insteadOf former: Policy, at now: TapQueue.Instant
  ) -> [Action] {
    sessions.timeLimit = policy.sessionLimit
    for (id, reader) in readers {
      readers[id]?.properties.technologies = reader.technologies(among: policy.polling.technologies)
    }
    var actions = dropUnservedTaps(at: now)
    if policy.servesAnySession != former.servesAnySession {
      actions += policy.servesAnySession ? serveAnySession(at: now) : reconcile(with: login, at: now)
    } else if policy.station != former.station {
      actions += reconcile(with: login, at: now)
    }
    // The new policy may treat other lock states as locked.
    for session in Set(queue.waitingSessions + registry.agents.map(\.session)) { actions += open(session, at: now) }
    return actions
  }

  /// Drops the taps that no agent can get under the new policy: `Sessions` or `StationUser` has changed, and an agent now
  /// serves its user instead of a session, or the reverse.
  private mutating func dropUnservedTaps(at now: TapQueue.Instant) -> [Action] {
    queue.waitingSessions.filter { ($0.id == nil) == sessions(of: $0.uid, nil).isEmpty }.flatMap {
      perform(queue.handle(.sessionEnded($0), at: now), at: now)
    }
  }

  /// Forgets logind's state. From here each agent serves its user on every seat.
  private mutating func serveAnySession(at now: TapQueue.Instant) -> [Action] {
    login = LoginState()
    var actions: [Action] = []
    for agent in registry.agents {
      let (served, moved) = register(agent.sender, at: agent.path, for: sessions(of: agent.session.uid, nil), at: now)
      // If the user has another agent, remove this one. Otherwise both would get the user's taps, and the daemon would
      // ignore this one's lock reports.
      actions += served == nil ? unregister(agent.sender, at: now) : moved
    }
    return actions
  }
}
