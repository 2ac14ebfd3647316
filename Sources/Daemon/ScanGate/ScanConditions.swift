/// The conditions that decide whether one reader scans in the background.
///
/// The initial value does not allow scanning: a ready reader, a session and its agent must be confirmed first.
public struct ScanConditions: Sendable, Hashable {
  /// The session of the reader's seat: the active session or, if none is active, a session that has an agent.
  public struct Session: Sendable, Hashable {
    /// The session is in the foreground of its seat.
    public var isActive: Fact
    /// The user sits at this machine, not at the far end of a network connection.
    public var isLocal: Fact
    /// The session has a graphical display.
    public var isGraphical: Fact
    /// The session belongs to a person: it is not a greeter, a lock screen or a background session.
    public var isUserSession: Fact
    /// The session's screen is locked.
    public var isLocked: Fact
    /// The session was unlocked at least once, so its user has authenticated.
    public var hasBeenUnlocked: Bool
    /// A reliable source reported at least once that the session is unlocked. `LockDetection=strict` requires this,
    /// because it does not take a missing report for "unlocked".
    public var hasBeenSaidUnlocked: Bool

    /// Creates the facts of a session. `hasBeenSaidUnlocked` is `hasBeenUnlocked` if it is nil.
    public init(
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
    public static let assumed = Session(
      isActive: .yes, isLocal: .yes, isGraphical: .yes, isUserSession: .yes, isLocked: .no, hasBeenUnlocked: true)
  }

  /// Scanning is switched on (`tagroute on`).
  public var isEnabled = true
  /// The reader is open and works.
  public var isReaderReady = false
  /// The session of the reader's seat; nil if there is none.
  public var session: Session?
  /// An agent is registered for that session.
  public var hasAgent = false
  /// The machine is asleep or about to sleep.
  public var isSleeping = Fact.unknown
  /// A client has a reader session, or is waiting for one.
  public var isInReaderSession = false
  /// An inhibitor is active.
  public var isInhibited = false
  /// Every radio is switched off.
  public var isInAirplaneMode = Fact.unknown
  /// A camera is in use.
  public var isCameraInUse = Fact.unknown
  /// The display is off.
  public var isDisplayOff = Fact.unknown

  /// A reader with no known conditions.
  public init() {}
}
