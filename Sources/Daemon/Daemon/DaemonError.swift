import Bus
import Names

/// An error that stops the daemon. The description says what failed, why, and what to do.
struct DaemonError: Error, Hashable, CustomStringConvertible {
  let description: String
  let exitCode: Int32

  init(_ description: String, exitCode: Int32) {
    self.description = description
    self.exitCode = exitCode
  }

  /// A bus error during the start.
  init(_ error: BusError) {
    if error.name == BusError.Name.accessDenied {
      self.init(
        "the system bus does not allow this user to own \(Names.Daemon.busName): add "
          + "<allow own=\"\(Names.Daemon.busName)\"/> in a <policy user=\"…\"> to /etc/dbus-1/system.d, and reload the bus",
        exitCode: Names.ExitCode.notAllowed)
    } else {
      self.init(
        "cannot use the system bus at \(BusAddress.system): \(error.message). Is the bus running?",
        exitCode: Names.ExitCode.unavailable)
    }
  }

  static let nameIsTaken = DaemonError(
    "another process owns \(Names.Daemon.busName) on the bus: stop the other tagrouted",
    exitCode: Names.ExitCode.alreadyRunning)
}
