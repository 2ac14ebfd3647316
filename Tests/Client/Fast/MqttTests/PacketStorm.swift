import Rig
import Testing

@testable import Mqtt

/// Packets of a hostile broker: of every type, with fields that are right, wrong or cut off, in pieces of any size.
struct PacketStorm {
  private var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  /// Feeds clients with packets. A client whose connection ends is replaced. Its reports stay bounded.
  mutating func run(packets: Int) throws {
    var client = try connect()
    var (endings, mostReports) = (0, 0)
    for number in 0..<packets {
      let bytes = packet()
      let cut = Int.random(in: 0...bytes.count, using: &random)
      let ending = client.receive(bytes[..<cut], at: .seconds(number)) ?? client.receive(bytes[cut...], at: .zero)
      mostReports = max(mostReports, client.takeReports().count)
      if Int.random(in: 0..<4, using: &random) == 0 {
        _ = client.publish(Publication(token: UInt64(number) + 1, topic: "a", payload: [1]), at: .zero)
      }
      if client.output.count > 4096 { client.sent(client.output.count) }
      if ending != nil { endings += 1 }
      // A client that skips a packet of 256 MiB would see nothing else.
      if ending != nil || number % 500 == 0 { client = try connect() }
    }
    #expect(endings > 0 && endings < packets && mostReports <= 32)
  }

  private mutating func connect() throws -> MqttClient {
    let isFive = Bool.random(using: &random)
    var client = MqttClient(try Sample.identity(), isFive ? .five : .threeOneOne, at: .zero)
    // Most brokers answer.
    if Int.random(in: 0..<8, using: &random) > 0 {
      _ = client.receive(isFive ? [0x20, 3, 0, 0, 0] : [0x20, 2, 0, 0], at: .zero)
    }
    client.subscribe("a", at: .zero)
    return client
  }

  private mutating func packet() -> [UInt8] {
    let types: [UInt8] = [0x20, 0x30, 0x31, 0x32, 0x34, 0x3C, 0x40, 0x62, 0x90, 0xD0, 0xE0, 0xF0, 0x00, 0x50]
    // Some are not at all of the protocol.
    guard Int.random(in: 0..<10, using: &random) > 0 else { return noise(upTo: 40) }
    let first = types.randomElement(using: &random) ?? 0x30
    var body: [UInt8] = []
    if first >> 4 == 3 { body += [0, 1, 0x61] }
    if Bool.random(using: &random) { body += [0, UInt8.random(in: 0...9, using: &random)] }
    if Bool.random(using: &random) { body += properties() }
    body += noise(upTo: 12)
    var length = body.count
    // A length that is not that of the body.
    if Int.random(in: 0..<20, using: &random) == 0 { length += Int.random(in: 0...100, using: &random) }
    var writer = PacketWriter()
    writer.bytes([UInt8](repeating: 0, count: length))
    return writer.packet(first).dropLast(length) + body
  }

  private mutating func properties() -> [UInt8] {
    var inner: [UInt8] = []
    for _ in 0..<Int.random(in: 0...3, using: &random) {
      inner += [UInt8.random(in: 0...0x30, using: &random)] + noise(upTo: 6)
    }
    return [UInt8(truncatingIfNeeded: inner.count)] + inner
  }

  private mutating func noise(upTo count: Int) -> [UInt8] {
    (0..<Int.random(in: 0...count, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
  }
}
