/// The client's side of an MQTT connection, without the network. Pure: bytes and commands go in, bytes and reports come
/// out.
///
/// It supports MQTT 5.0 and 3.1.1 as far as a station needs them: messages with QoS 0 and 1, and subscriptions. The
/// agent's list is the only queue of taps, so this type never sends a message again. A broker can only make it end the
/// connection: all data that it keeps is bounded.
struct MqttClient {
  /// The output besides the bytes.
  enum Report: Hashable {
    case accepted
    case confirmed(token: UInt64, code: UInt8)
    case tooLarge(token: UInt64, isShortened: Bool)
    case notSubscribed(topic: String, code: UInt8)
    case message(topic: String, payload: [UInt8], isRetained: Bool)
  }

  /// In seconds. The broker gives up a client after one and a half times this time.
  private static let keepAlive: UInt16 = 30
  /// How long the broker keeps the session of a client that is gone, in seconds.
  private static let sessionExpiry: UInt32 = 86_400
  private static let messagesPerSecond = 16
  /// The most bytes that may wait when an answer to a message joins them.
  private static let mostOutput = 1 << 20
  /// The most messages without a confirmation, also if the broker takes more: a free number is always near.
  private static let mostInFlight = 1024
  /// Longer ones are no commands.
  private static let longestMessage = 64

  private let identity: BrokerIdentity
  private let version: MqttVersion
  private var splitter = PacketSplitter()
  /// The broker's answer to CONNECT; nil before it.
  private(set) var answer: UInt8?
  private var server = ServerProperties()
  private(set) var lastNumber: UInt16 = 0
  /// The tokens of the messages without a confirmation, by their numbers.
  private var inFlight: [UInt16: UInt64] = [:]
  /// The messages that wait because the broker takes no more at a time.
  private var waiting: [Publication] = []
  private var subscriptions: Set<String> = []
  private var subscribing: [UInt16: String] = [:]
  private var lastSent = Duration.zero
  /// When a PINGREQ without an answer was sent.
  private var pinged: Duration?
  /// How many messages came in the present second of the clock.
  private var arrivals = (second: Int64(0), count: 0)

  private(set) var output: [UInt8] = []
  private var reports: [Report] = []

  /// Begins with CONNECT.
  init(_ identity: BrokerIdentity, _ version: MqttVersion, at now: Duration) {
    (self.identity, self.version) = (identity, version)
    send(Self.connect(identity, version), now)
  }

  /// CONNECT (section 3.1). Without a clean start: the broker keeps the subscriptions. Its last will says that the
  /// station is offline.
  private static func connect(_ identity: BrokerIdentity, _ version: MqttVersion) -> [UInt8] {
    var packet = PacketWriter()
    packet.text("MQTT")
    packet.byte(version == .five ? 5 : 4)
    // A will with QoS 1 that is retained.
    var flags: UInt8 = 0x2C
    if identity.user != nil { flags |= 0x80 }
    if identity.user != nil && identity.password != nil { flags |= 0x40 }
    packet.byte(flags)
    packet.uint16(keepAlive)
    if version == .five {
      packet.properties { properties in
        properties.byte(0x11)
        properties.uint32(sessionExpiry)
        properties.byte(0x27)
        properties.uint32(UInt32(PacketSplitter.longest))
      }
    }
    packet.text(identity.clientID)
    if version == .five { packet.properties { _ in } }
    packet.text(identity.stateTopic)
    packet.text("offline")
    if let user = identity.user {
      packet.text(user)
      if let password = identity.password { packet.text(password) }
    }
    return packet.packet(0x10)
  }

  // MARK: Time and output

  /// When ``timePassed(_:)`` is due; nil before the broker's answer.
  var deadline: Duration? { answer == 0 ? (pinged ?? lastSent) + interval : nil }

  /// No longer than the broker allows; 0: the broker does not count the time.
  private var interval: Duration {
    let limit = server.keepAlive ?? 0
    return .seconds(Int64(limit > 0 ? min(limit, Self.keepAlive) : Self.keepAlive))
  }

  /// Sends PINGREQ after a time without output. Returns how the connection ends if the last PINGREQ has no answer.
  mutating func timePassed(_ now: Duration) -> BrokerEnding? {
    guard let deadline, now >= deadline else { return nil }
    if pinged != nil { return .lost("no answer for \(interval.components.seconds) seconds") }
    pinged = now
    send([0xC0, 0x00], now)
    return nil
  }

  /// These bytes of ``output`` were sent.
  mutating func sent(_ count: Int) { output.removeFirst(count) }

  private mutating func send(_ packet: [UInt8], _ now: Duration) {
    output += packet
    lastSent = now
  }

  /// The reports since the last call.
  mutating func takeReports() -> [Report] {
    defer { reports = [] }
    return reports
  }

  // MARK: Commands

  /// Sends a message, or without contents if the broker does not take its size. Returns how the connection ends if the
  /// broker takes no message with QoS 1.
  mutating func publish(_ publication: Publication, at now: Duration) -> BrokerEnding? {
    if publication.qos > server.maximumQoS ?? 2 { return .notAccepted(topic: publication.topic, code: 0x9B) }
    if publication.qos > 0, !mayStart {
      waiting.append(publication)
      return nil
    }
    let number = publication.qos == 0 ? nil : nextNumber()
    var packet = Self.packet(publication, publication.payload, number, version)
    if !fits(packet) {
      let shorter = publication.shorter.map { Self.packet(publication, $0, number, version) }
      let isShortened = shorter.map(fits) ?? false
      if publication.token != 0 { reports.append(.tooLarge(token: publication.token, isShortened: isShortened)) }
      guard let shorter, isShortened else { return nil }
      packet = shorter
    }
    if let number { inFlight[number] = publication.token }
    send(packet, now)
    return nil
  }

  /// Whether the broker takes one more message with QoS 1 now.
  private var mayStart: Bool {
    inFlight.count < min(Self.mostInFlight, max(1, Int(server.receiveMaximum ?? UInt16.max)))
  }

  private func fits(_ packet: [UInt8]) -> Bool {
    packet.count <= Int(server.maximumPacketSize ?? 0x0FFF_FFFF)
  }

  /// PUBLISH (section 3.3).
  private static func packet(
    _ publication: Publication, _ payload: [UInt8], _ number: UInt16?, _ version: MqttVersion
  ) -> [UInt8] {
    var packet = PacketWriter()
    packet.text(publication.topic)
    if let number { packet.uint16(number) }
    if version == .five {
      packet.properties { properties in
        guard let expiry = publication.expiry else { return }
        properties.byte(0x02)
        properties.uint32(expiry)
      }
    }
    packet.bytes(payload)
    return packet.packet(0x30 | UInt8(truncatingIfNeeded: publication.qos) << 1 | (publication.isRetained ? 1 : 0))
  }

  /// A number that no message and no subscription has.
  private mutating func nextNumber() -> UInt16 {
    repeat {
      lastNumber = lastNumber == UInt16.max ? 1 : lastNumber + 1
    } while inFlight[lastNumber] != nil || subscribing[lastNumber] != nil
    return lastNumber
  }

  /// SUBSCRIBE (section 3.8) with QoS 0: the broker keeps the session, and would keep commands with QoS 1 for a station
  /// that is away. A command that is carried out an hour later is worse than one that is lost.
  mutating func subscribe(_ topic: String, at now: Duration) {
    let number = nextNumber()
    subscriptions.insert(topic)
    subscribing[number] = topic
    var packet = PacketWriter()
    packet.uint16(number)
    if version == .five { packet.properties { _ in } }
    packet.text(topic)
    packet.byte(0)
    send(packet.packet(0x82), now)
  }

  /// DISCONNECT, the last packet.
  mutating func leave(at now: Duration) { send([0xE0, 0x00], now) }

  // MARK: The broker

  /// Takes over what the broker has sent. Returns how the connection ends; nil if it goes on.
  mutating func receive(_ bytes: some Collection<UInt8>, at now: Duration) -> BrokerEnding? {
    do throws(MalformedPacket) {
      for packet in try splitter.add(bytes) {
        if let ending = try receive(ServerPacket(packet, version), now) { return ending }
      }
      return nil
    } catch {
      return answer == nil && version == .five ? .unsupportedVersion : .lost("it does not keep to the protocol")
    }
  }

  private mutating func receive(_ packet: ServerPacket, _ now: Duration) throws(MalformedPacket) -> BrokerEnding? {
    if case .connectionAnswer(let code, let properties) = packet {
      guard answer == nil else { throw MalformedPacket() }
      return answered(code, properties)
    }
    guard answer == 0 else { throw MalformedPacket() }
    switch packet {
    case .connectionAnswer: break
    case .message(let topic, let payload, let isRetained, let isDuplicate, let qos, let number):
      if let number { try acknowledge(qos == 1 ? 0x40 : 0x50, number, now) }
      if qos < 2 || !isDuplicate { arrived(topic, payload, isRetained, now) }
    case .release(let number): try acknowledge(0x70, number, now)
    case .confirmation(let number, let code):
      guard let token = inFlight.removeValue(forKey: number) else { break }
      reports.append(.confirmed(token: token, code: code))
      // One that is too large makes no use of its place.
      while !waiting.isEmpty, mayStart {
        if let ending = publish(waiting.removeFirst(), at: now) { return ending }
      }
    case .subscriptionAnswer(let number, let code):
      guard let topic = subscribing.removeValue(forKey: number), code >= 0x80 else { break }
      reports.append(.notSubscribed(topic: topic, code: code))
    case .pong: pinged = nil
    case .disconnection(let code): return code >= 0x80 ? .disconnected(code: Int32(code)) : .dropped
    }
    return nil
  }

  private mutating func answered(_ code: UInt8, _ properties: ServerProperties) -> BrokerEnding? {
    answer = code
    server = properties
    switch code {
    case 0:
      reports.append(.accepted)
      return nil
    // 1 is MQTT 3.1.1's code for the same.
    case 0x84, 1: return .unsupportedVersion
    default: return .refused(code: Int32(code))
    }
  }

  /// PUBACK, PUBREC or PUBCOMP. Throws if the broker asks for them and does not read them.
  private mutating func acknowledge(_ first: UInt8, _ number: UInt16, _ now: Duration) throws(MalformedPacket) {
    guard output.count < Self.mostOutput else { throw MalformedPacket() }
    var packet = PacketWriter()
    packet.uint16(number)
    send(packet.packet(first), now)
  }

  private mutating func arrived(_ topic: String, _ payload: ArraySlice<UInt8>, _ isRetained: Bool, _ now: Duration) {
    guard subscriptions.contains(topic), payload.count <= Self.longestMessage else { return }
    // A flood must not fill the queue of the program.
    let second = now.components.seconds
    arrivals = (second, arrivals.second == second ? arrivals.count + 1 : 1)
    guard arrivals.count <= Self.messagesPerSecond else { return }
    reports.append(.message(topic: topic, payload: Array(payload), isRetained: isRetained))
  }
}

/// Builds a control packet of MQTT.
struct PacketWriter {
  private var body: [UInt8] = []

  mutating func byte(_ value: UInt8) { body.append(value) }

  mutating func uint16(_ value: UInt16) { body += [UInt8(value >> 8), UInt8(value & 0xFF)] }

  mutating func uint32(_ value: UInt32) {
    uint16(UInt16(value >> 16))
    uint16(UInt16(value & 0xFFFF))
  }

  /// A field with its length. MQTT has room for 65,535 bytes; the rest is cut.
  mutating func field(_ bytes: some Collection<UInt8>) {
    let kept = bytes.prefix(Int(UInt16.max))
    uint16(UInt16(kept.count))
    body += kept
  }

  mutating func text(_ value: String) { field(Array(value.utf8)) }

  mutating func bytes(_ value: [UInt8]) { body += value }

  /// Properties with their length in one byte: ours have less than 128 bytes.
  mutating func properties(_ write: (inout PacketWriter) -> Void) {
    var inner = PacketWriter()
    write(&inner)
    byte(UInt8(truncatingIfNeeded: inner.body.count))
    body += inner.body
  }

  /// The packet with its fixed header (MQTT 5.0, section 2.1).
  func packet(_ first: UInt8) -> [UInt8] {
    var header = [first]
    var rest = body.count
    repeat {
      let digit = UInt8(rest % 128)
      rest /= 128
      header.append(rest > 0 ? digit | 0x80 : digit)
    } while rest > 0
    return header + body
  }
}
