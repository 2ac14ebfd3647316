/// The next step while no tag rests: look for one technology, switch the field off, or pause.
///
/// The field comes on for a window of about 45 ms, once per `interval`. Each window looks for every technology, so a tag
/// of any kind is found by the next window. Type A, the technology of nearly every tag, has a second look at the end of
/// the window: two looks find a tag as soon as evenly spaced windows would, and need one command to switch the field off
/// instead of two.
///
/// FeliCa has two rates, and windows look for them in turn. Nearly all cards answer at both (JIS X 6319-4), so each
/// window finds them. A card that answers at one rate only is found by every second window. Windows that are far apart
/// look for both.
///
/// The plan measures the time that the chip takes. The field is therefore on for at most `mostFieldTime`, even on a
/// slow line.
///
///     on   A  B  1  F212 A                    A  B  1  F424 A
///     off  ────────────────── ... ────────────────────────────── ...
///     ms   0              41                  125            166
struct PollPlan {
  typealias Instant = SuspendingClock.Instant

  enum Step: Hashable {
    case look(Modulation)
    case fieldOff
    case pause(Duration)
  }

  /// The largest share of time with the field on.
  static let mostFieldTime = 0.4
  /// If windows start at least this far apart, a second look is not worth the field time.
  static let leastWithoutSecondLook = Duration.milliseconds(200)
  /// How long the field has to be off until every tag has lost its power and is reset (NFC Forum Activity,
  /// t FIELD_OFF).
  static let resetTime = Duration.milliseconds(5)
  /// After this time without activity, windows start every `idleInterval`.
  static let idleAfter = Duration.seconds(300)

  /// The phases of a window. `begin` sets `.on` from every phase.
  private enum Phase {
    /// The window's remaining steps. Can transition to: `.ending`.
    case on(ArraySlice<WindowStep>)
    /// The field is being switched off. Can transition to: `.off`.
    case ending
    /// The pause between two windows. Can transition to: `.on`.
    case off
  }

  private enum WindowStep {
    case look(Modulation)
    /// Wait with the field on until this long after the start of the window.
    case hold(Duration)
  }

  /// Most likely first. FeliCa comes last, because its tags need the field for 20 ms before they listen.
  let modulations: [Modulation]
  private let interval: Duration
  private let idleInterval: Duration

  private var phase = Phase.off
  private var turn = 0
  private var lastActivity: Instant?
  private var windowBegan: Instant?
  /// The time from the start of this window to the start of the next one.
  private var distance: Duration

  /// `interval` is the time between the starts of two windows. `idleInterval` is the same after `idleAfter` without
  /// activity.
  init(_ modulations: Set<Modulation>, interval: Duration, idleInterval: Duration) {
    self.modulations = [.typeA, .typeB, .jewel, .felica212, .felica424].filter(modulations.contains)
    self.interval = interval
    self.idleInterval = max(interval, idleInterval)
    distance = interval
  }

  /// Restarts the plan because scanning begins, or because a tag was there until now. Every tag loses its power first,
  /// and all technologies have their turn.
  mutating func begin(at now: Instant) {
    // The field may be on, so the first step switches it off.
    phase = .on([])
    turn = 0
    lastActivity = now
    windowBegan = nil
    distance = interval
  }

  /// Call it when the previous step is done.
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
    // Far apart, windows have room for both rates, and need no second look.
    guard distance < Self.leastWithoutSecondLook else { return modulations.map(WindowStep.look) }
    let rates = modulations.filter(\.isFeliCa)
    let rate = rates.isEmpty ? nil : rates[turn % rates.count]
    turn += 1
    let looks = modulations.filter { !$0.isFeliCa || $0 == rate }
    guard let first = looks.first else { return [] }
    // The second look comes at least a quarter of the distance after the first. For half of all moments, the next look
    // is then at most that quarter away. With an earlier second look, this holds for fewer moments.
    return looks.map(WindowStep.look) + [.hold(distance / 4), .look(first)]
  }

  /// Returns how long the field stays off.
  private mutating func endWindow(at now: Instant) -> Duration {
    guard let windowBegan, let lastActivity else { return Self.resetTime }
    let elapsed = windowBegan.duration(to: now)
    let isIdle = lastActivity.duration(to: now) >= Self.idleAfter
    distance = max(isIdle ? idleInterval : interval, elapsed / Self.mostFieldTime)
    return max(Self.resetTime, distance - elapsed)
  }
}
