/// What to do next where no tag is there: look for which technology, or rest, and how long.
///
/// One technology at a time, with the shortest command that the chip has for it, and the field off between two cycles. Each
/// cycle begins with Type A, which nearly every tag is; four times a second it goes on to all the others. What is known of the
/// chip's time is not written down here but measured, so that the field is on for at most `mostFieldTime` on a slow line, too.
struct PollPlan {
  typealias Instant = SuspendingClock.Instant

  enum Step: Hashable {
    case look(Modulation)
    case fieldOff
    case pause(Duration)
  }

  /// The share of the time that the field may be on.
  static let mostFieldTime = 0.4
  /// How long after one cycle with all technologies the next one is due.
  static let othersInterval = Duration.milliseconds(240)
  /// How long the field has to be off until every tag has lost its power and begins anew (NFC Forum Activity, t FIELD_OFF).
  static let resetTime = Duration.milliseconds(5)
  /// When nothing has happened for so long, cycles come at `idleInterval`.
  static let idleAfter = Duration.seconds(300)

  private enum Phase {
    case looking
    /// The field is being switched off.
    case ending
    case resting
  }

  /// What is looked for, in the order in which it is: Type A first, FeliCa last, when the field has been on for a while.
  let modulations: [Modulation]
  private let interval: Duration
  private let idleInterval: Duration

  private var phase = Phase.looking
  /// What is still to be looked for in this cycle.
  private var pending: ArraySlice<Modulation> = []
  private var lastActivity: Instant?
  private var cycleBegan: Instant?
  private var fieldCameOn: Instant?
  private var othersBegan: Instant?
  /// Field time of the cycles since the last one with all technologies began, and how many they are.
  private var spent: (time: Duration, cycles: Int) = (.zero, 0)
  /// How far apart cycles have to be by what those before have taken.
  private var affordable: Duration?

  /// - Parameters:
  ///   - modulations: what is looked for.
  ///   - interval: from the beginning of one cycle to that of the next.
  ///   - idleInterval: the same where nothing has happened for `idleAfter`.
  init(_ modulations: Set<Modulation>, interval: Duration, idleInterval: Duration) {
    self.modulations = [.typeA, .typeB, .jewel, .felica212, .felica424].filter(modulations.contains)
    self.interval = interval
    self.idleInterval = max(interval, idleInterval)
  }

  /// Scanning begins, or a tag was there until now: every tag loses its power, and all technologies have their turn.
  mutating func begin(at now: Instant) {
    phase = .looking
    pending = []
    lastActivity = now
    cycleBegan = nil
    // The field may be on; that it goes off is the first step.
    fieldCameOn = now
    othersBegan = nil
    affordable = nil
    spent = (.zero, 0)
  }

  /// The last step is done: what comes next?
  mutating func next(at now: Instant) -> Step {
    switch phase {
    case .looking:
      if let modulation = pending.popFirst() {
        fieldCameOn = fieldCameOn ?? now
        return .look(modulation)
      }
      if fieldCameOn == nil {
        phase = .resting
        return next(at: now)
      }
      phase = .ending
      return .fieldOff
    case .ending:
      phase = .resting
      return .pause(endCycle(at: now))
    case .resting:
      phase = .looking
      beginCycle(at: now)
      return next(at: now)
    }
  }

  private mutating func beginCycle(at now: Instant) {
    cycleBegan = now
    guard modulations.first == .typeA, let othersBegan, othersBegan.duration(to: now) < Self.othersInterval else {
      if spent.cycles > 0 { affordable = spent.time / (Self.mostFieldTime * Double(spent.cycles)) }
      spent = (.zero, 0)
      othersBegan = now
      pending = modulations[...]
      return
    }
    pending = [.typeA]
  }

  /// How long the field now stays off.
  private mutating func endCycle(at now: Instant) -> Duration {
    defer { fieldCameOn = nil }
    guard let cycleBegan, let fieldCameOn else { return Self.resetTime }
    let time = fieldCameOn.duration(to: now)
    spent = (spent.time + time, spent.cycles + 1)
    let isIdle = lastActivity.map { $0.duration(to: now) >= Self.idleAfter } ?? true
    let distance = max(isIdle ? idleInterval : interval, affordable ?? .zero)
    return max(Self.resetTime, distance - cycleBegan.duration(to: now))
  }
}
