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
    self.user = user
    self.system = system
    self.configuration = configuration
  }

  /// The directories that the environment names, with the defaults of the specification. Relative ones do not count.
  ///
  /// - Parameter environment: a whole environment; by default the process's own.
  public init(environment: [String: String] = ProcessEnvironment.current) {
    func list(_ name: String, default paths: String) -> [String] {
      let value = environment[name] ?? ""
      return (value.isEmpty ? paths : value).split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
    }
    let home = environment["HOME"] ?? ""
    func below(home path: String) -> String { home.hasPrefix("/") ? "\(home)/\(path)" : "" }
    self.init(
      user: list("XDG_DATA_HOME", default: below(home: ".local/share")).first,
      system: list("XDG_DATA_DIRS", default: "/usr/local/share:/usr/share"),
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

  /// Flatpak exports are written by whoever may install an application, which for Flatpak is anybody.
  private func origin(ofDirectory path: String) -> Application.Origin {
    path == user || path.contains("/flatpak/exports/") ? .user : .system
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
