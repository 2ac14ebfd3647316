/// The directories for a user's files and for the system's files (XDG Base Directory Specification 0.8).
///
/// A value that is read from an environment, so that every search for a directory finds the same one.
public struct BaseDirectories: Sendable, Hashable {
  /// `XDG_CONFIG_HOME`, by default below `HOME`; nil if neither is an absolute path.
  public let configuration: String?
  /// `XDG_DATA_HOME`, by default below `HOME`; nil if neither is an absolute path.
  public let data: String?
  /// `XDG_STATE_HOME`, by default below `HOME`; nil if neither is an absolute path.
  public let state: String?
  /// `XDG_CONFIG_DIRS`, the most important first, without the user's own directory.
  public let systemConfiguration: [String]
  /// `XDG_DATA_DIRS`, the most important first, without the user's own directory. nil if the variable is not set or
  /// empty, which means ``standardSystemData``.
  public let systemData: [String]?

  /// The specification's default for `XDG_DATA_DIRS`.
  public static let standardSystemData = ["/usr/local/share", "/usr/share"]

  /// Ignores relative paths, as the specification requires.
  ///
  /// - Parameter environment: a whole environment; by default the process's own.
  public init(environment: [String: String] = ProcessEnvironment.current) {
    func absolute(_ name: String) -> String? { environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil } }
    // The home of a service may be `/`. The slash at its end is dropped, because the appended path starts with one.
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
