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

  package var description: String { "\(peer.rawValue) is version \(version), this is \(Names.version)" }

  /// The older of the two programs, which has to be restarted. Nil if ``isPeerOlder`` is.
  package func older(beside own: RunningProgram) -> RunningProgram? { isPeerOlder.map { $0 ? peer : own } }

  /// Compared number by number. Nil if the peer's version is not ``major.minor.patch``, or has the same numbers in
  /// other digits.
  package var isPeerOlder: Bool? {
    guard let other = Self.numbers(version), let this = Self.numbers(Names.version), other != this else { return nil }
    return other.lexicographicallyPrecedes(this)
  }

  /// The difference, its effect, and the remedy, for the log of `own`. `interfaceVersion` is nil if the peer does not
  /// report one.
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
  case daemon = "tagrouted"
  case agent = "tagroute-agent"
  case mqtt = "tagroute-mqtt"
  package var unit: String { "\(rawValue).service" }

  package var systemctl: String {
    switch self {
    case .daemon: "sudo systemctl"
    case .agent, .mqtt: "systemctl --user"
    }
  }

  /// A command on a system with systemd (sd_booted(3)), else an instruction in words.
  package func restart(hasSystemd: Bool) -> String {
    hasSystemd ? "\(systemctl) restart \(unit)" : "end \(rawValue) and start it again, in the way it was started"
  }

  /// `version` is untrusted. Nil if the versions are the same, or if the peer does not report one.
  package func difference(version: String) -> VersionDifference? { VersionDifference(self, version) }
}
