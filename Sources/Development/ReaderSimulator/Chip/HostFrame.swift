/// A frame on the line between host and chip (PN532 User Manual UM0701-02, section 6.2.1).
enum HostFrame: Hashable, Sendable {
  /// Acknowledges a frame. If the host sends it during a command, it aborts that command.
  case acknowledge
  /// Asks for the last answer again.
  case notAcknowledge
  /// The chip's reply to an unknown or malformed command.
  case error
  /// The frame identifier (TFI) and the data after it. The length decides whether the frame is normal or extended.
  case information([UInt8])

  /// The frame identifier of frames from the host.
  static let hostIdentifier: UInt8 = 0xD4
  /// The frame identifier of frames from the chip.
  static let chipIdentifier: UInt8 = 0xD5
  /// The frame identifier and 264 bytes of data.
  static let maximumInformationLength = 265

  /// The frame as it travels, including preamble and postamble.
  var bytes: [UInt8] {
    switch self {
    case .acknowledge: [0x00, 0x00, 0xFF, 0x00, 0xFF, 0x00]
    case .notAcknowledge: [0x00, 0x00, 0xFF, 0xFF, 0x00, 0x00]
    case .error: [0x00, 0x00, 0xFF, 0x01, 0xFF, 0x7F, 0x81, 0x00]
    case .information(let payload): Self.encode(payload)
    }
  }

  /// Cuts a payload that no frame can carry: the chip has no room for more either.
  private static func encode(_ payload: [UInt8]) -> [UInt8] {
    let payload = payload.prefix(maximumInformationLength)
    var bytes: [UInt8] = [0x00, 0x00, 0xFF]
    if payload.count <= 0xFF {
      let length = UInt8(truncatingIfNeeded: payload.count)
      bytes += [length, 0 &- length]
    } else {
      let high = UInt8(truncatingIfNeeded: payload.count >> 8)
      let low = UInt8(truncatingIfNeeded: payload.count)
      bytes += [0xFF, 0xFF, high, low, 0 &- (high &+ low)]
    }
    bytes += payload
    bytes += [0 &- payload.reduce(0, &+), 0x00]
    return bytes
  }
}
