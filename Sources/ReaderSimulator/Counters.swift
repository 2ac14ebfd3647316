/// What the simulated chip has done since it was made, or since the counters were last reset.
public struct Counters: Sendable, Hashable {
  /// Commands that the host sent and the chip acknowledged.
  public var commands = 0
  /// Frames that the chip sent to a tag it had selected, on behalf of the host: a READ is one, an APDU one or more.
  public var exchanges = 0
  /// Frames that the chip sent to find and select tags: requests, anticollision, selects, RATS.
  public var activationFrames = 0
  /// Bytes that came from the host.
  public var bytesReceived = 0
  /// Bytes that went to the host.
  public var bytesSent = 0
  /// How long the RF field was on.
  public var fieldOnTime: Duration = .zero

  /// Nothing yet.
  public init() {}
}

/// A command that the host sent, for tests that know what should come.
public struct CommandRecord: Sendable, Hashable, CustomStringConvertible {
  /// The command code and its parameters.
  public let command: [UInt8]
  /// The answer behind its code, nil where none was sent: the chip waits, a fault ate it, or it is an error frame.
  public internal(set) var answer: [UInt8]?

  /// Both in hexadecimal digits.
  public var description: String {
    "\(Hexadecimal.string(command)) → \(answer.map(Hexadecimal.string) ?? "nothing")"
  }
}
