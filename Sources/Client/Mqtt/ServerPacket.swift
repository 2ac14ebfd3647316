/// A control packet that a broker sends to a client.
enum ServerPacket: Hashable {
  case connectionAnswer(code: UInt8, ServerProperties)
  /// A message. The number is nil with QoS 0.
  case message(
    topic: String, payload: ArraySlice<UInt8>, isRetained: Bool, isDuplicate: Bool, qos: UInt8, number: UInt16?)
  /// The broker has a message with QoS 1, or does not take it.
  case confirmation(number: UInt16, code: UInt8)
  /// The second step of a message with QoS 2 from the broker.
  case release(number: UInt16)
  case subscriptionAnswer(number: UInt16, code: UInt8)
  case pong
  case disconnection(code: UInt8)

  /// Decodes a packet. Throws for a packet that a broker does not send to this client, such as AUTH.
  init(_ packet: PacketSplitter.Packet, _ version: MqttVersion) throws(MalformedPacket) {
    var reader = PacketReader(packet.body)
    let isFive = version == .five
    switch (packet.first >> 4, packet.first & 0x0F) {
    case (2, 0):
      _ = try reader.byte()
      let code = try reader.byte()
      self = .connectionAnswer(code: code, isFive ? try reader.properties() : ServerProperties())
    case (3, let flags):
      let qos = flags >> 1 & 0x03
      guard qos < 3 else { throw MalformedPacket() }
      let topic = try reader.text()
      let number = qos == 0 ? nil : try reader.uint16()
      if isFive { _ = try reader.properties() }
      self = .message(
        topic: topic, payload: reader.rest, isRetained: flags & 0x01 != 0, isDuplicate: flags & 0x08 != 0, qos: qos,
        number: number)
      return
    case (4, 0): self = .confirmation(number: try reader.uint16(), code: try Self.reason(&reader, isFive))
    case (6, 2):
      self = .release(number: try reader.uint16())
      _ = try Self.reason(&reader, isFive)
    case (9, 0):
      let number = try reader.uint16()
      if isFive { _ = try reader.properties() }
      self = .subscriptionAnswer(number: number, code: try reader.byte())
    case (13, 0): self = .pong
    case (14, 0) where isFive: self = .disconnection(code: try Self.reason(&reader, isFive))
    default: throw MalformedPacket()
    }
    guard reader.rest.isEmpty else { throw MalformedPacket() }
  }

  /// The reason code and the properties at the end of a packet of MQTT 5. Both may be missing (section 3.4.2.1).
  private static func reason(_ reader: inout PacketReader, _ isFive: Bool) throws(MalformedPacket) -> UInt8 {
    guard isFive, !reader.rest.isEmpty else { return 0 }
    let code = try reader.byte()
    if !reader.rest.isEmpty { _ = try reader.properties() }
    return code
  }
}

/// Parts the broker's bytes into control packets (MQTT 5.0, section 2.1).
///
/// It keeps at most one packet of `PacketSplitter.longest` bytes. A longer message, which MQTT 3.1.1 cannot forbid, is
/// skipped without being kept. No other packet may be longer.
struct PacketSplitter {
  /// The largest packet that the broker is asked to send, in bytes. The longest that we need is a command.
  static let longest = 64 * 1024

  /// A packet, without the length.
  struct Packet: Hashable {
    /// Type and flags.
    let first: UInt8
    let body: ArraySlice<UInt8>
  }

  private var bytes: [UInt8] = []
  /// How many bytes of a message that is too long are still to come.
  private var skipping = 0

  /// Adds bytes. Returns the packets that are complete. Throws if the stream cannot be read on.
  mutating func add(_ new: some Collection<UInt8>) throws(MalformedPacket) -> [Packet] {
    let skipped = min(skipping, new.count)
    skipping -= skipped
    bytes += new.dropFirst(skipped)
    var packets: [Packet] = []
    var rest = bytes[...]
    while let packet = try next(&rest) { packets.append(packet) }
    // A packet that comes in many pieces is not copied with each of them.
    if rest.startIndex > 0 { bytes = Array(rest) }
    return packets
  }

  private mutating func next(_ rest: inout ArraySlice<UInt8>) throws(MalformedPacket) -> Packet? {
    guard let first = rest.first else { return nil }
    var length = 0
    var digits = rest.dropFirst()
    for place in 0..<4 {
      guard let digit = digits.popFirst() else { return nil }
      length |= Int(digit & 0x7F) << (7 * place)
      guard digit & 0x80 != 0 else {
        guard length <= Self.longest else { return try skip(first, length, digits, &rest) }
        guard digits.count >= length else { return nil }
        rest = digits.dropFirst(length)
        return Packet(first: first, body: digits.prefix(length))
      }
    }
    throw MalformedPacket()
  }

  /// Skips a message with QoS 0, which needs no answer.
  private mutating func skip(
    _ first: UInt8, _ length: Int, _ digits: ArraySlice<UInt8>, _ rest: inout ArraySlice<UInt8>
  ) throws(MalformedPacket) -> Packet? {
    guard first & 0xF6 == 0x30 else { throw MalformedPacket() }
    skipping = max(0, length - digits.count)
    rest = digits.dropFirst(length)
    return try next(&rest)
  }
}

/// The broker has sent what the standard forbids.
struct MalformedPacket: Error {}

/// Reads the fields of a control packet, within its bounds.
struct PacketReader {
  private(set) var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  mutating func byte() throws(MalformedPacket) -> UInt8 {
    guard let byte = rest.popFirst() else { throw MalformedPacket() }
    return byte
  }

  mutating func uint16() throws(MalformedPacket) -> UInt16 {
    let high = UInt16(try byte())
    return high << 8 | UInt16(try byte())
  }

  mutating func uint32() throws(MalformedPacket) -> UInt32 {
    let high = UInt32(try uint16())
    return high << 16 | UInt32(try uint16())
  }

  /// A field with its length.
  mutating func field() throws(MalformedPacket) -> ArraySlice<UInt8> {
    let count = Int(try uint16())
    guard rest.count >= count else { throw MalformedPacket() }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }

  mutating func text() throws(MalformedPacket) -> String {
    guard let text = String(validating: try field(), as: UTF8.self) else { throw MalformedPacket() }
    return text
  }

  /// A variable byte integer (MQTT 5.0, section 1.5.5).
  private mutating func number() throws(MalformedPacket) -> Int {
    var value = 0
    for place in 0..<4 {
      let digit = try byte()
      value |= Int(digit & 0x7F) << (7 * place)
      if digit & 0x80 == 0 { return value }
    }
    throw MalformedPacket()
  }

  /// The properties of MQTT 5 (section 2.2.2). Those that this client does not use are only checked for their form.
  mutating func properties() throws(MalformedPacket) -> ServerProperties {
    let count = try number()
    guard rest.count >= count else { throw MalformedPacket() }
    var inner = PacketReader(rest.prefix(count))
    rest = rest.dropFirst(count)
    var found = ServerProperties()
    while !inner.rest.isEmpty {
      switch try inner.byte() {
      case 0x13: found.keepAlive = try inner.uint16()
      case 0x21: found.receiveMaximum = try inner.uint16()
      case 0x24: found.maximumQoS = try inner.byte()
      case 0x27: found.maximumPacketSize = try inner.uint32()
      // A byte, two bytes, four bytes, a variable integer, a field, a pair of fields.
      case 0x01, 0x17, 0x19, 0x25, 0x28, 0x29, 0x2A: _ = try inner.byte()
      case 0x22, 0x23: _ = try inner.uint16()
      case 0x02, 0x11, 0x18: _ = try inner.uint32()
      case 0x0B: _ = try inner.number()
      case 0x03, 0x08, 0x09, 0x12, 0x15, 0x16, 0x1A, 0x1C, 0x1F: _ = try inner.field()
      case 0x26:
        _ = try inner.field()
        _ = try inner.field()
      default: throw MalformedPacket()
      }
    }
    return found
  }
}

/// What the broker's properties in CONNACK say, as far as it matters to this client (MQTT 5.0, section 3.2.2.3).
struct ServerProperties: Hashable, Sendable {
  /// In seconds, in place of what the client has asked for.
  var keepAlive: UInt16?
  /// How many messages with QoS 1 may wait for their confirmation.
  var receiveMaximum: UInt16?
  var maximumQoS: UInt8?
  /// In bytes.
  var maximumPacketSize: UInt32?
}
