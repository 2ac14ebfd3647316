import ScanGate

/// When to look whether a camera is in use.
///
/// Pure: devices tell that somebody opens or closes one, a look through the processes says whether somebody has one open. A look
/// costs milliseconds, so that one that would follow another at once waits, the longer the longer that goes on.
struct CameraPlan: Sendable, Hashable {
  /// What happened.
  enum Event: Sendable, Hashable {
    /// What there is to watch: whether there are cameras, and whether each can be watched.
    case devices(present: Bool, watched: Bool)
    /// Somebody opened one.
    case opened
    /// Somebody closed one.
    case closed
    /// Events were lost.
    case lost
    /// The look has ended: whether somebody has one open.
    case looked(Bool)
    /// The pause is over.
    case rested
  }

  /// What is to be done.
  enum Action: Sendable, Hashable {
    /// Look, and say what is seen.
    case look
    /// Say when so much time has passed.
    case rest(Duration)
  }

  private enum Phase: Sendable, Hashable {
    case idle
    case looking
    case resting
  }

  private static let firstRest = Duration.milliseconds(250)
  private static let longestRest = Duration.seconds(4)

  private var phase = Phase.idle
  /// Something has happened that the look under way may have missed.
  private var isDue = false
  /// The kernel tells that a file is opened before its descriptor can be seen: what finds nothing then looks once more.
  private var looksAgain = false
  private var rest = CameraPlan.firstRest
  private var seen = Fact.unknown
  private var isPresent = false
  private var isWatched = false

  /// Whether a camera is in use. A camera that cannot be watched is one of which nothing is known, unless another is in use.
  var fact: Fact {
    guard isPresent else { return .no }
    return isWatched || seen == .yes ? seen : .unknown
  }

  /// Takes an event in.
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
      return [.rest(rest)]
    case .rested:
      phase = .idle
      guard isDue else {
        rest = Self.firstRest
        return []
      }
      rest = min(rest * 2, Self.longestRest)
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
