import EventLoop

/// When to check whether a camera is in use.
///
/// Pure. Device events report that a program opens or closes a camera. A check of all processes tells whether one has a
/// camera open. A check takes milliseconds, so a pause follows each one. The pause doubles while checks follow one
/// another.
struct CameraPlan: Sendable, Hashable {
  enum Event: Sendable, Hashable {
    /// Whether there are cameras, and whether each of them can be watched.
    case devices(present: Bool, watched: Bool)
    /// A program opened a camera.
    case opened
    /// A program closed a camera.
    case closed
    /// Events were lost.
    case lost
    /// The check has ended: whether a process has a camera open.
    case looked(Bool)
    /// The pause is over.
    case rested
  }

  enum Action: Sendable, Hashable {
    /// Check, then report `looked`.
    case look
    /// Wait, then report `rested`.
    case rest(Duration)
  }

  private enum Phase: Sendable, Hashable {
    /// No check is running or due. Can transition to: `.looking`.
    case idle
    /// A check is running. Can transition to: `.resting`.
    case looking
    /// The pause after a check. Can transition to: `.looking` if another check is due, else `.idle`.
    case resting
  }

  private var phase = Phase.idle
  /// An event came that the running check may have missed.
  private var isDue = false
  /// The kernel reports an open before the descriptor can be seen. A check that finds no user is then repeated once.
  private var looksAgain = false
  private var pause = Backoff(from: .milliseconds(250), to: .seconds(4))
  private var seen = Fact.unknown
  private var isPresent = false
  private var isWatched = false

  /// Whether a camera is in use. If a camera cannot be watched, this is unknown, unless another camera is in use.
  var fact: Fact {
    guard isPresent else { return .no }
    return isWatched || seen == .yes ? seen : .unknown
  }

  mutating func handle(_ event: Event) -> [Action] {
    switch event {
    case .devices(let present, let watched):
      (isPresent, isWatched) = (present, watched)
      return look()
    case .opened:
      guard seen != .yes || phase == .looking else { return [] }
      looksAgain = true
      return look()
    case .closed:
      guard seen == .yes || phase == .looking else { return [] }
      return look()
    case .lost: return look()
    case .looked(let isInUse):
      seen = Fact(isInUse)
      if looksAgain && !isInUse { isDue = true }
      looksAgain = false
      phase = .resting
      return [.rest(pause.next())]
    case .rested:
      phase = .idle
      guard isDue else {
        pause.reset()
        return []
      }
      return look()
    }
  }

  private mutating func look() -> [Action] {
    guard phase == .idle else {
      isDue = true
      return []
    }
    isDue = false
    phase = .looking
    return [.look]
  }
}
