import CNFC
import Glibc
import Names
import ReaderKit
import ReaderProtocol

/// The program `tagroute-reader`. It has a single thread, which alone uses libnfc.
///
/// It needs no second thread to listen to the daemon. No command to the chip takes longer than `ReaderTiming` says, and
/// the thread checks the link between commands. A second thread would have to call `nfc_abort_command`. That leaks a
/// descriptor each time it comes too late, and must not be called after the device is closed.
package enum TargetReaderProgram {
  /// The first argument is the program's name. Returns the exit code.
  package static func run(_ arguments: [String]) -> Int32 {
    let options: ReaderOptions
    do throws(ReaderOptions.Mistake) {
      options = try ReaderOptions(Array(arguments.dropFirst()))
    } catch {
      complain("\(error.description)\n\(ReaderOptions.usage(Names.Files.readerProgram))")
      return Names.ExitCode.usage
    }
    let end = Confinement.begin()
    // Otherwise libnfc touches every serial port before it opens the configured one.
    if options.device != nil { setenv("LIBNFC_AUTO_SCAN", "false", 1) }
    guard let context = NFCDevice.makeContext() else {
      complain("libnfc cannot be initialised")
      return Names.ExitCode.failure
    }
    defer { nfc_exit(context) }
    // libnfc has read its configuration. It opens no device before it is asked to.
    let confinement = Confinement(device: options.device)
    switch options.mode {
    case .showVersion:
      print("\(Names.Files.readerProgram) \(Names.version)\nlibnfc \(String(cString: nfc_version()))")
      return 0
    case .list(let link):
      if let gap = confinement.gap { complain("some restrictions are not in force: \(gap)") }
      if let refusal = confinement.refusal {
        complain(refusal)
        return Names.ExitCode.failure
      }
      let devices = NFCDevice.list(context)
      if let link {
        try? DaemonChannel(descriptor: link).send(ReaderList.devices(devices).frame)
      } else {
        for device in devices { print(device) }
      }
      return 0
    case .serve(let link):
      let reader = TargetReader(
        options: options, link: DaemonChannel(descriptor: link, end: end), context: context, confinement: confinement)
      if options.isTraced {
        reader.daemon.trace = TraceWriter(
          descriptor: STDOUT_FILENO, program: Names.Files.readerProgram,
          library: "libnfc \(String(cString: nfc_version()))")
      }
      do throws(Interruption) {
        try reader.run()
        return 0
      } catch {
        // The daemon is gone, or the link is invalid. There is no way to report it.
        return Names.ExitCode.unavailable
      }
    }
  }

  private static func complain(_ text: String) {
    let bytes = Array("tagroute-reader: \(text)\n".utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
  }
}
