/// The administrator's settings for scanning: group `[Scan]` of the configuration.
package struct ScanPolicy: Sendable, Hashable {
  /// How the daemon treats taps while the session is locked.
  package enum WhenLocked: String, Sendable, CaseIterable {
    /// The reader does not scan, and its field is off.
    case suspend
    /// The reader reads tags, and the daemon keeps the taps until the session is unlocked.
    case hold
  }

  /// How the daemon detects that a session is unlocked.
  package enum LockDetection: String, Sendable, CaseIterable {
    /// A session is unlocked unless a source says that it is locked.
    case hint
    /// A session is locked unless a source says that it is unlocked. For lockers that do not report a lock.
    case strict
  }

  /// How the daemon treats taps while the session is locked.
  package var whenLocked: WhenLocked
  /// How the daemon detects that a session is unlocked.
  package var lockDetection: LockDetection

  /// The defaults: no scanning while locked, and a session is locked only if a source says so.
  package init(whenLocked: WhenLocked = .suspend, lockDetection: LockDetection = .hint) {
    self.whenLocked = whenLocked
    self.lockDetection = lockDetection
  }
}
