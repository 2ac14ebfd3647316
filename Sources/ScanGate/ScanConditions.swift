/// Everything that decides whether one reader scans in the background.
///
/// The initial value is a reader of which nothing is known: it does not scan, because the conditions that must be
/// positively true (a ready reader, a session, its agent) are not.
public struct ScanConditions: Sendable, Hashable {
  /// The session of the reader's seat: the active one, or, where none is, one that has an agent.
  public struct Session: Sendable, Hashable {
    /// The session is in the foreground of its seat.
    public var isActive: Fact
    /// Somebody sits at the machine itself, not at the far end of a network connection.
    public var isLocal: Fact
    /// The session has a graphical display.
    public var isGraphical: Fact
    /// A person's own session: neither a greeter nor a lock screen nor a background session.
    public var isUserSession: Fact
    /// The session's screen is locked.
    public var isLocked: Fact
    /// The session was unlocked at least once, so its user has shown who they are.
    public var hasBeenUnlocked: Bool
    /// Somebody who knows has said so: what counts where the administrator does not believe that an unlocked session is one
    /// of which nobody says that it is locked.
    public var hasBeenSaidUnlocked: Bool

    /// - Parameters:
    ///   - isActive: the session is in the foreground of its seat.
    ///   - isLocal: somebody sits at the machine itself.
    ///   - isGraphical: the session has a graphical display.
    ///   - isUserSession: neither a greeter nor a lock screen nor a background session.
    ///   - isLocked: the session's screen is locked.
    ///   - hasBeenUnlocked: the session was unlocked at least once.
    ///   - hasBeenSaidUnlocked: somebody who knows has said so; nil where that is the same.
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

    /// The session that `Sessions=any` assumes: where there is no logind to ask, whoever registers an agent sits there.
    public static let assumed = Session(
      isActive: .yes, isLocal: .yes, isGraphical: .yes, isUserSession: .yes, isLocked: .no, hasBeenUnlocked: true)
  }

  /// The master switch.
  public var isEnabled = true
  /// The reader is open and works.
  public var isReaderReady = false
  /// The session of the reader's seat; nil where there is none.
  public var session: Session?
  /// An agent is registered for that session.
  public var hasAgent = false
  /// The machine is about to sleep, or asleep.
  public var isSleeping = Fact.unknown
  /// A client uses the reader in a session of its own.
  public var isInReaderSession = false
  /// Somebody asked for no scanning for a while.
  public var isInhibited = false
  /// Every radio is switched off.
  public var isInAirplaneMode = Fact.unknown
  /// A camera is in use.
  public var isCameraInUse = Fact.unknown
  /// The display is off.
  public var isDisplayOff = Fact.unknown

  /// A reader of which nothing is known.
  public init() {}
}
