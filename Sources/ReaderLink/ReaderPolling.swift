/// How often a reader process looks for tags to announce, and for which.
public struct ReaderPolling: Sendable, Hashable {
  /// From the beginning of one look for a tag to that of the next, in whole milliseconds.
  public var interval: Duration
  /// The same where nothing has happened for minutes.
  public var idleInterval: Duration
  /// The kinds of tags that are read, as in `Names.technologies`; none stands for all.
  public var technologies: [String]

  /// - Parameters:
  ///   - interval: from the beginning of one look for a tag to that of the next, in whole milliseconds.
  ///   - idleInterval: the same where nothing has happened for minutes.
  ///   - technologies: the kinds of tags that are read, at most `ReaderLimits.technologies`; none stands for all.
  public init(
    interval: Duration = ReaderTiming.pollInterval, idleInterval: Duration = ReaderTiming.idlePollInterval,
    technologies: [String] = []
  ) {
    self.interval = interval
    self.idleInterval = idleInterval
    self.technologies = technologies
  }
}

extension FrameWriter {
  mutating func write(_ polling: ReaderPolling) {
    for duration in [polling.interval, polling.idleInterval] {
      write(UInt32(clamping: Int64(duration / .milliseconds(1))))
    }
    write(UInt8(clamping: polling.technologies.count))
    for name in polling.technologies { write(text: name, ReaderLimits.technology) }
  }
}

extension FrameReader {
  mutating func polling() throws(ReaderLinkError) -> ReaderPolling {
    let interval = Duration.milliseconds(try integer(UInt32.self))
    let idleInterval = Duration.milliseconds(try integer(UInt32.self))
    return ReaderPolling(interval: interval, idleInterval: idleInterval, technologies: try technologies())
  }
}
