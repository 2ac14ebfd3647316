/// Whether a session is locked, put together from everybody who has a say, over a restart of logind.
///
/// logind's `LockedHint` is what most desktops set. Some lockers do not, so a hint that was never set says nothing; one
/// that was set and cleared says "unlocked". A logind that restarts comes back with the hint cleared and sends no signal
/// for it (seen with 252 and 257): a session that was locked before stays locked until something positive says otherwise.
public struct LockState: Sendable, Hashable {
  /// Something that bears on the lock.
  public enum Event: Sendable, Hashable {
    /// logind's hint, as read: at the first look at the session, or after logind came back.
    case hintRead(Bool)
    /// logind's hint changed.
    case hintChanged(Bool)
    /// logind left the bus.
    case logindGone
    /// The session's own agent said so; unknown where the agent left or cannot tell.
    case reported(Fact)
  }

  private var hint = Fact.unknown
  private var hintIsMaintained = false
  private var remembersLock = false
  private var report = Fact.unknown
  /// The session was seen unlocked at least once, so its user has shown who they are.
  public private(set) var hasBeenUnlocked = false

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
      report = fact
      if fact == .no { remembersLock = false }
    }
    if isLocked != .yes && (hint == .no || report == .no) { hasBeenUnlocked = true }
  }

  /// Locked where anybody says so; unlocked where somebody who knows says so; else unknown.
  public var isLocked: Fact {
    if hint == .yes || report == .yes || remembersLock { return .yes }
    if report == .no || (hint == .no && hintIsMaintained) { return .no }
    return .unknown
  }
}
