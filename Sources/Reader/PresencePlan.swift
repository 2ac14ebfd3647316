import Tags

/// What to do next where tags rest: check whether one is still there, or look for all of them, or rest, and how long.
///
/// The field stays on, so that a tag with a random identifier keeps it. One tag alone is checked with one command; several are
/// looked for anew each time, since a chip keeps at most two of one technology. Before a tag counts as away the field is off
/// once: a tag that is out of step hears nothing else.
///
/// Where nothing has come or gone for minutes, the field is off between two looks, which come at `idleInterval`; a tag that then is
/// taken away is noticed so much later. The first miss ends that.
struct PresencePlan {
  typealias Instant = SuspendingClock.Instant

  enum Step: Hashable {
    case pause(Duration)
    /// Ask the selected tag whether it is there.
    case check
    case fieldOff
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

  /// How much more rarely tags are looked for, when nothing happens, that may make up another identifier whenever the field comes on:
  /// each time they have to be read to know them again.
  static let rarity = 8
  /// How many times as long as it was on for a look the field is off after it, when nothing happens.
  static let leastRest = 4

  /// Where in a cycle it is when nothing happens.
  private enum Idleness {
    case awake
    case fieldIsOff
    case rested
    case looked(since: Instant)
  }

  private let modulations: [Modulation]
  private let idleInterval: Duration
  private let shortest: Duration
  private var hasPaused = true
  private var hasChecked = true
  private var newcomersDue: Instant?
  /// What rested at the last step, and since when that is so.
  private var known: [UInt64?] = []
  private var lastChange: Instant?
  private var idleness = Idleness.awake
  /// How long the last look took when nothing happened.
  private var lookTime = Duration.zero

  /// Whether nothing has happened for long.
  var isIdle: Bool { if case .awake = idleness { false } else { true } }

  /// - Parameters:
  ///   - modulations: what is looked for.
  ///   - pollInterval: who has the field looked at in quicker succession than usual wants this, too.
  ///   - idleInterval: from the beginning of one look to that of the next where nothing has happened for `PollPlan.idleAfter`.
  init(_ modulations: [Modulation], pollInterval: Duration, idleInterval: Duration) {
    self.modulations = modulations
    self.idleInterval = max(idleInterval, Self.checkInterval)
    shortest = pollInterval * 3
  }

  /// A tag has come, or scanning begins with one there: others may lie beside it.
  mutating func begin() {
    newcomersDue = nil
    hasPaused = true
    hasChecked = true
    lastChange = nil
    idleness = .awake
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
    if !missed, isQuiet(resting, at: now) { return idleStep(resting, at: now) }
    if isIdle {
      idleness = .awake
      hasPaused = !missed
    }
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

  /// Whether what rests has been the same for long.
  private mutating func isQuiet(_ resting: [PlacementTracker.Resting], at now: Instant) -> Bool {
    let numbers = resting.map(\.number)
    guard let lastChange, numbers == known else {
      (lastChange, known) = (now, numbers)
      return false
    }
    return lastChange.duration(to: now) >= PollPlan.idleAfter
  }

  private mutating func idleStep(_ resting: [PlacementTracker.Resting], at now: Instant) -> Step {
    switch idleness {
    case .awake:
      idleness = .fieldIsOff
      lookTime = .zero
      return .fieldOff
    case .looked(let begin):
      idleness = .fieldIsOff
      lookTime = begin.duration(to: now)
      return .fieldOff
    case .fieldIsOff:
      idleness = .rested
      let mayChange = resting.contains { $0.tag.mayChangeIdentifier }
      let interval = idleInterval * (mayChange ? Self.rarity : 1)
      return .pause(max(interval - lookTime, lookTime * Self.leastRest))
    case .rested:
      idleness = .looked(since: now)
      let own = modulations.filter { modulation in resting.contains { $0.tag.modulation == modulation } }
      return .look(modulations.filter { !own.contains($0) } + own, isAnew: false)
    }
  }
}
