package import Names
package import ReaderProtocol

/// The command-line options of `tagroute-reader`, and the daemon's polling options.
package struct ReaderOptions: Equatable {
  package enum Mode: Equatable {
    /// Print the connection strings of the devices that libnfc finds, one per line.
    case list
    /// Print the versions of this program and of libnfc.
    case showVersion
    /// Serve the daemon at the other end of this descriptor.
    case serve(link: Int32)
  }

  /// An error in the arguments, with a description for the user.
  package struct Mistake: Error, Equatable {
    package let description: String
  }

  package static let usage = """
    usage: tagroute-reader --list | --version
           tagroute-reader --link DESCRIPTOR [--device CONNECTION-STRING] [--followed]

    Started by tagrouted, one process per reader.
    """

  package var mode: Mode
  package var device: String?
  /// Whether the daemon reports when the device is plugged in, or when a driver releases it.
  package var isFollowed = false
  package var pollInterval = ReaderTiming.pollInterval
  package var idlePollInterval = ReaderTiming.idlePollInterval
  package var technologies = TagType.readable

  /// Applies the options that can change while the process runs. Intervals are clamped to the configurable range.
  package mutating func take(_ polling: ReaderPolling) {
    func bounded(_ interval: Duration) -> Duration {
      min(max(interval, .milliseconds(Names.pollIntervals.lowerBound)), .milliseconds(Names.pollIntervals.upperBound))
    }
    pollInterval = bounded(polling.interval)
    idlePollInterval = bounded(polling.idleInterval)
    technologies = polling.technologies
  }

  // `arguments` does not include the program's name.
  package init(_ arguments: [String]) throws(Mistake) {
    var mode: Mode?
    var rest = arguments[...]
    while let option = rest.popFirst() {
      if option == "--list" {
        mode = .list
        continue
      }
      if option == "--version" {
        mode = .showVersion
        continue
      }
      if option == "--followed" {
        isFollowed = true
        continue
      }
      guard Self.optionsWithValue.contains(option) else {
        throw Mistake(description: "unknown option \(option)")
      }
      guard let value = rest.popFirst() else { throw Mistake(description: "\(option) needs a value") }
      switch option {
      case "--link":
        guard let link = Int32(value), link >= 3 else {
          throw Mistake(description: "--link \(value): the descriptor must be 3 or higher")
        }
        mode = .serve(link: link)
      default: device = value
      }
    }
    guard let mode else { throw Mistake(description: "use one of --list, --version and --link") }
    self.mode = mode
  }
  private static let optionsWithValue = ["--link", "--device"]
}

/// libnfc's names of devices: a driver, and what that driver needs to find the device.
package enum ConnectionString {
  /// The file in a connection string such as `pn532_uart:/dev/ttyUSB0:115200`; nil if it names none.
  package static func path(of connectionString: String) -> String? {
    let parts = connectionString.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count >= 2, parts[1].hasPrefix("/") else { return nil }
    return String(parts[1])
  }
}
