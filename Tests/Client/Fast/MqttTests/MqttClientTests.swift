import Rig
import Testing

@testable import Mqtt

/// The client's side of the protocol. The expected bytes follow from MQTT 5.0 and 3.1.1.
@Suite struct MqttClientTests {
  private let topic = "tagroute/desk/log"

  /// A client that the broker has accepted, and that has no message left to send.
  private func connected(
    _ version: MqttVersion = .five, properties: [UInt8] = []
  ) throws -> MqttClient {
    var client = MqttClient(try Sample.identity(), version, at: .zero)
    client.sent(client.output.count)
    let body: [UInt8] = version == .five ? [0, 0, UInt8(properties.count)] + properties : [0, 0]
    #expect(client.receive([0x20, UInt8(body.count)] + body, at: .zero) == nil)
    #expect(client.takeReports() == [.accepted] && client.answer == 0)
    return client
  }

  private func sent(_ client: inout MqttClient) -> [UInt8] {
    defer { client.sent(client.output.count) }
    return client.output
  }

  @Test func `CONNECT asks for the session, and leaves a will`() throws {
    let identity = try Sample.identity(user: "desk", password: "secret")
    let text = { (text: String) in [0, UInt8(text.utf8.count)] + Array(text.utf8) }
    let rest = text(identity.stateTopic) + text("offline") + text("desk") + text("secret")
    let three = MqttClient(identity, .threeOneOne, at: .zero).output
    let head = text("MQTT") + [4, 0xEC, 0, 30] + text(identity.clientID)
    #expect(three == [0x10, UInt8(head.count + rest.count)] + head + rest)
    let five = MqttClient(identity, .five, at: .zero).output
    let long =
      text("MQTT") + [5, 0xEC, 0, 30, 10, 0x11, 0, 1, 0x51, 0x80, 0x27, 0, 1, 0, 0] + text(identity.clientID) + [0]
    #expect(five == [0x10, UInt8(long.count + rest.count)] + long + rest)
  }

  @Test func `a message is numbered, and its confirmation names its token`() throws {
    for version in [MqttVersion.five, .threeOneOne] {
      var client = try connected(version)
      let tap = Publication(token: 9, topic: "a/b", payload: [1, 2], expiry: 60)
      #expect(client.publish(tap, at: .zero) == nil)
      let properties: [UInt8] = version == .five ? [5, 2, 0, 0, 0, 60] : []
      let body = [0, 3] + Array("a/b".utf8) + [0, 1] + properties + [1, 2]
      #expect(sent(&client) == [0x32, UInt8(body.count)] + body)
      #expect(client.publish(Publication(topic: "a/b", payload: [], isRetained: true), at: .zero) == nil)
      #expect(sent(&client).first == 0x31)
      #expect(client.receive([0x40, 2, 0, 1], at: .zero) == nil)
      #expect(client.takeReports() == [.confirmed(token: 9, code: 0)])
      // A confirmation of something else.
      #expect(client.receive([0x40, 2, 0, 1], at: .zero) == nil && client.takeReports().isEmpty)
    }
    var client = try connected()
    _ = client.publish(Publication(token: 1, topic: "a", payload: []), at: .zero)
    #expect(client.receive([0x40, 3, 0, 1, 0x87], at: .zero) == nil)
    #expect(client.takeReports() == [.confirmed(token: 1, code: 0x87)])
  }

  @Test func `the limits of the broker hold`() throws {
    // Receive Maximum 1, Maximum Packet Size 40, Server Keep Alive 10.
    var client = try connected(properties: [0x21, 0, 1, 0x27, 0, 0, 0, 40, 0x13, 0, 10])
    for token in 1...3 as ClosedRange<UInt64> {
      #expect(client.publish(Publication(token: token, topic: "a", payload: [UInt8(token)]), at: .zero) == nil)
    }
    for token in 1...3 as ClosedRange<UInt64> {
      let bytes = sent(&client)
      #expect(bytes == [0x32, 7, 0, 1, 0x61, 0, UInt8(token), 0, UInt8(token)])
      #expect(client.receive([0x40, 2, 0, UInt8(token)], at: .zero) == nil)
      #expect(client.takeReports() == [.confirmed(token: token, code: 0)])
    }
    let long = [UInt8](repeating: 7, count: 100)
    // The second of three is too large, and the third follows nevertheless.
    for (token, payload) in [(6, []), (7, long), (8, [])] as [(UInt64, [UInt8])] {
      #expect(client.publish(Publication(token: token, topic: "a", payload: payload), at: .zero) == nil)
    }
    _ = sent(&client)
    #expect(client.receive([0x40, 2, 0, 4], at: .zero) == nil)
    #expect(client.takeReports() == [.confirmed(token: 6, code: 0), .tooLarge(token: 7, isShortened: false)])
    #expect(sent(&client).first == 0x32)
    let last = client.lastNumber
    #expect(client.receive([0x40, 2, 0, UInt8(last)], at: .zero) == nil)
    #expect(client.takeReports() == [.confirmed(token: 8, code: 0)])
    #expect(client.publish(Publication(token: 4, topic: "a", payload: long, shorter: [1]), at: .zero) == nil)
    #expect(client.takeReports() == [.tooLarge(token: 4, isShortened: true)] && sent(&client).last == 1)
    #expect(client.receive([0x40, 2, 0, UInt8(client.lastNumber)], at: .zero) == nil)
    #expect(client.publish(Publication(token: 5, topic: "a", payload: long), at: .zero) == nil)
    #expect(client.takeReports() == [.confirmed(token: 4, code: 0), .tooLarge(token: 5, isShortened: false)])
    #expect(client.output.isEmpty && client.deadline == .seconds(10))
    client = try connected(properties: [0x24, 0])
    #expect(
      client.publish(Publication(token: 1, topic: "a", payload: []), at: .zero) == .notAccepted(topic: "a", code: 0x9B))
  }

  /// There must be a free number for each message.
  @Test func `messages wait if a broker confirms none`() throws {
    var client = try connected(.threeOneOne)
    for token in 1...70_000 as ClosedRange<UInt64> {
      #expect(client.publish(Publication(token: token, topic: "a", payload: []), at: .zero) == nil)
    }
    #expect(client.lastNumber == 1024)
    _ = sent(&client)
    #expect(client.receive([0x40, 2, 0, 1], at: .zero) == nil)
    #expect(client.lastNumber == 1025)
  }

  @Test func `a silent broker is asked, and then given up`() throws {
    var client = try connected()
    #expect(client.deadline == .seconds(30) && client.timePassed(.seconds(29)) == nil && client.output.isEmpty)
    #expect(client.timePassed(.seconds(30)) == nil && sent(&client) == [0xC0, 0])
    #expect(client.receive([0xD0, 0], at: .seconds(31)) == nil && client.deadline == .seconds(60))
    #expect(client.timePassed(.seconds(60)) == nil)
    #expect(client.timePassed(.seconds(90)) == .lost("no answer for 30 seconds"))
    #expect(MqttClient(try Sample.identity(), .five, at: .zero).deadline == nil)
  }

  @Test func `commands come on subscribed topics alone, and not as a flood`() throws {
    var client = try connected(.threeOneOne)
    client.subscribe("c", at: .zero)
    #expect(sent(&client) == [0x82, 6, 0, 1, 0, 1, 0x63, 0])
    let message = { (topic: UInt8, flags: UInt8) in [0x30 | flags, 4, 0, 1, topic, 0x78] }
    #expect(client.receive(message(0x63, 1) + message(0x64, 0), at: .zero) == nil)
    #expect(client.takeReports() == [.message(topic: "c", payload: [0x78], isRetained: true)])
    for _ in 1...100 { #expect(client.receive(message(0x63, 0), at: .seconds(1)) == nil) }
    #expect(client.takeReports().count == 16)
    // The broker refuses the subscription.
    #expect(client.receive([0x90, 3, 0, 1, 0x80], at: .zero) == nil)
    #expect(client.takeReports() == [.notSubscribed(topic: "c", code: 0x80)])
    // With QoS 1 and 2.
    #expect(client.receive([0x32, 6, 0, 1, 0x63, 0, 7, 0x78], at: .seconds(2)) == nil)
    #expect(client.receive([0x34, 6, 0, 1, 0x63, 0, 8, 0x78, 0x62, 2, 0, 8], at: .seconds(2)) == nil)
    #expect(client.takeReports().count == 2)
    #expect(sent(&client) == [0x40, 2, 0, 7, 0x50, 2, 0, 8, 0x70, 2, 0, 8])
  }

  @Test(
    arguments: [
      // An unknown property in PUBLISH and in PUBACK, a property that is cut off, and properties beyond the packet.
      [0x30, 6, 0, 1, 0x61, 2, 0x7F, 0], [0x40, 6, 0, 1, 0, 2, 0x7F, 0], [0x30, 6, 0, 1, 0x61, 2, 0x02, 0],
      [0x30, 4, 0, 1, 0x61, 9],
      // A second answer to CONNECT, AUTH, a request, a reserved type, wrong flags, QoS 3, a length of five bytes.
      [0x20, 3, 0, 0, 0], [0xF0, 0], [0x10, 0], [0x00, 0], [0x41, 2, 0, 1], [0x36, 4, 0, 1, 0x61, 0],
      [0x30, 0xFF, 0xFF, 0xFF, 0xFF, 0x01],
      // A topic that is no UTF-8, bytes behind the fields, and a long packet that is no message with QoS 0.
      [0x30, 4, 0, 1, 0xFF, 0], [0xD0, 1, 0], [0x40, 0x80, 0x80, 0x08],
    ] as [[UInt8]])
  func `a broker that breaks the protocol loses the connection`(bytes: [UInt8]) throws {
    var client = try connected()
    #expect(client.receive(bytes, at: .zero) == .lost("it does not keep to the protocol"))
  }

  @Test func `the answer to CONNECT decides`() throws {
    func ending(_ bytes: [UInt8], _ version: MqttVersion = .five) throws -> BrokerEnding? {
      var client = MqttClient(try Sample.identity(), version, at: .zero)
      return client.receive(bytes, at: .zero)
    }
    #expect(try ending([0x20, 3, 0, 0x86, 0]) == .refused(code: 0x86))
    #expect(try ending([0x20, 3, 0, 0x84, 0]) == .unsupportedVersion)
    #expect(try ending([0x20, 2, 0, 1], .threeOneOne) == .unsupportedVersion)
    // An answer in the form of MQTT 3.1.1, and something else than an answer.
    #expect(try ending([0x20, 2, 0, 1]) == .unsupportedVersion)
    #expect(try ending([0xD0, 0], .threeOneOne) == .lost("it does not keep to the protocol"))
    var client = try connected()
    #expect(client.receive([0xE0, 1, 0x8E], at: .zero) == .disconnected(code: 0x8E))
    client = try connected()
    #expect(client.receive([0xE0, 0], at: .zero) == .dropped)
  }

  @Test func `a message that is too long is skipped and not kept`() throws {
    var client = try connected()
    client.subscribe("c", at: .zero)
    // 256 MiB less one byte.
    #expect(client.receive([0x30, 0xFF, 0xFF, 0xFF, 0x7F], at: .zero) == nil)
    let piece = [UInt8](repeating: 0x30, count: 1 << 20)
    for _ in 1...255 { #expect(client.receive(piece, at: .zero) == nil) }
    #expect(client.receive(piece.dropLast() + [0x30, 5, 0, 1, 0x63, 0, 0x78], at: .zero) == nil)
    #expect(client.takeReports() == [.message(topic: "c", payload: [0x78], isRetained: false)])
  }

  @Test func `a broker that does not read what it asks for loses the connection`() throws {
    var client = try connected()
    let message: [UInt8] = [0x32, 6, 0, 1, 0x61, 0, 7, 0]
    let flood = (0..<1000).flatMap { _ in message }
    var ending: BrokerEnding?
    for _ in 1...300 where ending == nil { ending = client.receive(flood, at: .zero) }
    #expect(ending == .lost("it does not keep to the protocol"))
    #expect(client.output.count < 2 << 20)
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func `no stream of packets does more than end the connection`(seed: UInt64) throws {
    var storm = PacketStorm(seed: seed)
    try storm.run(packets: 20_000)
  }
}

/// Packets of a hostile broker: of every type, with fields that are right, wrong or cut off, in pieces of any size.
struct PacketStorm {
  private var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  /// Feeds clients with packets. A client is replaced when its connection ends. Its reports stay bounded.
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
      // A client that skips a packet of 256 MiB would ignore all others.
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
