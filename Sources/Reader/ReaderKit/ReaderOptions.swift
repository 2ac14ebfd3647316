package import Names
package import ReaderProtocol

/// The command-line options of the reader programs, and the daemon's polling options.
package struct ReaderOptions: Equatable {
  package enum Mode: Equatable {
    /// List the readers: send a `ReaderList` to the daemon at the other end of this descriptor; nil to print them.
    case list(link: Int32?)
    /// Print the versions of this program and of its library.
    case showVersion
    /// Serve the daemon at the other end of this descriptor.
    case serve(link: Int32)
  }

  /// The description is for the user.
  package struct Mistake: Error, Equatable {
    package let description: String

    package init(description: String) { self.description = description }
  }

  package static func usage(_ program: String) -> String {
    """
    usage: \(program) --list [--link DESCRIPTOR]
           \(program) --version
           \(program) --link DESCRIPTOR [--device DEVICE] [--followed] [--trace]

    Started by tagrouted, one process per reader.
    """
  }

  package var mode: Mode
  package var device: String?
  /// Whether the daemon reports when the device is plugged in, or when a driver releases it.
  package var isFollowed = false
  /// Whether to write a trace to standard output.
  package var isTraced = false
  package var pollInterval = ReaderTiming.pollInterval
  package var idlePollInterval = ReaderTiming.idlePollInterval
  package var technologies = TagType.readable

  /// Only those that can change while the process runs. Intervals are clamped to the configurable range.
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
    var modes: [Mode] = []
    var link: Int32?
    var isList = false
    var rest = arguments[...]
    while let option = rest.popFirst() {
      switch option {
      case "--list": isList = true
      case "--version": modes.append(.showVersion)
      case "--followed": isFollowed = true
      case "--trace": isTraced = true
      case "--link", "--device":
        guard let value = rest.popFirst() else { throw Mistake(description: "\(option) needs a value") }
        guard option == "--link" else {
          device = value
          continue
        }
        guard let number = Int32(value), number >= 3 else {
          throw Mistake(description: "--link \(value): the descriptor must be 3 or higher")
        }
        link = number
      default: throw Mistake(description: "unknown option \(option)")
      }
    }
    if isList { modes.append(.list(link: link)) } else if let link { modes.append(.serve(link: link)) }
    guard modes.count == 1 else { throw Mistake(description: "use one of --list, --version and --link") }
    mode = modes[0]
  }
}

/// libnfc's names of devices: a driver, and what that driver needs to find the device.
package enum ConnectionString {
  /// The file in a connection string such as `pn532_uart:/dev/ttyUSB0:115200`; nil if there is none.
  package static func path(of connectionString: String) -> String? {
    let parts = connectionString.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count >= 2, parts[1].hasPrefix("/") else { return nil }
    return String(parts[1])
  }
}
