/// Describes a peer of ours with another version than this program.
package struct VersionDifference: Sendable, Hashable, CustomStringConvertible {
  private let peer: RunningProgram
  private let version: String

  /// Nil if the version is this program's own, or empty. The version that the peer reports is untrusted.
  init?(_ peer: RunningProgram, _ version: String) {
    guard !version.isEmpty, version != Names.version else { return nil }
    self.peer = peer
    // A message quotes the version, and a peer may report any text.
    let isPlain = version.utf8.count <= 32 && version.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    self.version = isPlain ? version : "unknown"
  }

  /// The two versions in words.
  package var description: String { "\(peer.rawValue) is version \(version), this is \(Names.version)" }

  /// The older of the two programs, which has to be restarted. The versions are compared number by number.
  ///
  /// - Parameter own: this program.
  /// - Returns: nil if the peer's version is not ``major.minor.patch``, or has the same numbers in other digits.
  package func older(beside own: RunningProgram) -> RunningProgram? { isPeerOlder.map { $0 ? peer : own } }

  /// Whether the peer's version is older than this program's, compared number by number. nil if it is not
  /// ``major.minor.patch``, or has the same numbers in other digits.
  package var isPeerOlder: Bool? {
    guard let other = Self.numbers(version), let this = Self.numbers(Names.version), other != this else { return nil }
    return other.lexicographicallyPrecedes(this)
  }

  /// A log message for one of our programs that has met a peer of another version.
  ///
  /// - Parameters:
  ///   - interfaceVersion: the peer's version of the interfaces; nil if it does not report one.
  ///   - own: the program that writes the log.
  ///   - hasSystemd: whether systemd is the system's manager.
  /// - Returns: the difference, its effect, and the remedy.
  package func notice(interfaceVersion: UInt32?, to own: RunningProgram, hasSystemd: Bool) -> String {
    let interfaces = interfaceVersion.map(String.init) ?? "unknown"
    let remedy = older(beside: own).map { "; for what is new: \($0.restart(hasSystemd: hasSystemd))" } ?? ""
    return "\(self) (interface version \(interfaces), here \(Names.interfaceVersion)). Tags are shown all the same"
      + remedy
  }

  private static func numbers(_ version: String) -> [UInt32]? {
    let parts = version.split(separator: ".", maxSplits: 3, omittingEmptySubsequences: false)
    let numbers = parts.compactMap { UInt32($0) }
    return parts.count == 3 && numbers.count == 3 ? numbers : nil
  }
}

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
