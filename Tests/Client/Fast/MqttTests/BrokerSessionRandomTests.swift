import Testing

@testable import Mqtt

/// Random sequences of failures: each tap arrives at least once, in order, and only confirmed taps are acknowledged.
@Suite struct BrokerSessionRandomTests {
  @Test(arguments: 0..<100)
  func `no sequence of failures loses a tap or changes the order`(seed: Int) throws {
    var world = try BrokerWorld(seed: UInt64(seed))
    for _ in 0..<600 { world.step() }
    world.settle()
    #expect(world.faults == [])
    #expect(world.isSettled)
    var first: [UInt64] = []
    var seen: Set<UInt64> = []
    for number in world.log where seen.insert(number).inserted { first.append(number) }
    #expect(first == first.sorted())
    // Nothing was confirmed that the broker does not have, so the agent has forgotten no other tap.
    #expect(first == Array(1...max(1, world.taps)).filter { $0 <= world.taps })
    #expect(world.taps > 0)
  }
}
