/// What to do next where no tag is there: look for which technology, or wait with the field on or off, and how long.
///
/// The field comes on for a window of some 40 ms, which comes again after `interval`. A window begins and ends with a look for
/// Type A, which nearly every tag is, and has room for some of the other technologies between; the next one has the rest of
/// them. Two looks a window find a tag that is placed at any moment as soon as looks at equal distances would, and cost one
/// command that switches the field off instead of two. What is known of the chip's time is not written down here but measured,
/// so that the field is on for at most `mostFieldTime` on a slow line, too.
///
///     on   A  B  1  .  A                          A  .  F  F  A
///     off  ─────────────── ... ─────────────────── ──────────────── ...
///     ms   0           31                        125          169        250
struct PollPlan {
  typealias Instant = SuspendingClock.Instant

  enum Step: Hashable {
    case look(Modulation)
    case fieldOff
    case pause(Duration)
  }

  /// The share of the time that the field may be on.
  static let mostFieldTime = 0.4
  /// Where windows come at longer distances a second look would not pay for the field, and there is time for everything.
  static let longestShared = Duration.milliseconds(200)
  /// How long the field has to be off until every tag has lost its power and begins anew (NFC Forum Activity, t FIELD_OFF).
  static let resetTime = Duration.milliseconds(5)
  /// When nothing has happened for so long, windows come at `idleInterval`.
  static let idleAfter = Duration.seconds(300)

  private enum Phase {
    /// The steps of a window that are still to be done.
    case on(ArraySlice<WindowStep>)
    /// The field is being switched off.
    case ending
    case off
  }

  private enum WindowStep {
    case look(Modulation)
    /// Wait with the field on until so long after the window began.
    case hold(Duration)
  }

  /// What is looked for, the likeliest first; every window looks for the first of them.
  let modulations: [Modulation]
  /// What windows look for in turns. FeliCa tags need the field for 20 ms before they listen.
  private let others: [[Modulation]]
  private let interval: Duration
  private let idleInterval: Duration

  private var phase = Phase.off
  private var turn = 0
  private var lastActivity: Instant?
  private var windowBegan: Instant?
  /// From this window's beginning to the next one's.
  private var distance: Duration
  /// How long the field was on in the last windows, the newest last: as many as there are turns.
  private var fieldTimes: [Duration] = []

  /// - Parameters:
  ///   - modulations: what is looked for.
  ///   - interval: from the beginning of one window to that of the next.
  ///   - idleInterval: the same where nothing has happened for `idleAfter`.
  init(_ modulations: Set<Modulation>, interval: Duration, idleInterval: Duration) {
    self.modulations = [.typeA, .typeB, .jewel, .felica212, .felica424].filter(modulations.contains)
    let others = self.modulations.dropFirst()
    self.others = [others.filter { !$0.isFeliCa }, others.filter(\.isFeliCa)].filter { !$0.isEmpty }
    self.interval = interval
    self.idleInterval = max(interval, idleInterval)
    distance = interval
  }

  /// Scanning begins, or a tag was there until now: every tag loses its power, and all technologies have their turn.
  mutating func begin(at now: Instant) {
    // The field may be on; that it goes off is the first step.
    phase = .on([])
    turn = 0
    lastActivity = now
    windowBegan = nil
    distance = interval
    fieldTimes = []
  }

  /// The last step is done: what comes next?
  mutating func next(at now: Instant) -> Step {
    switch phase {
    case .on(var steps):
      guard let step = steps.popFirst() else {
        phase = .ending
        return .fieldOff
      }
      phase = .on(steps)
      switch step {
      case .look(let modulation): return .look(modulation)
      case .hold(let end):
        let missing = windowBegan.map { end - $0.duration(to: now) } ?? .zero
        return missing > .zero ? .pause(missing) : next(at: now)
      }
    case .ending:
      phase = .off
      return .pause(endWindow(at: now))
    case .off:
      windowBegan = now
      phase = .on(window()[...])
      return next(at: now)
    }
  }

  private mutating func window() -> [WindowStep] {
    guard let first = modulations.first, distance < Self.longestShared else { return modulations.map(WindowStep.look) }
    defer { turn += 1 }
    let turns = others.isEmpty ? [] : others[turn % others.count]
    // With the second look a quarter of the distance after the first, or later, half of all moments are at most that far
    // from the next look; earlier, and fewer are.
    return ([first] + turns).map(WindowStep.look) + [.hold(distance / 4), .look(first)]
  }

  /// How long the field now stays off.
  private mutating func endWindow(at now: Instant) -> Duration {
    guard let windowBegan, let lastActivity else { return Self.resetTime }
    let elapsed = windowBegan.duration(to: now)
    fieldTimes = fieldTimes.suffix(max(others.count, 1) - 1) + [elapsed]
    let affordable = fieldTimes.reduce(.zero, +) / (Self.mostFieldTime * Double(fieldTimes.count))
    let isIdle = lastActivity.duration(to: now) >= Self.idleAfter
    distance = max(isIdle ? idleInterval : interval, affordable)
    return max(Self.resetTime, distance - elapsed)
  }
}
