/// A program of ours that goes on running over an update, in its old version until somebody starts it again.
public enum RunningProgram: String, Sendable, Hashable {
  /// On the system bus.
  case daemon = "tagrouted"
  /// On the session bus.
  case agent = "tagroute-agent"

  /// The unit that runs it, where systemd does.
  public var unit: String { "\(rawValue).service" }

  /// The command that tells systemd about its unit.
  public var systemctl: String {
    switch self {
    case .daemon: "sudo systemctl"
    case .agent: "systemctl --user"
    }
  }

  /// What starts it again, in the version that is installed.
  ///
  /// - Parameter hasSystemd: whether systemd is the system's manager (sd_booted(3)).
  /// - Returns: a command where there is one on such a system, else what to do in words.
  public func restart(hasSystemd: Bool) -> String {
    hasSystemd ? "\(systemctl) restart \(unit)" : "end \(rawValue) and start it again, in the way it was started"
  }

  /// Says that it is of another version than the program that asks.
  ///
  /// - Parameter version: what it says of itself, untrusted.
  /// - Returns: what is different; nil where it is the same, or where it does not say.
  public func difference(version: String) -> VersionDifference? { VersionDifference(self, version) }
}
