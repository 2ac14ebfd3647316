extension ReaderProcess {
  /// The parameters for starting a reader process.
  package struct Configuration: Sendable, Hashable {
    /// The absolute path of `tagroute-reader`, or of `tagroute-reader-pcsc` for a device `pcsc:NAME`.
    package var program: String
    /// A libnfc connection string, `pn532_uart:/dev/ttyUSB0`, or `pcsc:NAME`; nil for the first device that libnfc finds.
    package var device: String?
    /// Whether the daemon calls `lookForDevice()` when the device is plugged in, or when a driver releases it. The
    /// process then retries less often.
    package var isFollowed: Bool
    /// The complete environment of the process, as `NAME=value`. It inherits no variable of the daemon.
    package var environment: [String]

    /// A configuration with these properties.
    package init(
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
