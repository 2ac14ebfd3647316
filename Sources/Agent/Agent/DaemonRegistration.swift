import Bus
import EventLoop
import Names
import Presence

/// Compares the desired report about this agent and its session with the report that the daemon has acknowledged.
///
/// Pure: each event returns at most one action. ``DaemonLink`` carries it out, and then calls ``ended(_:)``. So at most
/// one call or pause is in progress. A new action replaces a pause.
struct DaemonRegistration {
  struct Report: Sendable, Equatable {
    /// As `ReportConditions` has them.
    var conditions: [String: Bool]
    /// Whether the user has unlocked the session by command since the last report. The daemon must get each such
    /// command once.
    var isUnlockedByUser = false

    /// For `ReportConditions`.
    var values: [String: Bool] {
      isUnlockedByUser ? conditions.merging([Names.Condition.unlockedByUser: true]) { $1 } : conditions
    }
  }

  enum Action: Equatable {
    case register(Report)
    case report(Report)
    case pause(Duration)
  }

  /// A series of registrations with one daemon, until it accepts one.
  struct Attempt {
    /// Before the next registrations.
    fileprivate var pause = Backoff(from: .milliseconds(500), to: .seconds(30))
    fileprivate var error: BusError?
    /// Whether a registration timed out. The daemon may still accept it, with a report that is outdated by then.
    fileprivate var mayBeAccepted = false
  }

  enum State {
    /// No daemon is on the bus. Can transition to: `.registering`.
    case absent
    /// `RegisterAgent` is in progress. Can transition to: `.registered`, `.reporting`, `.refused`, `.absent`.
    case registering(Report, Attempt)
    /// The registration failed, and a pause is in progress. Can transition to: `.registering`, `.absent`.
    case refused(Attempt)
    /// The daemon has acknowledged the desired conditions. Can transition to: `.reporting`, `.absent`.
    case registered
    /// `ReportConditions` is in progress. The acknowledged conditions are nil after a failure, because the daemon may
    /// have applied that report. Can transition to: `.registered`, `.reporting`, `.reportFailed`, `.absent`.
    case reporting(Report, acknowledged: [String: Bool]?)
    /// The last report failed, and a pause is in progress. Can transition to: `.reporting`, `.absent`.
    case reportFailed(BusError)
  }

  enum LockKnowledge: Equatable { case known, pending, failed(BusError) }

  /// With one of these errors the daemon refuses the agent. After any other error it may still accept an earlier
  /// registration.
  private static let refusals: Set<String> = [Names.Errors.notASession, Names.Errors.alreadyRegistered]

  private var state = State.absent
  private(set) var desired: Report
  private let reportPause: Duration

  /// `reportPause` is the wait before repeating a report that failed.
  init(desired: Report, reportPause: Duration) {
    self.desired = desired
    self.reportPause = reportPause
  }

  var isRegistered: Bool {
    switch state {
    case .absent, .registering, .refused: false
    case .registered, .reporting, .reportFailed: true
    }
  }

  /// Nil if the daemon has accepted this agent, or has not answered yet.
  var error: BusError? {
    switch state {
    case .registering(_, let attempt), .refused(let attempt): attempt.error
    case .absent, .registered, .reporting, .reportFailed: nil
    }
  }

  /// Whether the daemon knows the user's last command on the lock. A daemon that has refused the agent does not need to
  /// know it: it scans for this session only after the next registration, which includes the lock.
  var lockKnowledge: LockKnowledge {
    let lock = Names.Condition.locked
    switch state {
    case .absent, .registered: return .known
    case .registering: return .pending
    case .refused(let attempt): return attempt.mayBeAccepted ? .pending : .known
    case .reporting(let sent, let acknowledged):
      // The report under way may still change the daemon's knowledge of the lock.
      guard let acknowledged, !desired.isUnlockedByUser, !sent.isUnlockedByUser else { return .pending }
      return Set([acknowledged[lock], sent.conditions[lock], desired.conditions[lock]]).count == 1 ? .known : .pending
    case .reportFailed(let error): return .failed(error)
    }
  }

  /// The daemon's name has a new owner, or none.
  mutating func daemonChanged(isPresent: Bool) -> Action? {
    state = .absent
    return isPresent ? register(Attempt()) : nil
  }

  mutating func report(_ conditions: [String: Bool]) -> Action? {
    guard conditions != desired.conditions else { return nil }
    // A lock ends a command to unlock that was not delivered.
    let isUnlockedByUser = desired.isUnlockedByUser && conditions[Names.Condition.locked] != true
    return report(Report(conditions: conditions, isUnlockedByUser: isUnlockedByUser))
  }

  /// Also for a repeated command of the user. Ends a pause, unless the daemon has refused the agent.
  mutating func report(_ report: Report) -> Action? {
    let former = desired.conditions
    desired = report
    switch state {
    case .absent, .registering, .reporting: return nil
    case .refused(let attempt): return attempt.mayBeAccepted ? register(attempt) : nil
    case .registered: return send(acknowledged: former)
    case .reportFailed: return send(acknowledged: nil)
    }
  }

  /// The call or the pause has ended. The error is nil if the daemon accepted the call, and after a pause. Returns the
  /// next action.
  mutating func ended(_ error: BusError? = nil) -> Action? {
    switch (state, error) {
    case (.registering(let sent, _), nil), (.reporting(let sent, acknowledged: _), nil):
      if sent.isUnlockedByUser { desired.isUnlockedByUser = false }
      return send(acknowledged: sent.conditions)
    case (.registering(let sent, var attempt), let error?):
      let pause = attempt.pause.next()
      attempt.error = error
      attempt.mayBeAccepted = error.isTimeout || attempt.mayBeAccepted && !Self.refusals.contains(error.name)
      if attempt.mayBeAccepted && desired != sent { return register(attempt) }
      state = .refused(attempt)
      return .pause(pause)
    case (.reporting(let sent, acknowledged: _), let error?):
      if desired != sent { return send(acknowledged: nil) }
      state = .reportFailed(error)
      return .pause(reportPause)
    case (.refused(let attempt), _): return register(attempt)
    case (.reportFailed, _): return send(acknowledged: nil)
    case (.absent, _), (.registered, _): return nil
    }
  }

  private mutating func register(_ attempt: Attempt) -> Action {
    state = .registering(desired, attempt)
    return .register(desired)
  }

  private mutating func send(acknowledged: [String: Bool]?) -> Action? {
    guard desired.isUnlockedByUser || desired.conditions != acknowledged else {
      state = .registered
      return nil
    }
    state = .reporting(desired, acknowledged: acknowledged)
    return .report(desired)
  }
}

extension DesktopState {
  /// As `ReportConditions` has them. Unknown conditions are missing.
  var report: [String: Bool] {
    [
      Names.Condition.locked: locked, Names.Condition.displayOff: displayOff, Names.Condition.camera: camera,
      Names.Condition.airplaneMode: airplaneMode,
    ].compactMapValues { fact in
      switch fact {
      case .yes: true
      case .no: false
      case .unknown: nil
      }
    }
  }

  /// The known ones, for the log.
  var summary: String {
    let facts = report.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value ? "yes" : "no")" }
    let reasons = lockReasons.isEmpty ? "" : " (\(lockReasons.joined(separator: "; ")))"
    return (facts.isEmpty ? "nothing is known" : facts.joined(separator: " ")) + reasons
  }
}
