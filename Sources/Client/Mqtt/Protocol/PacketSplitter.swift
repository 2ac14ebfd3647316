/// Parts the broker's bytes into control packets (MQTT 5.0, section 2.1).
///
/// It keeps at most one packet of `PacketSplitter.longest` bytes. A longer message, which MQTT 3.1.1 cannot forbid, is
/// skipped without being kept; nothing else may be longer.
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
