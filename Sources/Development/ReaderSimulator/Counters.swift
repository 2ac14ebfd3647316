/// The activity of the simulated chip since its creation, or since the counters were last reset.
package struct Counters: Sendable, Hashable {
  /// Commands that the host sent and the chip acknowledged.
  package var commands = 0
  /// Frames that the chip sent to a selected tag on behalf of the host. A READ is one frame, an APDU one or more.
  package var exchanges = 0
  /// Frames that the chip sent to find and select tags: requests, anticollision, selects, RATS.
  package var activationFrames = 0
  /// Bytes received from the host.
  package var bytesReceived = 0
  /// Bytes sent to the host.
  package var bytesSent = 0
  /// How long the answered commands took in the timing model: from a command's first byte on the line to the last byte
  /// of its answer. An infinitely fast host would need this time too.
  package var wireTime: Duration = .zero
  /// How long the RF field was on.
  package var fieldOnTime: Duration = .zero

  /// Creates counters that are all zero.
  package init() {}
}

/// A command that the host sent, so that tests can check which commands a host sends.
package struct CommandRecord: Sendable, Hashable, CustomStringConvertible {
  /// The command code and its parameters.
  package let command: [UInt8]
  /// The answer without its code. Nil while the chip waits, if it hangs, and if it sent an error frame.
  package internal(set) var answer: [UInt8]?
  /// When the command had arrived, on the reader's clock.
  package let arrival: Duration
  /// When the last byte of the answer or error frame is sent, on the reader's clock.
  package internal(set) var end: Duration?
  /// The counters after this command was answered.
  package internal(set) var counters: Counters?

  /// How many tags the command found. Nil if the command does not poll for tags or has no answer.
  package var foundTargets: Int? {
    guard let code = command.first, let answer else { return nil }
    let looks = [PN532Command.inListPassiveTarget, .inAutoPoll].map(\.rawValue)
    return looks.contains(code) ? Int(answer.first ?? 0) : nil
  }

  /// Command and answer in hexadecimal digits.
  package var description: String {
    "\(Hexadecimal.string(command)) → \(answer.map(Hexadecimal.string) ?? "nothing")"
  }
}
