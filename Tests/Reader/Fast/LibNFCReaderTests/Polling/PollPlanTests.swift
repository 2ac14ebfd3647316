import Daemon
import ReaderProtocol
import Testing

@testable import LibNFCReader
@testable import ReaderKit

/// Runs a plan on a clock that advances by the command times of `TimingModel.realistic`.
private struct Walk {
  var plan: PollPlan
  private(set) var now = SuspendingClock.now
  private(set) var looks: [(modulation: Modulation, begin: SuspendingClock.Instant)] = []
  private(set) var fieldTime = Duration.zero
  private var fieldCameOn: SuspendingClock.Instant?
  /// The number of times that the field was switched off.
  private(set) var windows = 0

  init(
    _ modulations: Set<Modulation> = Set(Modulation.allCases), interval: Duration = ReaderTiming.pollInterval,
    idleInterval: Duration = .milliseconds(250)
  ) {
    plan = PollPlan(modulations, interval: interval, idleInterval: idleInterval)
    plan.begin(at: now)
  }

  /// Runs the plan. Everything takes `slowness` times as long as on a PN532 at 115,200 baud.
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
        // FeliCa tags need the field for longer before they listen.
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
      if fieldCameOn == nil { #expect(duration >= PollPlan.resetTime, "the pause is too short to reset a tag") }
      now += duration
    }
  }

  /// The times between two looks for one of these.
  func gaps(_ modulations: Modulation...) -> [Duration] {
    let begins = looks.filter { modulations.contains($0.modulation) }.map(\.begin)
    return zip(begins, begins.dropFirst()).map { $0.duration(to: $1) }
  }

  /// The median wait: for half of all moments, the next look is at most this far away.
  static func medianWait(_ gaps: [Duration]) -> Duration {
    let moments = (0..<1000).map(Duration.milliseconds)
    let whole = gaps.reduce(.zero, +)
    return moments.first { wait in gaps.reduce(.zero) { $0 + min($1, wait) } * 2 >= whole } ?? .seconds(1)
  }
}

@Suite struct PollPlanTests {
  private var walk = Walk()

  @Test mutating func `a Type A tag is found in time whenever it is placed, with few commands`() throws {
    walk.run(for: .seconds(20))
    // Activation takes 26 ms, including the time to switch the field on.
    #expect(Walk.medianWait(walk.gaps(.typeA)) + .milliseconds(26) <= .milliseconds(60))
    #expect(try #require(walk.gaps(.typeA).max()) + .milliseconds(26) <= .milliseconds(150))
    // This includes one command per window that switches the field off.
    #expect(walk.looks.count + walk.windows <= 48 * 20)
  }

  /// A FeliCa card that answers at both rates is found by either look.
  @Test(arguments: [[.typeB], [.jewel], [.felica212, .felica424]] as [[Modulation]])
  mutating func `a tag of any other type is found by the next window`(modulations: [Modulation]) throws {
    walk.run(for: .seconds(20))
    let begins = walk.looks.filter { modulations.contains($0.modulation) }.map(\.begin)
    let gaps = zip(begins, begins.dropFirst()).map { $0.duration(to: $1) }
    // An activation of Type B takes longest, 33 ms.
    #expect(Walk.medianWait(gaps) + .milliseconds(33) <= .milliseconds(100))
    #expect(try #require(gaps.max()) + .milliseconds(33) <= .milliseconds(200))
  }

  @Test(arguments: Modulation.allCases)
  mutating func `every technology is polled often enough`(modulation: Modulation) throws {
    walk.run(for: .seconds(20))
    // A FeliCa tag listens after 20 ms in the field. If it arrives while the field is on, it may miss a look.
    #expect(try #require(walk.gaps(modulation).max()) + .milliseconds(20 + 26) <= .milliseconds(350))
    var alone = Walk([modulation])
    alone.run(for: .seconds(20))
    #expect(try #require(alone.gaps(modulation).max()) + .milliseconds(26) <= .milliseconds(150))
    #expect(Set(alone.looks.map(\.modulation)) == [modulation])
  }

  @Test(arguments: [0.1, 1, 5]) func `the field is on for at most two fifths of the time`(slowness: Double) {
    for modulations in [Set(Modulation.allCases), [.typeA], [.felica212, .felica424]] {
      var walk = Walk(modulations)
      walk.run(for: .seconds(60), slowness: slowness)
      #expect(walk.fieldTime / .seconds(60) <= 0.405)
    }
  }

  @Test mutating func `windows begin and end with Type A, and look for FeliCa at one rate in turn`() {
    walk.run(for: .milliseconds(5 + 3 * 127))
    let window: [[Modulation]] = [
      [.typeA, .typeB, .jewel, .felica212, .typeA], [.typeA, .typeB, .jewel, .felica424, .typeA],
      [.typeA, .typeB, .jewel, .felica212, .typeA],
    ]
    #expect(walk.looks.map(\.modulation).starts(with: window.joined()))
  }

  @Test func `the first steps switch the field off to reset the tags`() {
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

  @Test mutating func `polling slows down after five idle minutes until the plan restarts`() {
    walk.run(for: .seconds(299))
    let busy = walk.looks.count + walk.windows
    walk.run(for: .seconds(301))
    #expect(walk.looks.count + walk.windows - busy < busy * 2 / 3)
    for rate in [Modulation.felica212, .felica424] {
      #expect(walk.gaps(rate).suffix(100).allSatisfy { $0 <= .milliseconds(350) })
    }
    let begin = walk.now
    walk.plan.begin(at: walk.now)
    walk.run(for: .seconds(2))
    let looks = walk.looks.filter { $0.begin >= begin && $0.modulation == .typeA }
    #expect(looks.count > 28)
  }

  @Test func `a long interval is kept and each window looks for all technologies`() {
    var walk = Walk(interval: .seconds(2))
    walk.run(for: .seconds(21))
    for modulation in Modulation.allCases {
      #expect(walk.looks.count { $0.modulation == modulation } == 11)
    }
  }
}
