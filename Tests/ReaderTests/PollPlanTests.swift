import ReaderLink
import Testing

@testable import Reader

/// A plan, and a reader that takes its time as the table in `TimingModel.realistic` has it.
private struct Walk {
  var plan: PollPlan
  private(set) var now = SuspendingClock.now
  /// When each look began.
  private(set) var looks: [(modulation: Modulation, begin: SuspendingClock.Instant)] = []
  private(set) var fieldTime = Duration.zero
  private var fieldCameOn: SuspendingClock.Instant?
  /// How often the field was switched off.
  private(set) var windows = 0

  init(
    _ modulations: Set<Modulation> = Set(Modulation.allCases), interval: Duration = ReaderTiming.pollInterval,
    idleInterval: Duration = .milliseconds(250)
  ) {
    plan = PollPlan(modulations, interval: interval, idleInterval: idleInterval)
    plan.begin(at: now)
  }

  /// `slowness`: how much longer everything takes than on a PN532 at 115,200 baud.
  mutating func run(for duration: Duration, slowness: Double = 1) {
    let end = now + duration
    while now < end { step(slowness) }
  }

  mutating func step(_ slowness: Double = 1) {
    switch plan.next(at: now) {
    case .look(let modulation):
      looks.append((modulation, now))
      if fieldCameOn == nil {
        fieldCameOn = now
        // FeliCa tags need longer until they listen.
        now += .milliseconds(modulation.isFeliCa ? 22 : 5) * slowness
      }
      let time =
        switch modulation {
        case .typeA, .jewel: 7.5
        case .typeB: 8.8
        case .felica212: 12.0
        case .felica424: 11.7
        }
      now += .microseconds(Int(time * 1000 * slowness))
    case .fieldOff:
      now += .microseconds(2300) * slowness
      if let fieldCameOn { fieldTime += fieldCameOn.duration(to: now) }
      fieldCameOn = nil
      windows += 1
    case .pause(let duration):
      if fieldCameOn == nil {
        #expect(duration >= PollPlan.resetTime, "a tag could keep its power")
      }
      now += duration
    }
  }

  /// The times between two looks for the same technology.
  func gaps(_ modulation: Modulation) -> [Duration] {
    let begins = looks.filter { $0.modulation == modulation }.map(\.begin)
    return zip(begins, begins.dropFirst()).map { $0.duration(to: $1) }
  }

  func longestGap(_ modulation: Modulation) -> Duration { gaps(modulation).max() ?? .zero }

  /// What half of all moments at least are at most away from the next look.
  func medianWait(_ modulation: Modulation) -> Duration {
    let gaps = gaps(modulation)
    let moments = (0..<1000).map(Duration.milliseconds)
    let whole = gaps.reduce(.zero, +)
    return moments.first { wait in gaps.reduce(.zero) { $0 + min($1, wait) } * 2 >= whole } ?? .seconds(1)
  }
}

@Suite struct PollPlanTests {
  @Test func typeAIsFoundInTimeWhenItIsPlacedAtAnyMoment() {
    var walk = Walk()
    walk.run(for: .seconds(20))
    // Activation takes 26 ms with the field's coming on.
    #expect(walk.medianWait(.typeA) + .milliseconds(26) <= .milliseconds(60))
    #expect(walk.longestGap(.typeA) + .milliseconds(26) <= .milliseconds(150))
  }

  @Test(arguments: Modulation.allCases) func everyTechnologyHasItsTurn(modulation: Modulation) {
    var walk = Walk()
    walk.run(for: .seconds(20))
    // A FeliCa tag that comes with the field already on may miss a look for want of 20 ms.
    #expect(walk.longestGap(modulation) + .milliseconds(20 + 26) <= .milliseconds(350))
    var alone = Walk([modulation])
    alone.run(for: .seconds(20))
    #expect(alone.longestGap(modulation) + .milliseconds(26) <= .milliseconds(150))
    #expect(Set(alone.looks.map(\.modulation)) == [modulation])
  }

  @Test(arguments: [0.1, 1, 5]) func theFieldIsOnForAtMostTwoFifthsOfTheTime(slowness: Double) {
    for modulations in [Set(Modulation.allCases), [.typeA], [.felica212, .felica424]] {
      var walk = Walk(modulations)
      walk.run(for: .seconds(60), slowness: slowness)
      #expect(walk.fieldTime / .seconds(60) <= 0.405)
    }
  }

  @Test func windowsBeginAndEndWithTypeAAndShareTheOthers() {
    var walk = Walk()
    walk.run(for: .milliseconds(5 + 2 * 125))
    let window: [[Modulation]] = [[.typeA, .typeB, .jewel, .typeA], [.typeA, .felica212, .felica424, .typeA]]
    #expect(walk.looks.map(\.modulation).starts(with: window.joined()))
  }

  @Test func waitingTakesFewCommands() {
    var walk = Walk()
    walk.run(for: .seconds(20))
    // With one each window that switches the field off.
    #expect(walk.looks.count + walk.windows <= 41 * 20)
  }

  @Test func theFirstStepsTakeTheFieldFromTagsThatWereLeftWithIt() {
    var plan = PollPlan([.typeA], interval: .milliseconds(125), idleInterval: .milliseconds(250))
    let now = SuspendingClock.now
    plan.begin(at: now)
    #expect(plan.next(at: now) == .fieldOff)
    #expect(plan.next(at: now) == .pause(.milliseconds(5)))
    #expect(plan.next(at: now) == .look(.typeA))
    #expect(plan.next(at: now) == .pause(.milliseconds(125) / 4))
    #expect(plan.next(at: now + .milliseconds(33)) == .look(.typeA))
    #expect(plan.next(at: now + .milliseconds(40)) == .fieldOff)
    #expect(plan.next(at: now + .milliseconds(42)) == .pause(.milliseconds(83)))
  }

  @Test func whereNothingHappensForMinutesCyclesComeRarelyAndATagEndsThat() {
    var walk = Walk()
    walk.run(for: .seconds(299))
    let busy = walk.looks.count + walk.windows
    walk.run(for: .seconds(301))
    #expect(walk.looks.count + walk.windows - busy < busy * 2 / 3)
    // What takes longer to be noticed now is noticed whatever it is.
    let idle = walk.looks.filter { $0.modulation == .felica424 }.map(\.begin).suffix(100)
    #expect(zip(idle, idle.dropFirst()).allSatisfy { $0.duration(to: $1) <= .milliseconds(350) })
    let begin = walk.now
    walk.plan.begin(at: walk.now)
    walk.run(for: .seconds(2))
    let looks = walk.looks.filter { $0.begin >= begin && $0.modulation == .typeA }
    #expect(looks.count > 28)
  }

  @Test func aLongIntervalIsHeldAndEachWindowHasEverything() {
    var walk = Walk(interval: .seconds(2))
    walk.run(for: .seconds(21))
    for modulation in Modulation.allCases { #expect(walk.looks.count { $0.modulation == modulation } == 11) }
  }
}
