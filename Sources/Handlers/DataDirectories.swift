public import EventLoop
import Glibc
import Routing

/// Where desktop entries and the lists of default applications are looked for (XDG Base Directory Specification).
///
/// A value, rather than the environment itself, because GLib reads the environment once a process: whoever wants other
/// directories says so here.
public struct DataDirectories: Sendable, Hashable {
  /// `XDG_DATA_HOME`; nil where there is no home.
  public var user: String?
  /// `XDG_DATA_DIRS`, the most important first.
  public var system: [String]
  /// `XDG_CONFIG_HOME` and `XDG_CONFIG_DIRS`, where `mimeapps.list` may be. Watched, and read by GIO alone.
  public var configuration: [String]

  /// - Parameters:
  ///   - user: the user's own data directory.
  ///   - system: the other data directories, the most important first.
  ///   - configuration: where `mimeapps.list` may be.
  public init(user: String?, system: [String], configuration: [String] = []) {
    self.user = user.map(DataDirectories.withoutTrailingSlash)
    self.system = system.map(DataDirectories.withoutTrailingSlash)
    self.configuration = configuration.map(DataDirectories.withoutTrailingSlash)
  }

  /// The directories that the environment names, with the defaults of the specification. Relative ones do not count.
  ///
  /// Flatpak and Snap put the directories that they export to into `XDG_DATA_DIRS` when a session begins. Where that is not
  /// set at all, as for an agent that was started before it, they are looked at too, behind all others: an application that the
  /// user sees in every menu would be unknown otherwise. Where it is set, it says all.
  ///
  /// - Parameter environment: a whole environment; by default the process's own.
  public init(environment: [String: String] = ProcessEnvironment.current) {
    func list(_ name: String, default paths: String) -> [String] {
      let value = environment[name] ?? ""
      return (value.isEmpty ? paths : value).split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
    }
    let home = environment["HOME"] ?? ""
    func below(home path: String) -> String { home.hasPrefix("/") ? "\(home)/\(path)" : "" }
    let user = list("XDG_DATA_HOME", default: below(home: ".local/share")).first.map(Self.withoutTrailingSlash)
    var system = list("XDG_DATA_DIRS", default: "/usr/local/share:/usr/share")
    if (environment["XDG_DATA_DIRS"] ?? "").isEmpty {
      system += user.map { ["\($0)/flatpak/exports/share"] } ?? []
      system += ["/var/lib/flatpak/exports/share", "/var/lib/snapd/desktop"]
    }
    self.init(
      user: user, system: system,
      configuration: list("XDG_CONFIG_HOME", default: below(home: ".config")).prefix(1)
        + list("XDG_CONFIG_DIRS", default: "/etc/xdg"))
  }

  /// The directories of desktop entries, the most important first.
  var applications: [(path: String, origin: Application.Origin)] {
    var seen: Set<String> = []
    return ([user].compactMap(\.self) + system).filter { seen.insert($0).inserted }.map {
      ("\($0)/applications", origin(ofDirectory: $0))
    }
  }

  /// Whether a desktop entry at `file` is the system's or the user's.
  func origin(of file: String) -> Application.Origin {
    applications.first { file.hasPrefix($0.path + "/") }?.origin ?? .user
  }

  /// What Flatpak and Snap export was written by whoever put an application into a store, and looked over by nobody who keeps
  /// this system.
  private func origin(ofDirectory path: String) -> Application.Origin {
    path == user || path.hasSuffix("/flatpak/exports/share") || path.hasSuffix("/snapd/desktop") ? .user : .system
  }

  /// Ubuntu's sessions and Flatpak write `/usr/share/`, which is the same directory as `/usr/share`.
  private static func withoutTrailingSlash(_ path: String) -> String {
    var path = path[...]
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    return String(path)
  }
}

extension ProcessEnvironment {
  /// Finds a program as execvp(3) does.
  ///
  /// - Parameters:
  ///   - name: a name, looked for in `PATH`, or a path.
  ///   - environment: where `PATH` is.
  /// - Returns: its path; nil where there is none that may be executed.
  static func program(_ name: String, in environment: [String: String]) -> String? {
    guard !name.isEmpty else { return nil }
    if name.contains("/") { return isProgram(name) ? name : nil }
    let path = environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
    return path.split(separator: ":").map { "\($0)/\(name)" }.first(where: isProgram)
  }

  private static func isProgram(_ path: String) -> Bool {
    var information = stat()
    return stat(path, &information) == 0 && information.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
  }
}
