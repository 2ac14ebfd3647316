/// Whether a session is locked, put together from everybody who has a say, over a restart of logind.
///
/// logind's `LockedHint` is what most desktops set. Some lockers do not, so a hint that was never set says nothing; one
/// that was set and cleared says "unlocked". A logind that restarts comes back with the hint cleared and sends no signal
/// for it (seen with 252 and 257): a session that was locked before stays locked until something positive says otherwise. So
/// does one whose agent ends after it has said "locked".
///
/// Positive is a change: a hint that is cleared, an agent that said "locked" and then "unlocked", or the user's own word. An agent that
/// says "unlocked" as it did before, or as the first thing it says, knows of its own screen saver and not of the locker that is remembered.
public struct LockState: Sendable, Hashable {
  /// Something that bears on the lock.
  public enum Event: Sendable, Hashable {
    /// logind's hint, as read: at the first look at the session, or after logind came back.
    case hintRead(Bool)
    /// logind's hint changed.
    case hintChanged(Bool)
    /// logind left the bus.
    case logindGone
    /// The session's own agent said so; unknown where it cannot tell.
    case reported(Fact)
    /// The session's own agent is gone, which unlocks nothing.
    case reporterGone
    /// The user has said just now that the session is unlocked.
    case userUnlocked
  }

  private var hint = Fact.unknown
  private var hintIsMaintained = false
  private var remembersLock = false
  private var report = Fact.unknown
  /// The session was seen unlocked at least once, or nobody said that it was locked, so its user has shown who they are.
  public private(set) var hasBeenUnlocked = false
  /// Somebody who knows has said at least once that the session is unlocked.
  public private(set) var hasBeenSaidUnlocked = false

  /// Nothing is known yet.
  public init() {}

  /// Takes an observation in.
  public mutating func handle(_ event: Event) {
    switch event {
    case .hintRead(true), .hintChanged(true):
      hint = .yes
      hintIsMaintained = true
      remembersLock = false
    case .hintRead(false):
      hint = .no
    case .hintChanged(false):
      hint = .no
      hintIsMaintained = true
      remembersLock = false
    case .logindGone:
      remembersLock = remembersLock || hint == .yes
      hint = .unknown
    case .reported(let fact):
      if fact == .no && report == .yes { remembersLock = false }
      report = fact
    case .userUnlocked: remembersLock = false
    case .reporterGone:
      remembersLock = remembersLock || report == .yes
      report = .unknown
    }
    if isLocked != .yes && (hint == .no || report == .no) { hasBeenUnlocked = true }
    if isLocked == .no { hasBeenSaidUnlocked = true }
  }

  /// Locked where anybody says so; unlocked where somebody who knows says so; else unknown.
  public var isLocked: Fact {
    if hint == .yes || report == .yes || remembersLock { return .yes }
    if report == .no || (hint == .no && hintIsMaintained) { return .no }
    return .unknown
  }
}
