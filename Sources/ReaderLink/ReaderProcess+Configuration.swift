extension ReaderProcess {
  /// What a reader process is started with.
  public struct Configuration: Sendable, Hashable {
    /// The absolute path of `tagroute-reader`.
    public var program: String
    /// A libnfc connection string, `pn532_uart:/dev/ttyUSB0`; nil takes the first device that libnfc finds.
    public var device: String?
    /// From the beginning of one look for a tag to that of the next.
    public var pollInterval: Duration
    /// The same where nothing has happened for minutes.
    public var idlePollInterval: Duration
    /// The kinds of tags that are read, as the process names them; nil is all.
    public var technologies: [String]?
    /// Whether `lookForDevice()` comes when the device is plugged in, or when a driver lets go of it: then the process need
    /// not try again and again.
    public var isFollowed: Bool
    /// All of the process's environment, as `NAME=value`. The daemon gives none of its own.
    public var environment: [String]

    /// - Parameters:
    ///   - program: the absolute path of `tagroute-reader`.
    ///   - device: a libnfc connection string; nil takes the first device that libnfc finds.
    ///   - pollInterval: from the beginning of one look for a tag to that of the next.
    ///   - idlePollInterval: the same where nothing has happened for minutes.
    ///   - technologies: the kinds of tags that are read; nil is all.
    ///   - isFollowed: whether `lookForDevice()` comes when the device does.
    ///   - environment: all of the process's environment, as `NAME=value`.
    public init(
      program: String, device: String?, pollInterval: Duration = ReaderTiming.pollInterval,
      idlePollInterval: Duration = ReaderTiming.idlePollInterval, technologies: [String]? = nil,
      isFollowed: Bool = false,
      environment: [String] = []
    ) {
      self.program = program
      self.device = device
      self.pollInterval = pollInterval
      self.idlePollInterval = idlePollInterval
      self.technologies = technologies
      self.isFollowed = isFollowed
      self.environment = environment
    }

    /// The part that can be changed while the process runs.
    var polling: ReaderPolling {
      get {
        ReaderPolling(interval: pollInterval, idleInterval: idlePollInterval, technologies: technologies ?? [])
      }
      set {
        pollInterval = newValue.interval
        idlePollInterval = newValue.idleInterval
        technologies = newValue.technologies.isEmpty ? nil : newValue.technologies
      }
    }

    /// The process's argument vector.
    var arguments: [String] {
      var arguments = [program, "--link", String(ReaderChild.linkDescriptor)]
      arguments += ["--poll-interval", String(Int(pollInterval / .milliseconds(1)))]
      arguments += ["--idle-poll-interval", String(Int(idlePollInterval / .milliseconds(1)))]
      if let technologies { arguments += ["--technologies", technologies.joined(separator: ";")] }
      if isFollowed { arguments.append("--followed") }
      if let device { arguments += ["--device", device] }
      return arguments
    }
  }
}
