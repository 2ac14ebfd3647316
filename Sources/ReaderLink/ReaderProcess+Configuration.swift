extension ReaderProcess {
  /// What a reader process is started with.
  public struct Configuration: Sendable, Hashable {
    /// The absolute path of `tagroute-reader`.
    public var program: String
    /// A libnfc connection string, `pn532_uart:/dev/ttyUSB0`; nil takes the first device that libnfc finds.
    public var device: String?
    /// Whether `lookForDevice()` comes when the device is plugged in, or when a driver lets go of it: then the process need
    /// not try again and again.
    public var isFollowed: Bool
    /// All of the process's environment, as `NAME=value`. The daemon gives none of its own.
    public var environment: [String]

    /// - Parameters:
    ///   - program: the absolute path of `tagroute-reader`.
    ///   - device: a libnfc connection string; nil takes the first device that libnfc finds.
    ///   - isFollowed: whether `lookForDevice()` comes when the device does.
    ///   - environment: all of the process's environment, as `NAME=value`.
    public init(
      program: String, device: String?, isFollowed: Bool = false, environment: [String] = []
    ) {
      self.program = program
      self.device = device
      self.isFollowed = isFollowed
      self.environment = environment
    }

    /// The process's argument vector.
    var arguments: [String] {
      var arguments = [program, "--link", String(ReaderChild.linkDescriptor)]
      if isFollowed { arguments.append("--followed") }
      if let device { arguments += ["--device", device] }
      return arguments
    }
  }
}
