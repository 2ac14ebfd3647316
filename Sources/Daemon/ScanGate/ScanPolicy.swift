/// The administrator's settings for scanning: group `[Scan]` of the configuration.
public struct ScanPolicy: Sendable, Hashable {
  /// How the daemon treats taps while the session is locked.
  public enum WhenLocked: String, Sendable, CaseIterable {
    /// The reader does not scan, and its field is off.
    case suspend
    /// The reader reads tags, and the daemon keeps the taps until the session is unlocked.
    case hold
  }

  /// How the daemon detects that a session is unlocked.
  public enum LockDetection: String, Sendable, CaseIterable {
    /// A session is unlocked unless a source says that it is locked.
    case hint
    /// A session is locked unless a source says that it is unlocked. For lockers that do not report a lock.
    case strict
  }

  /// How the daemon treats taps while the session is locked.
  public var whenLocked: WhenLocked
  /// How the daemon detects that a session is unlocked.
  public var lockDetection: LockDetection

  /// The defaults: no scanning while locked, and a session is locked only if a source says so.
  public init(whenLocked: WhenLocked = .suspend, lockDetection: LockDetection = .hint) {
    self.whenLocked = whenLocked
    self.lockDetection = lockDetection
  }

  /// Whether the daemon treats a session with this lock state as locked.
  public func treatsAsLocked(_ fact: Fact) -> Bool {
    switch fact {
    case .yes: true
    case .no: false
    case .unknown: lockDetection == .strict
    }
  }
}
