/// A peer of ours that runs in another version than this program.
public struct VersionDifference: Sendable, Hashable, CustomStringConvertible {
  private let peer: RunningProgram
  private let version: String

  /// Nil where the version is this program's own, or none.
  ///
  /// - Parameters:
  ///   - peer: who it is.
  ///   - version: what it says of itself, untrusted.
  init?(_ peer: RunningProgram, _ version: String) {
    guard !version.isEmpty, version != Names.version else { return nil }
    self.peer = peer
    // As a line of text may quote it: what a peer says may be anything.
    let isPlain = version.utf8.count <= 32 && version.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    self.version = isPlain ? version : "unknown"
  }

  /// The two versions in words.
  public var description: String { "\(peer.rawValue) is version \(version), this is \(Names.version)" }

  /// Which of the two is to be started again: the one that comes before the other, number by number.
  ///
  /// - Parameter own: this program.
  /// - Returns: nil where the peer's version is no ``major.minor.patch``, and so neither before nor after.
  public func older(beside own: RunningProgram) -> RunningProgram? { isPeerOlder.map { $0 ? peer : own } }

  /// Whether the peer's version comes before this program's, number by number; nil where the peer's is no ``major.minor.patch``, or the
  /// same one in other digits.
  public var isPeerOlder: Bool? {
    guard let other = Self.numbers(version), let this = Self.numbers(Names.version), other != this else { return nil }
    return other.lexicographicallyPrecedes(this)
  }

  /// For the log of one of our programs that has met a peer of another version.
  ///
  /// - Parameters:
  ///   - interfaceVersion: the peer's version of the interfaces; nil where it does not say.
  ///   - own: the program whose log it is.
  ///   - hasSystemd: whether systemd is the system's manager.
  /// - Returns: what is different, what that means, and what to do about it.
  public func notice(interfaceVersion: UInt32?, to own: RunningProgram, hasSystemd: Bool) -> String {
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
