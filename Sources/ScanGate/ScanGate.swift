/// Decides whether one reader scans in the background: conditions in, verdict with reasons out.
///
/// The gate is pure. Its owner passes in each event and acts on the verdict. The gate does not know the source of a
/// condition, and does no scanning itself.
public struct ScanGate: Sendable {
  /// A condition that changed.
  public enum Event: Sendable, Hashable {
    /// The administrator changed the configuration.
    case policy(ScanPolicy)
    /// Scanning was switched on or off.
    case enabled(Bool)
    /// The reader became ready, or stopped being ready.
    case readerReady(Bool)
    /// The session of the reader's seat was replaced, changed or ended (nil).
    case session(ScanConditions.Session?)
    /// The session gained or lost its agent.
    case agent(Bool)
    /// The machine is about to sleep, or woke up.
    case sleeping(Fact)
    /// A client started to use the reader, or the last client stopped.
    case readerSession(Bool)
    /// The first inhibitor was added, or the last one removed.
    case inhibited(Bool)
    /// Airplane mode was switched on or off.
    case airplaneMode(Fact)
    /// A camera is in use, or no camera is.
    case camera(Fact)
    /// The display was switched off or on.
    case displayOff(Fact)
  }

  /// The administrator's settings.
  public private(set) var policy: ScanPolicy
  /// The current conditions.
  public private(set) var conditions: ScanConditions
  /// The verdict on `conditions`.
  public private(set) var verdict: ScanVerdict

  /// A gate for a reader with these conditions.
  public init(policy: ScanPolicy = ScanPolicy(), conditions: ScanConditions = ScanConditions()) {
    self.policy = policy
    self.conditions = conditions
    verdict = ScanVerdict(conditions, policy: policy)
  }

  /// Updates the conditions with a change.
  ///
  /// - Returns: The new verdict; nil if it is the same as before.
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
