import Presence
import Settings
import Testing

/// The rule of the design in another form: a table with the condition of each reason.
private let meanings: [(SuspendReasons, @Sendable (ScanConditions, ScanPolicy) -> Bool)] = [
  (.disabled, { conditions, _ in !conditions.isEnabled }), (.noReader, { conditions, _ in !conditions.isReaderReady }),
  (.noSession, { conditions, _ in conditions.session == nil }),
  (.inactive, { conditions, _ in conditions.session?.isActive == .no }),
  (.remote, { conditions, _ in conditions.session?.isLocal == .no }),
  (.notGraphical, { conditions, _ in conditions.session?.isGraphical == .no }),
  (.sessionClass, { conditions, _ in conditions.session?.isUserSession == .no }),
  (.locked, { conditions, policy in conditions.session?.isLocked == .yes && !isHeld(conditions, policy) }),
  (
    .lockUnknown,
    { conditions, policy in
      conditions.session?.isLocked == .unknown && policy.lockDetection == .strict && !isHeld(conditions, policy)
    }
  ),
  (.noAgent, { conditions, _ in !conditions.hasAgent }),
  (.sleeping, { conditions, _ in conditions.isSleeping == .yes }),
  (.readerSession, { conditions, _ in conditions.isInReaderSession }),
  (.inhibited, { conditions, _ in conditions.isInhibited }),
  (.airplaneMode, { conditions, _ in conditions.isInAirplaneMode == .yes }),
  (.camera, { conditions, _ in conditions.isCameraInUse == .yes }),
  (.displayOff, { conditions, _ in conditions.isDisplayOff == .yes }),
]

private func isLocked(_ conditions: ScanConditions, _ policy: ScanPolicy) -> Bool {
  guard let session = conditions.session else { return false }
  return session.isLocked == .yes || (session.isLocked == .unknown && policy.lockDetection == .strict)
}

private func isHeld(_ conditions: ScanConditions, _ policy: ScanPolicy) -> Bool {
  isLocked(conditions, policy) && policy.whenLocked == .hold && conditions.session?.hasBeenUnlocked == true
}

@Suite struct ScanVerdictTests {
  private static let policies = ScanPolicy.WhenLocked.allCases.flatMap { whenLocked in
    ScanPolicy.LockDetection.allCases.map { ScanPolicy(whenLocked: whenLocked, lockDetection: $0) }
  }

  private static let sessions: [ScanConditions.Session?] = {
    var sessions: [ScanConditions.Session?] = [nil]
    for active in Fact.allCases {
      for local in Fact.allCases {
        for graphical in Fact.allCases {
          for user in Fact.allCases {
            for locked in Fact.allCases {
              for unlocked in [true, false] {
                sessions.append(
                  .init(
                    isActive: active, isLocal: local, isGraphical: graphical, isUserSession: user, isLocked: locked,
                    hasBeenUnlocked: unlocked))
              }
            }
          }
        }
      }
    }
    return sessions
  }()

  /// Every combination of the conditions outside the session.
  private static func surroundings(_ body: (ScanConditions) -> Void) {
    for bits in 0..<32 {
      var conditions = ScanConditions()
      conditions.isEnabled = bits & 1 != 0
      conditions.isReaderReady = bits & 2 != 0
      conditions.hasAgent = bits & 4 != 0
      conditions.isInReaderSession = bits & 8 != 0
      conditions.isInhibited = bits & 16 != 0
      for sleeping in Fact.allCases {
        conditions.isSleeping = sleeping
        for airplane in Fact.allCases {
          conditions.isInAirplaneMode = airplane
          for camera in Fact.allCases {
            conditions.isCameraInUse = camera
            for display in Fact.allCases {
              conditions.isDisplayOff = display
              body(conditions)
            }
          }
        }
      }
    }
  }

  private static func expected(_ conditions: ScanConditions, _ policy: ScanPolicy) -> SuspendReasons {
    var expected: SuspendReasons = []
    for (reason, holds) in meanings where holds(conditions, policy) { expected.insert(reason) }
    return expected
  }

  /// The table is evaluated once for each session and once for each of the other conditions. Evaluating it for each of
  /// more than a million combinations would take a minute.
  @Test func `each combination of conditions has exactly the reasons that apply`() {
    let (combinations, wrong) = Self.walk(ScanPolicy()) { _ in true }
    #expect(combinations == 487 * 32 * 81)
    #expect(wrong.isEmpty, "\(wrong.count) combinations, the first is \(String(describing: wrong.first))")
  }

  /// A policy affects only the lock, so the conditions that no policy affects stay unknown here.
  @Test(arguments: policies) func `each policy gives exactly the reasons that apply`(policy: ScanPolicy) {
    let (combinations, wrong) = Self.walk(policy) { surroundings in
      surroundings.isSleeping == .unknown && surroundings.isInAirplaneMode == .unknown
        && surroundings.isCameraInUse == .unknown && surroundings.isDisplayOff == .unknown
    }
    #expect(combinations == 487 * 32)
    #expect(wrong.isEmpty, "\(wrong.count) combinations, the first is \(String(describing: wrong.first))")
  }

  private static func walk(
    _ policy: ScanPolicy, where isIncluded: (ScanConditions) -> Bool
  ) -> (combinations: Int, wrong: [ScanConditions]) {
    var combinations = 0
    var wrong: [ScanConditions] = []
    let cases = sessions.map { session in
      var conditions = ScanConditions()
      conditions.session = session
      let aboutSession = expected(conditions, policy).subtracting([.noReader, .noAgent])
      return (session, aboutSession, isHeld(conditions, policy))
    }
    surroundings { surroundings in
      guard isIncluded(surroundings) else { return }
      let aboutSurroundings = expected(surroundings, policy).subtracting(.noSession)
      var conditions = surroundings
      for (session, aboutSession, isHeld) in cases {
        conditions.session = session
        let verdict = ScanVerdict(conditions, policy: policy)
        combinations += 1
        if verdict.reasons != aboutSurroundings.union(aboutSession) || verdict.holdsTaps != isHeld {
          wrong.append(conditions)
        }
      }
    }
    return (combinations, wrong)
  }

  @Test func `unknown conditions do not suspend scanning`() {
    var conditions = ScanConditions()
    conditions.isReaderReady = true
    conditions.hasAgent = true
    conditions.session = .init(
      isActive: .unknown, isLocal: .unknown, isGraphical: .unknown, isUserSession: .unknown, isLocked: .unknown,
      hasBeenUnlocked: false)
    #expect(ScanVerdict(conditions, policy: ScanPolicy()).scans)
    let strict = ScanVerdict(conditions, policy: ScanPolicy(lockDetection: .strict))
    #expect(strict.reasons == .lockUnknown)
  }

  @Test func `the names are distinct and in order`() {
    let every = SuspendReasons.all.reduce(into: SuspendReasons()) { $0.formUnion($1.reason) }
    #expect(every.names == SuspendReasons.all.map(\.name))
    #expect(Set(every.names).count == meanings.count)
    #expect(SuspendReasons([.locked, .disabled]).names == ["disabled", "session-locked"])
    #expect(SuspendReasons().names.isEmpty)
  }
}

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
