/// Decides whether one reader scans in the background: conditions in, verdict with reasons out.
///
/// Pure. Whoever owns a gate tells it what happened and acts on the verdict; the gate knows neither where a condition
/// comes from nor what scanning is.
public struct ScanGate: Sendable {
  /// A condition that changed.
  public enum Event: Sendable, Hashable {
    /// The administrator has decided otherwise.
    case policy(ScanPolicy)
    /// The master switch.
    case enabled(Bool)
    /// The reader works, or does not.
    case readerReady(Bool)
    /// The session of the reader's seat is another one, changed, or is gone (nil).
    case session(ScanConditions.Session?)
    /// The session has an agent, or has none.
    case agent(Bool)
    /// The machine goes to sleep, or woke up.
    case sleeping(Fact)
    /// A client uses the reader, or none does.
    case readerSession(Bool)
    /// Somebody inhibits scanning, or nobody does.
    case inhibited(Bool)
    /// Every radio is off, or not.
    case airplaneMode(Fact)
    /// A camera is in use, or none is.
    case camera(Fact)
    /// The display is off, or on.
    case displayOff(Fact)
  }

  /// What the administrator decides.
  public private(set) var policy: ScanPolicy
  /// What is known now.
  public private(set) var conditions: ScanConditions
  /// The verdict on `conditions`.
  public private(set) var verdict: ScanVerdict

  /// A gate for a reader of which `conditions` are known.
  public init(policy: ScanPolicy = ScanPolicy(), conditions: ScanConditions = ScanConditions()) {
    self.policy = policy
    self.conditions = conditions
    verdict = ScanVerdict(conditions, policy: policy)
  }

  /// Takes a change in.
  ///
  /// - Returns: the new verdict; nil where it is the one that stood before.
  public mutating func handle(_ event: Event) -> ScanVerdict? {
    switch event {
    case .policy(let value): policy = value
    case .enabled(let value): conditions.isEnabled = value
    case .readerReady(let value): conditions.isReaderReady = value
    case .session(let value): conditions.session = value
    case .agent(let value): conditions.hasAgent = value
    case .sleeping(let value): conditions.isSleeping = value
    case .readerSession(let value): conditions.isInReaderSession = value
    case .inhibited(let value): conditions.isInhibited = value
    case .airplaneMode(let value): conditions.isInAirplaneMode = value
    case .camera(let value): conditions.isCameraInUse = value
    case .displayOff(let value): conditions.isDisplayOff = value
    }
    let next = ScanVerdict(conditions, policy: policy)
    guard next != verdict else { return nil }
    verdict = next
    return next
  }
}
