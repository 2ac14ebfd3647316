/// Whether a session is locked, combined from logind, the session's agent and the user. A lock outlives a restart of
/// logind.
///
/// Most desktops set logind's `LockedHint`, but some lockers do not. A hint that was never set is therefore no
/// information. A hint that was set and then cleared means "unlocked".
///
/// After a restart of logind the hint is cleared, and no signal announces it (seen with 252 and 257). A session that
/// was locked before stays locked until there is evidence of an unlock. The same applies if its agent quits after it
/// reported "locked".
///
/// Evidence is a change: logind clears the hint, the agent reports "locked" and then "unlocked", or the user confirms
/// the unlock. An agent that repeats "unlocked", or reports it first, is no evidence. It knows its own screen saver,
/// but not the locker that locked the session.
package struct LockState: Sendable, Hashable {
  package enum Event: Sendable, Hashable {
    /// The daemon read logind's hint: when it first saw the session, or after logind came back.
    case hintRead(Bool)
    /// logind's hint changed.
    case hintChanged(Bool)
    case logindGone
    /// The session's agent reported the lock state; `.unknown` if the agent cannot find out.
    case reported(Fact)
    /// The session's agent quit. This never unlocks the session.
    case reporterGone
    /// The user has just confirmed that the session is unlocked.
    case userUnlocked
  }

  private var hint = Fact.unknown
  private var hintIsMaintained = false
  private var remembersLock = false
  private var report = Fact.unknown
  /// The session was seen unlocked at least once, so its user has authenticated. A hint that was never set is enough if
  /// no source says "locked".
  package private(set) var hasBeenUnlocked = false
  /// `isLocked` was `.no` at least once: a reliable source said "unlocked".
  package private(set) var hasBeenSaidUnlocked = false

  package init() {}

  package mutating func handle(_ event: Event) {
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

  /// `.yes` if any source says "locked", else `.no` if a reliable source says "unlocked", else `.unknown`. Reliable
  /// sources are the agent, and a hint that has been set or has changed at least once.
  package var isLocked: Fact {
    if hint == .yes || report == .yes || remembersLock { return .yes }
    if report == .no || (hint == .no && hintIsMaintained) { return .no }
    return .unknown
  }
}
