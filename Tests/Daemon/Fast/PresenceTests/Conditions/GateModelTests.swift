import Presence
import Settings
import Testing

/// The expected verdict, in the words of the design.
extension ScanConditions {
  fileprivate func isLocked(_ policy: ScanPolicy) -> Bool {
    session?.isLocked == .yes || (session?.isLocked == .unknown && policy.lockDetection == .strict)
  }

  /// Whether tags are read while the session is locked, and their taps kept.
  fileprivate func holds(_ policy: ScanPolicy) -> Bool {
    guard isLocked(policy), policy.whenLocked == .hold, let session else { return false }
    switch policy.lockDetection {
    case .hint: return session.hasBeenUnlocked
    case .strict: return session.hasBeenSaidUnlocked
    }
  }

  /// All reasons not to scan.
  fileprivate func noes(_ policy: ScanPolicy) -> [String] {
    let isShut = isLocked(policy) && !holds(policy)
    return [
      (!isEnabled, "disabled"), (!isReaderReady, "no-reader"), (!hasAgent, "no-agent"), (session == nil, "no-session"),
      (session?.isActive == .no, "session-inactive"), (session?.isLocal == .no, "session-remote"),
      (session?.isGraphical == .no, "session-not-graphical"), (session?.isUserSession == .no, "session-class"),
      (isShut && session?.isLocked == .yes, "session-locked"),
      (isShut && session?.isLocked == .unknown, "lock-unknown"),
      (isSleeping == .yes, "sleeping"), (isInReaderSession, "reader-session"), (isInhibited, "inhibited"),
      (isInAirplaneMode == .yes, "airplane-mode"), (isCameraInUse == .yes, "camera"),
      (isDisplayOff == .yes, "display-off"),
    ].filter(\.0).map(\.1)
  }
}

/// Every combination of conditions and policies.
@Suite struct GateModelTests {
  private static func session(
    active: Fact = .yes, local: Fact = .yes, graphical: Fact = .yes, user: Fact = .yes, locked: Fact = .no,
    unlocked: Bool = true, said: Bool? = nil
  ) -> ScanConditions.Session {
    .init(
      isActive: active, isLocal: local, isGraphical: graphical, isUserSession: user, isLocked: locked,
      hasBeenUnlocked: unlocked, hasBeenSaidUnlocked: said)
  }

  private static let sessions: [ScanConditions.Session?] = [
    nil, session(), session(locked: .yes), session(locked: .yes, unlocked: false), session(locked: .unknown),
    session(locked: .unknown, said: false),
    session(active: .no, graphical: .no), session(local: .no, user: .no, locked: .unknown, unlocked: false),
  ]

  private static let policies = ScanPolicy.WhenLocked.allCases.flatMap { whenLocked in
    ScanPolicy.LockDetection.allCases.map { ScanPolicy(whenLocked: whenLocked, lockDetection: $0) }
  }

  @Test(arguments: policies)
  func `the verdict scans only if no reason applies and names all that apply`(policy: ScanPolicy) {
    var wrong: [ScanConditions] = []
    for number in 0..<(1 << 5) {
      for session in Self.sessions {
        for facts in 0..<(3 * 3 * 2 * 2) {
          var conditions = ScanConditions()
          conditions.session = session
          conditions.isEnabled = number & 1 != 0
          conditions.isReaderReady = number & 2 != 0
          conditions.hasAgent = number & 4 != 0
          conditions.isInReaderSession = number & 8 != 0
          conditions.isInhibited = number & 16 != 0
          conditions.isSleeping = Fact.allCases[facts % 3]
          conditions.isDisplayOff = Fact.allCases[facts / 3 % 3]
          conditions.isInAirplaneMode = facts / 9 % 2 == 0 ? .yes : .unknown
          conditions.isCameraInUse = facts / 18 == 0 ? .yes : .no
          let verdict = ScanVerdict(conditions, policy: policy)
          let noes = conditions.noes(policy)
          let isRight =
            verdict.reasons.names == noes && verdict.scans == noes.isEmpty
            && verdict.holdsTaps == conditions.holds(policy)
          if !isRight { wrong.append(conditions) }
        }
      }
    }
    #expect(wrong.isEmpty, "first \(String(describing: wrong.first))")
  }

  /// With `LockDetection=strict`, a session without any report is not an unlocked session.
  @Test func `with hold and strict a source must report the first unlock`() {
    var conditions = ScanConditions()
    conditions.isReaderReady = true
    conditions.hasAgent = true
    let policy = ScanPolicy(whenLocked: .hold, lockDetection: .strict)
    conditions.session = Self.session(locked: .unknown, said: false)
    #expect(ScanVerdict(conditions, policy: policy) == ScanVerdict(reasons: .lockUnknown))
    conditions.session = Self.session(locked: .unknown, said: true)
    #expect(ScanVerdict(conditions, policy: policy) == ScanVerdict(reasons: [], holdsTaps: true))
  }

  @Test func `with hold a locked session is scanned and its taps are kept`() {
    var conditions = ScanConditions()
    conditions.isReaderReady = true
    conditions.hasAgent = true
    let policy = ScanPolicy(whenLocked: .hold)
    conditions.session = .assumed
    #expect(ScanVerdict(conditions, policy: policy) == ScanVerdict(reasons: []))
    conditions.session = Self.session(locked: .yes)
    #expect(ScanVerdict(conditions, policy: policy) == ScanVerdict(reasons: [], holdsTaps: true))
    conditions.session = Self.session(locked: .yes, unlocked: false)
    #expect(ScanVerdict(conditions, policy: policy) == ScanVerdict(reasons: .locked))
  }
}
