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
