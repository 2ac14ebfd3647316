import CPCSC
import Glibc
import Names
import ReaderKit
import ReaderProtocol

/// The program `tagroute-reader-pcsc`.
package enum CardReaderProgram {
  /// Runs the program with an argument vector, whose first element is the program's name, and returns the exit code.
  package static func run(_ arguments: [String]) -> Int32 {
    let options: CardReaderOptions
    do throws(CardReaderOptions.Mistake) {
      options = try CardReaderOptions(Array(arguments.dropFirst()))
    } catch {
      return complain("\(error.description)\n\(CardReaderOptions.usage)", Names.ExitCode.usage)
    }
    let end = Confinement.begin(keeping: [Names.PCSC.socketVariable])
    let socket = ServiceSocket(getenv(Names.PCSC.socketVariable).map { String(cString: $0) })
    switch options.mode {
    case .showVersion:
      print("\(Names.Files.pcscReaderProgram) \(Names.version)\npcsc-lite \(PCSCLITE_VERSION_NUMBER)")
      return 0
    case .list, .watch:
      let confinement = Confinement(ConfinementPlan(.list, .own))
      if let gap = confinement.gap { _ = complain("some restrictions are not in force: \(gap)", 0) }
      if let refusal = confinement.refusal { return complain(refusal, Names.ExitCode.failure) }
      let listing = ReaderListing(socket: socket)
      if options.mode == .list { return listing.printOnce() }
      return listing.watch(endsWith: [STDIN_FILENO, end]) ? 0 : complain("no thread is left", Names.ExitCode.failure)
    case .serve(let link, let reader):
      guard let wake = Signal() else { return complain("no descriptor is left", Names.ExitCode.failure) }
      let channel = DaemonChannel(descriptor: link, end: end, wakes: [wake.descriptor, socket.descriptor])
      do throws(Interruption) {
        try CardReader(options: options, wanted: reader, link: channel, wake: wake, socket: socket).run()
        return 0
      } catch {
        // The daemon is gone, or the link is invalid. There is no way to report it.
        return Names.ExitCode.unavailable
      }
    }
  }

  private static func complain(_ text: String, _ code: Int32) -> Int32 {
    let bytes = Array("\(Names.Files.pcscReaderProgram): \(text)\n".utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
    return code
  }
}

/// The command-line options of `tagroute-reader-pcsc`.
struct CardReaderOptions: Equatable {
  enum Mode: Equatable {
    /// Print the readers once.
    case list
    /// Print the readers, and again after each change, until standard input is closed.
    case watch
    /// Print the versions of this program and of libpcsclite.
    case showVersion
    /// Serve the daemon at the other end of this descriptor, with the reader of this name.
    case serve(link: Int32, reader: String)
  }

  /// An error in the arguments, with a description for the user.
  struct Mistake: Error, Equatable {
    let description: String
  }

  static let usage = """
    usage: tagroute-reader-pcsc --list | --watch | --version
           tagroute-reader-pcsc --link DESCRIPTOR --device pcsc:NAME [--followed]

    Started by tagrouted, one process per reader.
    """

  let mode: Mode
  /// Whether the daemon reports when a device is plugged in or unplugged.
  private(set) var isFollowed = false

  // `arguments` does not include the program's name.
  init(_ arguments: [String]) throws(Mistake) {
    var modes: [Mode] = []
    var link: Int32?
    var reader: String?
    var rest = arguments[...]
    while let option = rest.popFirst() {
      switch option {
      case "--list": modes.append(.list)
      case "--watch": modes.append(.watch)
      case "--version": modes.append(.showVersion)
      case "--followed": isFollowed = true
      case "--link", "--device":
        guard let value = rest.popFirst() else { throw Mistake(description: "\(option) needs a value") }
        if option == "--device" {
          guard let name = Names.PCSC.readerName(inDevice: value), !name.isEmpty else {
            throw Mistake(description: "--device \(value): the device must be pcsc:NAME")
          }
          reader = name
        } else {
          guard let number = Int32(value), number >= 3 else {
            throw Mistake(description: "--link \(value): the descriptor must be 3 or higher")
          }
          link = number
        }
      default: throw Mistake(description: "unknown option \(option)")
      }
    }
    if let link {
      guard let reader else { throw Mistake(description: "--link needs --device, too") }
      modes.append(.serve(link: link, reader: reader))
    }
    guard modes.count == 1 else {
      throw Mistake(description: "use one of --list, --watch, --version and --link")
    }
    mode = modes[0]
  }
}
