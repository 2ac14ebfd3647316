import Bus
import Names

/// What the daemon has to know about this agent and its session, compared with what it has acknowledged.
///
/// Pure: events in, at most one action out. ``DaemonLink`` carries out the action, and its result is the next event. So only one call or
/// pause is under way at a time. A new action replaces a pause.
struct DaemonRegistration {
  /// The contents of one call.
  struct Report: Sendable, Equatable {
    /// The session's conditions, as `ReportConditions` has them.
    var conditions: [String: Bool]
    /// The user has unlocked the session by command since the last report. The daemon has to hear of each such command once.
    var isUnlockedByUser = false

    /// The argument of `ReportConditions`.
    var values: [String: Bool] {
      isUnlockedByUser ? conditions.merging([Names.Condition.unlockedByUser: true]) { $1 } : conditions
    }
  }

  enum Event {
    /// The daemon's name has another owner, or none.
    case daemonChanged(isPresent: Bool)
    /// The session's conditions, changed or not.
    case conditions([String: Bool])
    /// The user has locked or unlocked the session by command. The conditions include that.
    case declared(isLocked: Bool, [String: Bool])
    /// The daemon has accepted the call.
    case accepted
    /// The call has failed.
    case failed(BusError)
    /// The pause is over.
    case pauseEnded
  }

  enum Action: Equatable {
    case register(Report)
    case report(Report)
    case pause(Duration)
  }

  /// A series of registrations with one daemon, until it accepts one.
  struct Attempt: Equatable {
    /// Before the next registration; doubles up to 30 seconds.
    fileprivate var pause = Duration.milliseconds(500)
    /// The daemon's last error.
    var error: BusError?
    /// A registration timed out, so the daemon may still accept it, with a report that is old by then.
    var mayBeAccepted = false
  }

  enum State: Equatable {
    /// No daemon is on the bus. Can transition to: `.registering`.
    case absent
    /// `RegisterAgent` is under way. Can transition to: `.registered`, `.reporting`, `.refused`, `.absent`.
    case registering(Report, Attempt)
    /// The registration failed, and a pause is under way. Can transition to: `.registering`, `.absent`.
    case refused(Attempt)
    /// The daemon has acknowledged these conditions, which are the desired ones. Can transition to: `.reporting`, `.absent`.
    case registered([String: Bool])
    /// `ReportConditions` is under way. The acknowledged conditions are nil after a failure, because the daemon may have applied that
    /// report. Can transition to: `.registered`, `.reporting`, `.reportFailed`, `.absent`.
    case reporting(Report, acknowledged: [String: Bool]?)
    /// The last report failed, and a pause is under way. Can transition to: `.reporting`, `.absent`.
    case reportFailed(BusError)
  }

  /// Whether the daemon knows the last word on the lock.
  enum LockKnowledge: Equatable {
    /// The daemon knows it, or does not scan for this session before the next registration, which reports it.
    case known
    /// The daemon has not answered yet.
    case pending
    /// The report has failed, and is repeated later.
    case failed(BusError)
  }

  /// With one of these errors the daemon refuses the agent. After any other error it may still accept an earlier registration.
  private static let refusals: Set<String> = [Names.Errors.notASession, Names.Errors.alreadyRegistered]

  private(set) var state = State.absent
  /// What the daemon has to know.
  private(set) var desired: Report
  private let reportPause: Duration

  /// - Parameters:
  ///   - desired: what the first registration says.
  ///   - reportPause: how long to wait before repeating a report that failed.
  init(desired: Report, reportPause: Duration) {
    self.desired = desired
    self.reportPause = reportPause
  }

  /// Whether the daemon has accepted this agent.
  var isRegistered: Bool {
    switch state {
    case .absent, .registering, .refused: false
    case .registered, .reporting, .reportFailed: true
    }
  }

  /// Why the daemon has not accepted this agent; nil if it has, or has not answered yet.
  var error: BusError? {
    switch state {
    case .registering(_, let attempt), .refused(let attempt): attempt.error
    case .absent, .registered, .reporting, .reportFailed: nil
    }
  }

  /// Whether the daemon knows the last word on the lock.
  var lockKnowledge: LockKnowledge {
    switch state {
    case .absent, .registered: .known
    case .registering: .pending
    case .refused(let attempt): attempt.mayBeAccepted ? .pending : .known
    case .reporting(_, let acknowledged):
      !desired.isUnlockedByUser && acknowledged.map { $0[lock] == desired.conditions[lock] } == true ? .known : .pending
    case .reportFailed(let error): .failed(error)
    }
  }

  private var lock: String { Names.Condition.locked }

  mutating func handle(_ event: Event) -> Action? {
    switch event {
    case .daemonChanged(let isPresent):
      state = .absent
      return isPresent ? register(Attempt()) : nil
    case .conditions(let conditions):
      guard conditions != desired.conditions else { return nil }
      desired.conditions = conditions
      return desiredChanged()
    case .declared(let isLocked, let conditions):
      desired = Report(conditions: conditions, isUnlockedByUser: !isLocked)
      return desiredChanged()
    case .accepted:
      switch state {
      case .registering(let sent, _), .reporting(let sent, acknowledged: _): return acknowledged(sent)
      case .absent, .refused, .registered, .reportFailed: return nil
      }
    case .failed(let error): return failed(error)
    case .pauseEnded:
      switch state {
      case .refused(let attempt): return register(attempt)
      case .reportFailed: return report(acknowledged: nil)
      case .absent, .registering, .registered, .reporting: return nil
      }
    }
  }

  /// A change ends a pause, unless the daemon has refused the agent: it does not scan for the session then.
  private mutating func desiredChanged() -> Action? {
    switch state {
    case .absent, .registering, .reporting: nil
    case .refused(let attempt): attempt.mayBeAccepted ? register(attempt) : nil
    case .registered(let conditions): report(acknowledged: conditions)
    case .reportFailed: report(acknowledged: nil)
    }
  }

  private mutating func acknowledged(_ sent: Report) -> Action? {
    if sent.isUnlockedByUser { desired.isUnlockedByUser = false }
    return report(acknowledged: sent.conditions)
  }

  private mutating func failed(_ error: BusError) -> Action? {
    switch state {
    case .registering(let sent, var attempt):
      let pause = attempt.pause
      attempt.pause = min(pause * 2, .seconds(30))
      attempt.error = error
      attempt.mayBeAccepted = error.isTimeout || attempt.mayBeAccepted && !Self.refusals.contains(error.name)
      if attempt.mayBeAccepted && desired != sent { return register(attempt) }
      state = .refused(attempt)
      return .pause(pause)
    case .reporting(let sent, _):
      if desired != sent { return report(acknowledged: nil) }
      state = .reportFailed(error)
      return .pause(reportPause)
    case .absent, .refused, .registered, .reportFailed: return nil
    }
  }

  private mutating func register(_ attempt: Attempt) -> Action {
    state = .registering(desired, attempt)
    return .register(desired)
  }

  private mutating func report(acknowledged: [String: Bool]?) -> Action? {
    guard desired != acknowledged.map({ Report(conditions: $0) }) else {
      state = .registered(desired.conditions)
      return nil
    }
    state = .reporting(desired, acknowledged: acknowledged)
    return .report(desired)
  }
}
