/// Where a user's files and those of the system are (XDG Base Directory Specification 0.8).
///
/// A value of an environment, so that all who look a directory up find the same one.
public struct BaseDirectories: Sendable, Hashable {
  /// `XDG_CONFIG_HOME`; nil where neither it nor `HOME` is an absolute path.
  public let configuration: String?
  /// `XDG_DATA_HOME`; nil likewise.
  public let data: String?
  /// `XDG_STATE_HOME`; nil likewise.
  public let state: String?
  /// `XDG_CONFIG_DIRS`, the most important first, without the user's own.
  public let systemConfiguration: [String]
  /// `XDG_DATA_DIRS`, the most important first, without the user's own; nil where it is not set or empty, whose meaning is
  /// ``standardSystemData``.
  public let systemData: [String]?

  /// What the specification has for `XDG_DATA_DIRS` where that says nothing.
  public static let standardSystemData = ["/usr/local/share", "/usr/share"]

  /// Relative paths do not count, as the specification says.
  ///
  /// - Parameter environment: a whole environment; by default the process's own.
  public init(environment: [String: String] = ProcessEnvironment.current) {
    func absolute(_ name: String) -> String? { environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil } }
    // The home of a service may be the root, whose path ends where the next one begins.
    let home = absolute("HOME").map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
    func user(_ name: String, _ path: String) -> String? { absolute(name) ?? home.map { "\($0)/\(path)" } }
    func list(_ name: String) -> [String]? {
      guard let value = environment[name], !value.isEmpty else { return nil }
      return value.split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
    }
    configuration = user("XDG_CONFIG_HOME", ".config")
    data = user("XDG_DATA_HOME", ".local/share")
    state = user("XDG_STATE_HOME", ".local/state")
    systemConfiguration = list("XDG_CONFIG_DIRS") ?? ["/etc/xdg"]
    systemData = list("XDG_DATA_DIRS")
  }
}
