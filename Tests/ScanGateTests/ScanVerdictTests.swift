import ScanGate
import Testing

/// The rule of the design, written a second time and in another way: one table of what each reason means.
private let meanings: [(SuspendReasons, @Sendable (ScanConditions, ScanPolicy) -> Bool)] = [
  (.disabled, { conditions, _ in !conditions.isEnabled }),
  (.noReader, { conditions, _ in !conditions.isReaderReady }),
  (.noSession, { conditions, _ in conditions.session == nil }),
  (.remoteSession, { conditions, _ in conditions.session?.isLocal == .no }),
  (.notGraphical, { conditions, _ in conditions.session?.isGraphical == .no }),
  (.notUserSession, { conditions, _ in conditions.session?.isUserSession == .no }),
  (.locked, { conditions, policy in isLocked(conditions, policy) && !isHeld(conditions, policy) }),
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

  private static let sessions: [ScanConditions.ActiveSession?] =
    [nil]
    + Fact.allCases.flatMap { local in
      Fact.allCases.flatMap { graphical in
        Fact.allCases.flatMap { user in
          Fact.allCases.flatMap { locked in
            [true, false].map { unlocked in
              .init(
                isLocal: local, isGraphical: graphical, isUserSession: user, isLocked: locked,
                hasBeenUnlocked: unlocked)
            }
          }
        }
      }
    }

  /// Every combination of what is not about the session.
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

  /// What the table says is put together from two halves, because walking it for each of 1.7 million combinations takes
  /// a minute; the verdict is asked for each.
  @Test func everyCombinationHasExactlyTheReasonsThatAreTrue() {
    var combinations = 0
    var wrong: [(ScanConditions, ScanPolicy)] = []
    let cases = Self.policies.flatMap { policy in
      Self.sessions.map { session in
        var conditions = ScanConditions()
        conditions.session = session
        let aboutSession = Self.expected(conditions, policy).subtracting([.noReader, .noAgent])
        return (session, policy, aboutSession, isHeld(conditions, policy))
      }
    }
    Self.surroundings { surroundings in
      let aboutSurroundings = Self.expected(surroundings, ScanPolicy()).subtracting(.noSession)
      var conditions = surroundings
      for (session, policy, aboutSession, isHeld) in cases {
        conditions.session = session
        let verdict = ScanVerdict(conditions, policy: policy)
        combinations += 1
        if verdict.reasons != aboutSurroundings.union(aboutSession) || verdict.holdsTaps != isHeld {
          wrong.append((conditions, policy))
        }
      }
    }
    #expect(combinations == 4 * 163 * 32 * 81)
    #expect(wrong.isEmpty, "\(wrong.count) combinations, the first is \(String(describing: wrong.first))")
  }

  @Test func whatIsUnknownCountsAsGoOn() {
    var conditions = ScanConditions()
    conditions.isReaderReady = true
    conditions.hasAgent = true
    conditions.session = .init(
      isLocal: .unknown, isGraphical: .unknown, isUserSession: .unknown, isLocked: .unknown, hasBeenUnlocked: false)
    #expect(ScanVerdict(conditions, policy: ScanPolicy()).scans)
    let strict = ScanVerdict(conditions, policy: ScanPolicy(lockDetection: .strict))
    #expect(strict.reasons == .locked)
  }

  @Test func namesAreDistinctAndInOrder() {
    let every = SuspendReasons.all.reduce(into: SuspendReasons()) { $0.formUnion($1.reason) }
    #expect(every.names == SuspendReasons.all.map(\.name))
    #expect(Set(every.names).count == meanings.count)
    #expect(SuspendReasons([.locked, .disabled]).names == ["disabled", "locked"])
    #expect(SuspendReasons().names.isEmpty)
  }
}
