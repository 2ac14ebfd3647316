import Testing

@testable import MqttTests

/// Ten million packets of a hostile broker.
@Suite struct PacketStormTests {
  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func `ten million packets do no more than end connections`(seed: UInt64) throws {
    var storm = PacketStorm(seed: 1000 + seed)
    try storm.run(packets: 1_000_000)
  }
}
