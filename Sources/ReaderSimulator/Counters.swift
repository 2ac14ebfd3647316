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
  /// How long the commands took, from a command's first byte on the line to the last one of its answer, as the timing model
  /// has it: what would be left of a host that thinks infinitely fast.
  public var wireTime: Duration = .zero
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
  /// When it had arrived, on the reader's clock.
  public let arrival: Duration
  /// When the last byte of its answer has gone out.
  public internal(set) var end: Duration?
  /// What had been done when it was answered, it included.
  public internal(set) var counters: Counters?

  /// How many tags it found; nil where it does not look for any or has no answer.
  public var foundTargets: Int? {
    guard let code = command.first, let answer else { return nil }
    let looks = [PN532Command.inListPassiveTarget, .inAutoPoll].map(\.rawValue)
    return looks.contains(code) ? Int(answer.first ?? 0) : nil
  }

  /// Both in hexadecimal digits.
  public var description: String {
    "\(Hexadecimal.string(command)) → \(answer.map(Hexadecimal.string) ?? "nothing")"
  }
}
