/// The conditions that decide whether one reader scans in the background.
///
/// The initial value does not allow scanning: a ready reader, a session and its agent must be confirmed first.
package struct ScanConditions: Sendable, Hashable {
  /// The session of the reader's seat: the active session or, if none is active, a session that has an agent.
  package struct Session: Sendable, Hashable {
    /// The session is in the foreground of its seat.
    package var isActive: Fact
    /// The user sits at this machine, not at the far end of a network connection.
    package var isLocal: Fact
    /// The session has a graphical display.
    package var isGraphical: Fact
    /// The session belongs to a person: it is not a greeter, a lock screen or a background session.
    package var isUserSession: Fact
    /// The session's screen is locked.
    package var isLocked: Fact
    /// The session was unlocked at least once, so its user has authenticated.
    package var hasBeenUnlocked: Bool
    /// A reliable source reported at least once that the session is unlocked. `LockDetection=strict` requires this,
    /// because it does not take a missing report for "unlocked".
    package var hasBeenSaidUnlocked: Bool

    /// Creates the facts of a session. `hasBeenSaidUnlocked` is `hasBeenUnlocked` if it is nil.
    package init(
      isActive: Fact, isLocal: Fact, isGraphical: Fact, isUserSession: Fact, isLocked: Fact, hasBeenUnlocked: Bool,
      hasBeenSaidUnlocked: Bool? = nil
    ) {
      self.isActive = isActive
      self.isLocal = isLocal
      self.isGraphical = isGraphical
      self.isUserSession = isUserSession
      self.isLocked = isLocked
      self.hasBeenUnlocked = hasBeenUnlocked
      self.hasBeenSaidUnlocked = hasBeenSaidUnlocked ?? hasBeenUnlocked
    }

    /// The session that `Sessions=any` assumes. Without logind, the user of a registered agent is taken to sit at the
    /// machine.
    package static let assumed = Session(
      isActive: .yes, isLocal: .yes, isGraphical: .yes, isUserSession: .yes, isLocked: .no, hasBeenUnlocked: true)
  }

  /// Scanning is switched on (`tagroute on`).
  package var isEnabled = true
  /// The reader is open and works.
  package var isReaderReady = false
  /// The session of the reader's seat; nil if there is none.
  package var session: Session?
  /// An agent is registered for that session.
  package var hasAgent = false
  /// The machine is asleep or about to sleep.
  package var isSleeping = Fact.unknown
  /// A client has a reader session, or is waiting for one.
  package var isInReaderSession = false
  /// An inhibitor is active.
  package var isInhibited = false
  /// Every radio is switched off.
  package var isInAirplaneMode = Fact.unknown
  /// A camera is in use.
  package var isCameraInUse = Fact.unknown
  /// The display is off.
  package var isDisplayOff = Fact.unknown

  /// A reader with no known conditions.
  package init() {}
}
