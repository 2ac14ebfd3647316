/// Builds a control packet of MQTT.
struct PacketWriter {
  private var body: [UInt8] = []

  mutating func byte(_ value: UInt8) { body.append(value) }

  mutating func uint16(_ value: UInt16) { body += [UInt8(value >> 8), UInt8(value & 0xFF)] }

  mutating func uint32(_ value: UInt32) {
    uint16(UInt16(value >> 16))
    uint16(UInt16(value & 0xFFFF))
  }

  /// A field with its length. MQTT has room for 65,535 bytes; what is longer is cut.
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
