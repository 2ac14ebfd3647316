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

  static let hostIdentifier: UInt8 = 0xD4
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

/// Finds frames in the bytes from the line, which include wake-up preambles, garbage and parts of frames.
///
/// The decoder drops a frame with a wrong checksum without an answer, as the chip does. The search continues right
/// after the start code of that frame, so that it finds a valid frame inside an apparently longer one.
struct HostFrameDecoder {
  private var buffer: [UInt8] = []

  /// Whether the decoder has found a start code but not yet the rest of its frame.
  var isInsideFrame: Bool { startCode != nil }

  /// Takes the next bytes from the line. Returns the frames that are complete now, in order.
  mutating func append(_ bytes: some Sequence<UInt8>) -> [HostFrame] {
    buffer += bytes
    return takeFrames()
  }

  /// Discards the incomplete frame, because its sender is gone. Returns the complete frames after the discarded start
  /// code.
  mutating func abandonFrame() -> [HostFrame] {
    guard let start = startCode else { return [] }
    buffer.removeFirst(start + 2)
    return takeFrames()
  }

  private var startCode: Int? {
    guard buffer.count >= 2 else { return nil }
    return (0..<(buffer.count - 1)).first { buffer[$0] == 0x00 && buffer[$0 + 1] == 0xFF }
  }

  private mutating func takeFrames() -> [HostFrame] {
    var frames: [HostFrame] = []
    while let start = startCode {
      switch Self.parse(buffer[(start + 2)...]) {
      case .complete(let frame, let length):
        buffer.removeFirst(start + 2 + length)
        frames.append(frame)
      case .damaged: buffer.removeFirst(start + 2)
      case .incomplete:
        buffer.removeFirst(start)
        return frames
      }
    }
    // A zero at the very end may be the first half of a start code.
    if buffer.last == 0x00 { buffer = [0x00] } else { buffer = [] }
    return frames
  }

  private enum Parsed {
    case complete(HostFrame, length: Int)
    case damaged
    case incomplete
  }

  /// The frame in the bytes after the start code, or why there is none.
  private static func parse(_ bytes: ArraySlice<UInt8>) -> Parsed {
    let bytes = Array(bytes)
    guard bytes.count >= 2 else { return .incomplete }
    switch (bytes[0], bytes[1]) {
    case (0x00, 0xFF): return .complete(.acknowledge, length: 2)
    case (0xFF, 0x00): return .complete(.notAcknowledge, length: 2)
    case (0xFF, 0xFF):
      guard bytes.count >= 5 else { return .incomplete }
      guard bytes[2] &+ bytes[3] &+ bytes[4] == 0 else { return .damaged }
      return parseInformation(bytes, headerLength: 5, length: Int(bytes[2]) << 8 | Int(bytes[3]))
    default:
      guard bytes[0] &+ bytes[1] == 0 else { return .damaged }
      return parseInformation(bytes, headerLength: 2, length: Int(bytes[0]))
    }
  }

  private static func parseInformation(_ bytes: [UInt8], headerLength: Int, length: Int) -> Parsed {
    guard (1...HostFrame.maximumInformationLength).contains(length) else { return .damaged }
    let end = headerLength + length
    guard bytes.count > end else { return .incomplete }
    guard bytes[headerLength...end].reduce(0, &+) == 0 else { return .damaged }
    let payload = Array(bytes[headerLength..<end])
    return .complete(payload == [0x7F] ? .error : .information(payload), length: end + 1)
  }
}
