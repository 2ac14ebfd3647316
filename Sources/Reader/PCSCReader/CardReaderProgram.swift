import CPCSC
import Glibc
import Names
import ReaderKit
import ReaderProtocol

/// The program `tagroute-reader-pcsc`.
package enum CardReaderProgram {
  /// The first argument is the program's name. Returns the exit code.
  package static func run(_ arguments: [String]) -> Int32 {
    let options: ReaderOptions
    let reader: String
    do throws(ReaderOptions.Mistake) {
      options = try ReaderOptions(Array(arguments.dropFirst()))
      reader = options.device.flatMap(Names.PCSC.readerName) ?? ""
      if case .serve = options.mode, reader.isEmpty {
        throw ReaderOptions.Mistake(description: "--link needs --device pcsc:NAME, too")
      }
    } catch {
      let usage = ReaderOptions.usage(Names.Files.pcscReaderProgram)
      return complain("\(error.description)\n\(usage)", Names.ExitCode.usage)
    }
    let end = Confinement.begin(keeping: [Names.PCSC.socketVariable])
    let socket = ServiceSocket(getenv(Names.PCSC.socketVariable).map { String(cString: $0) })
    switch options.mode {
    case .showVersion:
      print("\(Names.Files.pcscReaderProgram) \(Names.version)\npcsc-lite \(PCSCLITE_VERSION_NUMBER)")
      return 0
    case .list(let link):
      let confinement = Confinement(ConfinementPlan(.list, .own))
      if let gap = confinement.gap { _ = complain("some restrictions are not in force: \(gap)", 0) }
      if let refusal = confinement.refusal { return complain(refusal, Names.ExitCode.failure) }
      if let link {
        let isWatched = ReaderListing(socket: socket).watch(link: link, end: end)
        return isWatched ? 0 : complain("no thread is left", Names.ExitCode.failure)
      }
      do throws(PCSCError) {
        for name in try ReaderListing.names() { print(name) }
        return 0
      } catch {
        return complain(PCSCProblem(error).text, Names.ExitCode.failure)
      }
    case .serve(let link):
      guard let wake = Signal() else { return complain("no descriptor is left", Names.ExitCode.failure) }
      let channel = DaemonChannel(descriptor: link, end: end, wakes: [wake.descriptor, socket.descriptor])
      do throws(Interruption) {
        let reader = CardReader(wanted: reader, link: channel, wake: wake, socket: socket)
        if options.isTraced {
          reader.daemon.trace = TraceWriter(
            descriptor: STDOUT_FILENO, program: Names.Files.pcscReaderProgram,
            library: "pcsc-lite \(PCSCLITE_VERSION_NUMBER)")
        }
        try reader.run()
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
