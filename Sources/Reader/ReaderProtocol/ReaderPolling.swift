package import Names

/// How often a reader process polls for tags to announce, and for which technologies.
package struct ReaderPolling: Sendable, Hashable {
  /// From the start of one poll to the start of the next, in whole milliseconds.
  package var interval: Duration
  /// The same after minutes without a change.
  package var idleInterval: Duration
  /// The technologies to read, in the order of `TagType`.
  package var technologies: [TagType]
  /// Whether the reader shows with its LED and buzzer how a tap ended.
  package var feedback: Bool

  /// Polling with these properties, by default for all technologies and without feedback.
  package init(
    interval: Duration = ReaderTiming.pollInterval, idleInterval: Duration = ReaderTiming.idlePollInterval,
    technologies: [TagType] = TagType.readable, feedback: Bool = false
  ) {
    self.interval = interval
    self.idleInterval = idleInterval
    self.technologies = technologies
    self.feedback = feedback
  }
}

extension FrameWriter {
  mutating func write(_ polling: ReaderPolling) {
    for duration in [polling.interval, polling.idleInterval] {
      write(UInt32(clamping: Int64(duration / .milliseconds(1))))
    }
    write(polling.technologies)
    write(polling.feedback)
  }
}

extension FrameReader {
  mutating func polling() throws(ReaderLinkError) -> ReaderPolling {
    let interval = Duration.milliseconds(try integer(UInt32.self))
    let idleInterval = Duration.milliseconds(try integer(UInt32.self))
    let technologies = try technologies()
    return ReaderPolling(
      interval: interval, idleInterval: idleInterval, technologies: technologies, feedback: try boolean())
  }
}
