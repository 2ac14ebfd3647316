/// One of our programs that keeps running during an update, in its old version until it is restarted.
package enum RunningProgram: String, Sendable, Hashable {
  /// On the system bus.
  case daemon = "tagrouted"
  /// On the session bus.
  case agent = "tagroute-agent"
  /// On the session bus.
  case mqtt = "tagroute-mqtt"

  /// Its systemd unit.
  package var unit: String { "\(rawValue).service" }

  /// The command that controls its systemd unit.
  package var systemctl: String {
    switch self {
    case .daemon: "sudo systemctl"
    case .agent, .mqtt: "systemctl --user"
    }
  }

  /// How to restart it in the installed version.
  ///
  /// - Parameter hasSystemd: whether systemd is the system's manager (sd_booted(3)).
  /// - Returns: a command on a system with systemd, else an instruction in words.
  package func restart(hasSystemd: Bool) -> String {
    hasSystemd ? "\(systemctl) restart \(unit)" : "end \(rawValue) and start it again, in the way it was started"
  }

  /// Compares its version with the version of this program.
  ///
  /// - Parameter version: the version that it reports, untrusted.
  /// - Returns: the difference; nil if the versions are the same, or if it does not report one.
  package func difference(version: String) -> VersionDifference? { VersionDifference(self, version) }
}
