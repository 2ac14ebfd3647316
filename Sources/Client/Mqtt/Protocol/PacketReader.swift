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
