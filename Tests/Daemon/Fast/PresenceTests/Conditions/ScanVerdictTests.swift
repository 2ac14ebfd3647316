import Presence
import Settings
import Testing

/// The rule of the design in another form: a table with the condition of each reason.
private let meanings: [(SuspendReasons, @Sendable (ScanConditions, ScanPolicy) -> Bool)] = [
  (.disabled, { conditions, _ in !conditions.isEnabled }),
  (.noReader, { conditions, _ in !conditions.isReaderReady }),
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
