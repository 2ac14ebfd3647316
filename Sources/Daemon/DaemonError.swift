import Bus
import Names

/// Why the daemon cannot run: what, why, and what to do.
struct DaemonError: Error, Hashable, CustomStringConvertible {
  let description: String
  let exitCode: Int32

  init(_ description: String, exitCode: Int32) {
    self.description = description
    self.exitCode = exitCode
  }

  /// What went wrong on the bus before the daemon was up.
  init(_ error: BusError) {
    if error.name == BusError.Name.accessDenied {
      self.init(
        "the bus does not let this user own \(Names.Daemon.busName): allow it in /etc/dbus-1/system.d, "
          + "with <allow own=\"\(Names.Daemon.busName)\"/> in a <policy user=\"…\">, and reload the bus",
        exitCode: Names.ExitCode.notAllowed)
    } else {
      self.init(
        "cannot use the system bus at \(BusAddress.system): \(error.message): is it running?",
        exitCode: Names.ExitCode.unavailable)
    }
  }

  static let nameIsTaken = DaemonError(
    "another process owns \(Names.Daemon.busName) on the bus: stop the other tagrouted",
    exitCode: Names.ExitCode.alreadyRunning)
}
