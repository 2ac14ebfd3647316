import Tags

/// What to do next where tags rest: check whether one is still there, or look for all of them, or rest, and how long.
///
/// The field stays on, so that a tag with a random identifier keeps it. One tag alone is checked with one command; several are
/// looked for anew each time, since a chip keeps at most two of one technology. Before a tag counts as away the field is off
/// once: a tag that is out of step hears nothing else.
struct PresencePlan {
  typealias Instant = SuspendingClock.Instant

  enum Step: Hashable {
    case pause(Duration)
    /// Ask the selected tag whether it is there.
    case check
    /// Look for these technologies, in this order, with the field off before where `isAnew`.
    case look([Modulation], isAnew: Bool)
  }

  /// How long at most from one check to the next. With what checks and looks take on a slow line, a tag that is taken away is
  /// noticed within 300 ms.
  static let checkInterval = Duration.milliseconds(120)
  /// The same where several tags rest, whose looks take longer.
  static let lookInterval = Duration.milliseconds(60)
  /// How often other tags beside those that rest are looked for.
  static let newcomerInterval = Duration.milliseconds(700)
  /// The pause before a look that finds out whether a tag is away. With the field off it makes every tag begin anew.
  static let confirmationInterval = Duration.milliseconds(10)

  private let modulations: [Modulation]
  private let shortest: Duration
  private var hasPaused = true
  private var hasChecked = true
  private var newcomersDue: Instant?

  /// - Parameters:
  ///   - modulations: what is looked for.
  ///   - pollInterval: who has the field looked at in quicker succession than usual wants this, too.
  init(_ modulations: [Modulation], pollInterval: Duration) {
    self.modulations = modulations
    shortest = pollInterval * 3
  }

  /// A tag has come, or scanning begins with one there: others may lie beside it.
  mutating func begin() {
    newcomersDue = nil
    hasPaused = true
    hasChecked = true
  }

  /// The check has failed: whether the tag is away is looked at without delay.
  mutating func checkFailed() { hasPaused = true }

  /// The last step is done: what comes next?
  ///
  /// - Parameters:
  ///   - resting: what rests, at least one tag.
  ///   - selected: the tag that the chip has selected.
  ///   - now: the time.
  /// - Returns: the step.
  mutating func next(_ resting: [PlacementTracker.Resting], selected: TagActivation?, at now: Instant) -> Step {
    let missed = resting.contains { $0.misses > 0 }
    guard hasPaused else {
      hasPaused = true
      if missed { return .pause(Self.confirmationInterval) }
      return .pause(min(resting.count == 1 ? Self.checkInterval : Self.lookInterval, shortest))
    }
    hasPaused = false
    let own = modulations.filter { modulation in resting.contains { $0.tag.modulation == modulation } }
    if missed { return .look(own, isAnew: true) }
    let isSelected = resting.count == 1 && selected.map { resting[0].tag.isSameTag(as: $0) } ?? false
    if newcomersDue.map({ now >= $0 }) ?? true {
      // Whether a newcomer lies beside the tag or in its place is known where that was there just now.
      if isSelected && !hasChecked {
        (hasChecked, hasPaused) = (true, true)
        return .check
      }
      hasChecked = false
      newcomersDue = now + Self.newcomerInterval
      // What rests comes last, so that it is selected afterwards.
      return .look(modulations.filter { !own.contains($0) } + own, isAnew: false)
    }
    if isSelected { return .check }
    return .look(own, isAnew: false)
  }
}
