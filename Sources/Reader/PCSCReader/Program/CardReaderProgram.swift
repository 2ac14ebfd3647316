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
