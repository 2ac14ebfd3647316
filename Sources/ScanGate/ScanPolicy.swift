/// What the administrator decides about scanning: group `[Scan]` of the configuration.
public struct ScanPolicy: Sendable, Hashable {
  /// What becomes of taps while the session is locked.
  public enum WhenLocked: String, Sendable, CaseIterable {
    /// The field is off.
    case suspend
    /// Tags are read, and kept until the session is unlocked.
    case hold
  }

  /// What counts as an unlocked session.
  public enum LockDetection: String, Sendable, CaseIterable {
    /// A session is unlocked unless something says that it is locked.
    case hint
    /// A session is locked unless something says that it is unlocked. For lockers that tell nobody.
    case strict
  }

  /// What becomes of taps while the session is locked.
  public var whenLocked: WhenLocked
  /// What counts as an unlocked session.
  public var lockDetection: LockDetection

  /// The defaults: suspended while locked, and locked only where something says so.
  public init(whenLocked: WhenLocked = .suspend, lockDetection: LockDetection = .hint) {
    self.whenLocked = whenLocked
    self.lockDetection = lockDetection
  }

  /// Whether a session whose lock is `fact` is treated as locked.
  public func treatsAsLocked(_ fact: Fact) -> Bool {
    switch fact {
    case .yes: true
    case .no: false
    case .unknown: lockDetection == .strict
    }
  }
}
