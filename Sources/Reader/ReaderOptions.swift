import Names
import ReaderLink

/// What `tagroute-reader` is started with.
struct ReaderOptions: Equatable {
  enum Mode: Equatable {
    /// Print the connection strings of the devices that libnfc finds, one a line.
    case list
    /// Print the version of this program and that of libnfc.
    case showVersion
    /// Serve the daemon at the other end of this descriptor.
    case serve(link: Int32)
  }

  /// The arguments are wrong: why, and what would be right.
  struct Mistake: Error, Equatable {
    let description: String
  }

  static let usage = """
    usage: tagroute-reader --list | --version
           tagroute-reader --link DESCRIPTOR [--device CONNECTION-STRING] [--followed]

    Started by tagrouted, one process a reader.
    """

  var mode: Mode
  var device: String?
  /// Whether the daemon tells when the device is plugged in, or when a driver lets go of it.
  var isFollowed = false
  var pollInterval = ReaderTiming.pollInterval
  var idlePollInterval = ReaderTiming.idlePollInterval
  var technologies = Technologies.all

  /// Takes over what can be changed while the process runs; intervals beyond what may be configured count as the nearest that may.
  mutating func take(_ polling: ReaderPolling) {
    func bounded(_ interval: Duration) -> Duration {
      min(max(interval, .milliseconds(Names.pollIntervals.lowerBound)), .milliseconds(Names.pollIntervals.upperBound))
    }
    pollInterval = bounded(polling.interval)
    idlePollInterval = bounded(polling.idleInterval)
    technologies = Technologies(names: polling.technologies)
  }

  // `arguments` is without the program's name.
  init(_ arguments: [String]) throws(Mistake) {
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
        throw Mistake(description: "\(option) is no option")
      }
      guard let value = rest.popFirst() else { throw Mistake(description: "\(option) needs a value") }
      switch option {
      case "--link":
        guard let link = Int32(value), link >= 3 else {
          throw Mistake(description: "--link \(value): a descriptor from 3 on is needed")
        }
        mode = .serve(link: link)
      default: device = value
      }
    }
    guard let mode else { throw Mistake(description: "--list, --version or --link is needed") }
    self.mode = mode
  }
  private static let optionsWithValue = ["--link", "--device"]
}
