import Bus
import TestKit
import Testing

@testable import MqttSystemTests
@testable import MqttTests

/// A broker that is away for long, or sends more commands than it may.
@Suite(.timeLimit(.minutes(60)), StopsAtEnd()) struct OfflineTests {
  /// More would take the processors from other tests. `tagroute-bench mqtt` does the same with 10,000.
  @Test func `a thousand taps that were read offline arrive in their order`() async throws {
    let count = 1000
    var options = Installation.Options()
    options.reader = .others
    // All taps but the last one are stale. All are young enough to be kept.
    var broker = Mosquitto.Options()
    broker.isPersistent = false
    let stage = try await Stage(broker, settings: ["LiveSeconds=600"], options: options)
    try await stage.proxy.command("shut")
    try await stage.start(connected: false)
    let taps = (1...count).map { SampleTap($0, age: .seconds(3600)) }
    try await stage.station.give(taps)
    #expect(try await stage.station.outgoing()["waiting"]?.asUInt32 == UInt32(count))
    try await stage.proxy.command("open")
    // The pause before the next attempt may be two minutes by now.
    try await stage.station.endMqtt()
    try await stage.startMqtt()
    let last = SampleTap(count + 1)
    try await stage.give(last)
    try await stage.check("1,000 taps while the broker was away", taps + [last], live: [last])
    #expect(try await stage.station.outgoing()["dropped"]?.asUInt64 == 0)
    // The sequence of the inbox increases with each tap.
    let sequences = try await stage.referee.messages().filter { $0.topic.hasSuffix("/log") }.compactMap(\.tap?.sequence)
    #expect(sequences.allSatisfy { $0 > 0 } && Set(sequences).count == count + 1)
  }

  @Test func `a flood of commands keeps no tap from its place`() async throws {
    var options = Installation.Options()
    options.reader = .others
    let stage = try await Stage(settings: [Stage.live, "Commands=yes"], options: options)
    try await stage.start()
    try await stage.broker.publish("x", to: "tagroute/desk/command/identify", count: 500)
    try await stage.station.installation.agent?.line(containing: "a program asked this computer to identify itself")
    let tap = SampleTap(1)
    try await stage.give(tap)
    try await stage.check("500 commands", [tap])
    try await stage.station.isConnected()
  }
}

@Suite struct PacketStormTests {
  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func `ten million packets do no more than end connections`(seed: UInt64) throws {
    var storm = PacketStorm(seed: 1000 + seed)
    try storm.run(packets: 1_000_000)
  }
}
