import ScanGate
import Testing

@Suite struct ScanGateTests {
  private static let locked = ScanConditions.Session(
    isActive: .yes, isLocal: .yes, isGraphical: .yes, isUserSession: .yes, isLocked: .yes, hasBeenUnlocked: true)

  private static let events: [ScanGate.Event] = [
    .enabled(true), .enabled(false), .readerReady(true), .readerReady(false), .session(.assumed), .session(locked),
    .session(nil), .agent(true), .agent(false), .sleeping(.yes), .sleeping(.no), .readerSession(true),
    .readerSession(false), .inhibited(true), .inhibited(false), .airplaneMode(.yes), .airplaneMode(.unknown),
    .camera(.yes), .camera(.no), .displayOff(.yes), .displayOff(.no),
  ]

  /// From the gate that scans and from the one that knows nothing: whatever happens in whatever order, the verdict is
  /// the one on the present conditions, and a change is told exactly when there is one.
  @Test func everySequenceOfThreeEventsEndsInTheVerdictOnWhatIsTrue() {
    var open = ScanGate()
    for event in [ScanGate.Event.readerReady(true), .session(.assumed), .agent(true)] { _ = open.handle(event) }
    #expect(open.verdict.scans)
    var wrong: [[ScanGate.Event]] = []
    func walk(_ gate: ScanGate, _ path: [ScanGate.Event]) {
      for event in Self.events {
        var next = gate
        let change = next.handle(event)
        let isRight =
          next.verdict == ScanVerdict(next.conditions, policy: next.policy)
          && change == (next.verdict == gate.verdict ? nil : next.verdict)
        if !isRight { wrong.append(path + [event]) }
        if path.count < 2 { walk(next, path + [event]) }
      }
    }
    walk(open, [])
    walk(ScanGate(), [])
    #expect(wrong.isEmpty, "\(wrong.first ?? [])")
  }

  @Test func itOpensWhenTheLastConditionIsMetAndSaysWhyItCloses() {
    var gate = ScanGate()
    #expect(gate.verdict.reasons == [.noReader, .noSession, .noAgent])
    #expect(gate.handle(.readerReady(true))?.reasons == [.noSession, .noAgent])
    #expect(gate.handle(.session(.assumed))?.reasons == .noAgent)
    #expect(gate.handle(.agent(true))?.scans == true)
    #expect(gate.handle(.agent(true)) == nil)
    #expect(gate.handle(.session(Self.locked))?.reasons == .locked)
    #expect(gate.handle(.displayOff(.yes))?.reasons == [.locked, .displayOff])
    #expect(gate.handle(.session(.assumed))?.reasons == .displayOff)
    #expect(gate.handle(.displayOff(.unknown))?.scans == true)
  }

  @Test func withHoldALockedSessionIsScannedAndItsTapsKept() {
    var conditions = ScanConditions()
    conditions.isReaderReady = true
    conditions.hasAgent = true
    conditions.session = .assumed
    var gate = ScanGate(policy: ScanPolicy(whenLocked: .hold), conditions: conditions)
    #expect(gate.verdict == ScanVerdict(reasons: []))
    #expect(gate.handle(.session(Self.locked)) == ScanVerdict(reasons: [], holdsTaps: true))
    var neverUnlocked = Self.locked
    neverUnlocked.hasBeenUnlocked = false
    #expect(gate.handle(.session(neverUnlocked)) == ScanVerdict(reasons: .locked))
  }

  /// A session of which nobody has ever said a word is none that was unlocked, where the administrator wants to be told.
  @Test func withHoldAndStrictTheFirstUnlockingHasToBeSaid() {
    var conditions = ScanConditions()
    conditions.isReaderReady = true
    conditions.hasAgent = true
    var session = ScanConditions.Session.assumed
    session.isLocked = .unknown
    session.hasBeenSaidUnlocked = false
    conditions.session = session
    let policy = ScanPolicy(whenLocked: .hold, lockDetection: .strict)
    #expect(ScanVerdict(conditions, policy: policy) == ScanVerdict(reasons: .lockUnknown))
    session.hasBeenSaidUnlocked = true
    conditions.session = session
    #expect(ScanVerdict(conditions, policy: policy) == ScanVerdict(reasons: [], holdsTaps: true))
  }
}
