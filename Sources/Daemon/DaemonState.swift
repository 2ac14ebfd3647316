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
    /// The least grave log level that is written.
    var logThreshold = LogLevel.debug
  }

  enum Event: Sendable {
    case readerAdded(Int, path: ObjectPath, device: String, seat: String)
    case readerMoved(Int, seat: String)
    /// Its device is not plugged in, and its coming will be told; or it is, or may come unannounced.
    case readerAway(Int, Bool)
    case readerRemoved(Int)
    case reader(Int, ReaderProcessEvent)
    /// A tag was read; with what a tap made of it would be called, and when, in microseconds since 1970.
    case tag(Int, TagReport, id: String, time: UInt64)
    case enabled(Bool)
    case login(LoginState)
    case agentGone(sender: String)
    case inhibited(Bool)
    case delivery(id: String, sender: String, TapQueue.Outcome)
    case tick
  }

  enum Action: Hashable, Sendable {
    case scan(Int, Bool)
    case deliver(Tap, to: Agent)
    /// An agent has said this about the lock of its session, or is gone.
    case reportLock(session: String, Fact)
    case log(LogLevel, String)
  }

  let policy: Policy
  private(set) var isEnabled: Bool
  var readers: [Int: ReaderStatus] = [:]
  var registry = AgentRegistry()
  private(set) var isInhibited = false
  var login = LoginState()
  var queue = TapQueue()
  /// What a process says that looks for any device and has found none.
  var searchLines = LineBudget(most: 60)

  init(policy: Policy, isEnabled: Bool) {
    self.policy = policy
    self.isEnabled = isEnabled
  }

  /// When `tick` is due.
  var deadline: TapQueue.Instant? { queue.deadline }

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
    case .readerRemoved(let id):
      if let label = readers[id]?.label { actions.append(.log(.notice, "reader \(label) is gone")) }
      readers[id] = nil
    case .reader(let id, let event):
      actions += handle(event, of: id, at: now)
    case .tag(let id, let report, let tapID, let time):
      actions += handle(report, of: id, tapID: tapID, time: time, at: now)
    case .enabled(let value): isEnabled = value
    case .inhibited(let value): isInhibited = value
    case .login(let state):
      login = state
      actions += follow(login, at: now)
    case .agentGone(let sender):
      actions += unregister(sender, at: now)
    case .delivery(let id, let sender, let outcome):
      actions += perform(queue.handle(.finished(id: id, sender: sender, outcome), at: now))
    case .tick:
      actions += perform(queue.handle(.tick, at: now))
    }
    return actions + evaluate(at: now)
  }
}
