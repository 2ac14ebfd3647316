import Bus
import Journal
import NDEF
import Names
import ReaderLink
import ScanGate
import Session

/// Everything the daemon decides: which reader scans, who is an agent, whose a tap is.
///
/// Pure: events in, actions out. The service around it only carries them out.
struct DaemonState: Sendable {
  /// What the administrator decides.
  struct Policy: Sendable {
    /// Every agent counts as the one of an active, unlocked session.
    var servesAnySession = false
    var scan = ScanPolicy()
    var smartPosters = true
    /// The kinds of tags that readers look for.
    var technologies = Names.technologies
    /// What reader processes are told of that, and how often they look.
    var polling = ReaderPolling()
    /// How long a reader session may have the reader.
    var sessionLimit = ReaderSessions.defaultTimeLimit
    /// The least grave log level that is written.
    var logThreshold = LogLevel.debug
  }

  enum Event: Sendable {
    case readerAdded(Int, path: ObjectPath, device: String, seat: String)
    case readerMoved(Int, seat: String)
    /// Its device is not plugged in, and its coming will be told; or it is, or may come unannounced.
    case readerAway(Int, Bool)
    /// Nothing more is heard of the process that it had, or it has none; it may get another one.
    case readerHasNoProcess(Int)
    case readerRemoved(Int)
    case reader(Int, ReaderProcessEvent)
    /// A tag was read for the goal of that epoch; with what a tap made of it would be called, and when, in
    /// microseconds since 1970.
    case tag(Int, TagReport, epoch: UInt64, id: String, time: UInt64)
    case enabled(Bool)
    case login(LoginState)
    case agentGone(sender: String)
    /// The users who hold inhibitors now.
    case inhibited(by: Set<UInt32>)
    /// Whether the machine's own switches have every radio off.
    case airplaneMode(Fact)
    case delivery(id: String, sender: String, TapQueue.Outcome)
    /// A client wants a session of its to end.
    case invalidate(UInt64, message: String)
    /// The person at the machine does not want it.
    case cancelSession(UInt64)
    /// A session has read the message that it was for.
    case firstRead(UInt64)
    /// A client of reader sessions has left the bus.
    case clientGone(sender: String)
    /// A reader's device is to be closed for another program, or to be opened again.
    case release(Int, Bool)
    /// The administrator has decided otherwise.
    case policy(Policy)
    /// The daemon ends.
    case stopping
    case tick
  }

  enum Action: Hashable, Sendable {
    /// A reader should be doing this from now on.
    case pursue(Int, epoch: UInt64, ReaderGoal)
    case deliver(Tap, to: Agent)
    /// An agent has said this about the lock of its session.
    case reportLock(session: String, Fact)
    /// An agent that has said something about the lock of its session is gone.
    case reporterGone(session: String)
    /// The user of a session has said that it is unlocked.
    case userUnlocked(session: String)
    case session(ReaderSessions.Action)
    case log(LogLevel, String)
  }

  private(set) var policy: Policy
  private(set) var isEnabled: Bool
  var readers: [Int: ReaderStatus] = [:]
  var registry = AgentRegistry()
  private var inhibitingUsers: Set<UInt32> = []
  private(set) var airplaneMode = Fact.unknown
  var login = LoginState()
  var queue = TapQueue()
  var sessions: ReaderSessions
  /// What a process says that looks for any device and has found none.
  var searchLines = LineBudget(most: 60)
  /// What users cause by what they ask for.
  var userLines = UserLines()

  init(policy: Policy, isEnabled: Bool) {
    self.policy = policy
    self.isEnabled = isEnabled
    sessions = ReaderSessions(timeLimit: policy.sessionLimit)
  }

  /// When `tick` is due.
  var deadline: TapQueue.Instant? {
    guard let taps = queue.deadline, let turn = sessions.deadline else { return queue.deadline ?? sessions.deadline }
    return min(taps, turn)
  }

  /// Takes an event in.
  ///
  /// - Parameters:
  ///   - event: what happened.
  ///   - now: when.
  /// - Returns: what to do, in this order.
  mutating func handle(_ event: Event, at now: TapQueue.Instant) -> [Action] {
    var actions: [Action] = []
    switch event {
    case .readerAdded(let id, let path, let device, let seat):
      readers[id] = ReaderStatus(
        path: path, device: device, seat: seat, technologies: policy.technologies, policy: policy.scan)
    case .readerMoved(let id, let seat):
      readers[id]?.properties.seat = seat
      if let label = readers[id]?.label { actions.append(.log(.notice, "reader \(label) is on \(seat)")) }
    case .readerAway(let id, let isAway): readers[id]?.isAway = isAway
    case .readerHasNoProcess(let id):
      readers[id]?.hasNoProcess()
      actions += perform(sessions.handle(.lost, at: id, now))
    case .readerRemoved(let id):
      if let label = readers[id]?.label { actions.append(.log(.notice, "reader \(label) is gone")) }
      actions += perform(sessions.removeReader(id))
      readers[id] = nil
    case .reader(let id, let event):
      actions += handle(event, of: id, at: now)
    case .tag(let id, let report, let epoch, let tapID, let time):
      actions += handle(report, of: id, epoch: epoch, tapID: tapID, time: time, at: now)
    case .enabled(let value): isEnabled = value
    case .inhibited(let users): inhibitingUsers = users
    case .airplaneMode(let fact): airplaneMode = fact
    case .login(let state):
      login = state
      actions += follow(login, at: now)
    case .agentGone(let sender):
      actions += unregister(sender, at: now)
    case .delivery(let id, let sender, let outcome):
      actions += perform(queue.handle(.finished(id: id, sender: sender, outcome), at: now), at: now)
    case .invalidate(let id, let message): actions += perform(sessions.end(id, .invalidated, message: message, at: now))
    case .cancelSession(let id): actions += perform(sessions.end(id, .cancelled, at: now))
    case .firstRead(let id): actions += perform(sessions.end(id, .firstRead, at: now))
    case .clientGone(let sender): actions += perform(sessions.leave(sender, at: now))
    case .release(let id, let isReleased): actions += release(id, isReleased, at: now)
    case .policy(let value):
      let servedAnySession = policy.servesAnySession
      policy = value
      actions += adopt(value, insteadOf: servedAnySession, at: now)
    case .stopping:
      for session in sessions.open { actions += perform(sessions.end(session.id, .daemonStopping, at: now)) }
    case .tick:
      actions += perform(queue.handle(.tick, at: now), at: now) + perform(sessions.tick(at: now))
    }
    return actions + evaluate(at: now)
  }

  /// Whether an inhibitor counts on a seat. One of a user who is not in front there does not: a user who has left the machine must not
  /// keep the next one's readers from scanning. One of root counts on every seat.
  func isInhibited(on seat: String) -> Bool {
    guard !policy.servesAnySession else { return !inhibitingUsers.isEmpty }
    let front = login.activeSession(on: seat)?.uid
    return inhibitingUsers.contains(0) || front.map(inhibitingUsers.contains) ?? false
  }
}
