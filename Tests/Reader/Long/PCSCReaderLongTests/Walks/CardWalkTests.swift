import TestKit
import Testing

@testable import PCSCReaderSystemTests

@testable import ReaderSimulator

/// Random taps with random faults. A failure names the seed and the step.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct CardWalkTests {
  private static let seeds = [UInt64](1...12)
  private static let taps = 84

  @Test(arguments: seeds)
  func `each tap is announced once, and no card with contacts gets a command`(seed: UInt64) async throws {
    let plan = WalkPlan(seed: seed, count: Self.taps)
    let walk = try await CardWalk(
      plan, starter: "`each tap is announced once, and no card with contacts gets a command`_\(seed)")
    try await walk.run()
  }

  @Test func `the walks have 1,000 taps, with each kind of card and each fault`() {
    let steps = Self.seeds.flatMap { WalkPlan(seed: $0, count: Self.taps).steps }
    #expect(steps.count >= 1000)
    for kind in TagKind.allCases { #expect(steps.count { $0.card == .tag(kind) } >= 10, "\(kind)") }
    for card in UntouchedCardTests.Card.allCases {
      #expect(steps.count { $0.card == .foreign(card) } >= 10, "\(card)")
      #expect(steps.count { $0.neighbour == card } >= 10, "\(card)")
    }
    for model in WalkPlan.models {
      #expect(Self.seeds.contains { WalkPlan(seed: $0, count: 1).model == model }, "\(model.name)")
    }
    // The name of a fault, without its values.
    let faults = Dictionary(grouping: steps) { "\($0.fault)".prefix { $0 != "(" } }
    #expect(faults.count == 9)
    for (name, steps) in faults { #expect(steps.count >= 20, "\(name)") }
  }

  @Test func `the same seed gives the same walk`() {
    let plans = [1, 1, 2].map { WalkPlan(seed: $0, count: Self.taps) }
    #expect(plans[0] == plans[1])
    #expect(plans[0].steps != plans[2].steps)
  }
}
