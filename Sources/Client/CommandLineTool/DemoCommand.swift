import Doctor
import EventLoop
import Glibc
import Names

extension Command {
  package static let demo = Command(
    name: "demo", summary: "try Tagroute with a simulated reader",
    details: """
      Starts a simulated reader, the daemon and the agent, puts a tag on the reader,
      and waits for a click on its notification. The sample app prints the message.
      The system is not changed. The daemon is on a private bus. The notification
      appears on this desktop, beside the agent that may run there. Without a desktop,
      or without notifications with buttons, it appears on a virtual screen, and the
      program clicks. The settings are those of a new user, so the app needs
      permission.

      With --uri it tests an app of yours: it taps a tag with that link and prints the
      output of the app. It finds the app by the desktop entries and D-Bus service
      files of this user and of the system, and opens it at once, without a
      notification and without a question. The app starts with the settings of a new
      user, on a private session bus. The command waits at most 10 seconds for the app
      to end.
      """,
    options: [
      .init("pcsc", "simulate a reader of pcscd instead of one of libnfc"),
      .init("unattended", "click too, on a virtual screen; fail unless the app got the message"),
      .init("examples", "FOLDER", "use the sample app from this folder"),
      .init("screenshot", "FILE", "store a picture of the notification; only with --unattended"),
      .init("uri", "URI", "tap a tag with this link, for an app of yours"),
      .init("handler", "APP", "open this app, one of those that claim the link; required if there are several"),
    ]
  ) { arguments, _ throws(Failure) in
    // The simulator's program, because this one cannot start test readers.
    guard let program = simulator else {
      throw Failure(
        message: "demo needs tagroute-simulator, which is not installed: \(Setup.current.installingSimulator.text)",
        exitCode: Names.ExitCode.failure)
    }
    let options = arguments.given.map { "--\($0.name)" + ($0.values.isEmpty ? "" : "=\($0.values[0])") }
    let words = [program, "demo"] + options
    execv(program, words.map { strdup($0) } + [nil])
    throw Failure(
      message: "cannot start \(program): \(String(cString: strerror(errno)))", exitCode: Names.ExitCode.failure)
  }

  /// The path of tagroute-simulator, which is installed beside this program; nil if there is none.
  private static var simulator: String? {
    guard let folder = OwnProgram.directory else { return nil }
    let path = "\(folder)/tagroute-simulator"
    return access(path, X_OK) == 0 ? path : nil
  }
}
