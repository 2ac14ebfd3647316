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

  /// `XDG_CONFIG_HOME`; nil where there is no home.
  public var userConfiguration: String?

  /// - Parameters:
  ///   - user: the user's own data directory.
  ///   - system: the other data directories, the most important first.
  ///   - configuration: where `mimeapps.list` may be.
  ///   - userConfiguration: the user's own configuration directory.
  public init(user: String?, system: [String], configuration: [String] = [], userConfiguration: String? = nil) {
    self.user = user.map(DataDirectories.withoutTrailingSlash)
    self.system = system.map(DataDirectories.withoutTrailingSlash)
    self.configuration = configuration.map(DataDirectories.withoutTrailingSlash)
    self.userConfiguration = userConfiguration.map(DataDirectories.withoutTrailingSlash)
  }

  /// The directories that the environment names, with the defaults of the specification. Relative ones do not count.
  ///
  /// Flatpak and Snap put the directories that they export to into `XDG_DATA_DIRS` when a session begins. Where that is not
  /// set at all, as for an agent that was started before it, they are looked at too, behind all others: an application that the
  /// user sees in every menu would be unknown otherwise. Where it is set, it says all.
  ///
  /// - Parameter environment: a whole environment; by default the process's own.
  public init(environment: [String: String] = ProcessEnvironment.current) {
    let base = BaseDirectories(environment: environment)
    let user = base.data.map(Self.withoutTrailingSlash)
    let exported =
      (user.map { ["\($0)/flatpak/exports/share"] } ?? []) + [
        "/var/lib/flatpak/exports/share", "/var/lib/snapd/desktop",
      ]
    self.init(
      user: user, system: base.systemData ?? (BaseDirectories.standardSystemData + exported),
      configuration: [base.configuration].compactMap(\.self) + base.systemConfiguration,
      userConfiguration: base.configuration)
  }

  /// The directories of desktop entries, the most important first.
  var applications: [String] {
    var seen: Set<String> = []
    return ([user].compactMap(\.self) + system).filter { seen.insert($0).inserted }.map { "\($0)/applications" }
  }

  /// Whose a desktop entry is: what counts is who can change it, not by which name a directory is on the list.
  ///
  /// - Parameters:
  ///   - file: its path.
  ///   - isExported: whether the entry has one of ``storeKeys``. It makes a system's entry a store's, and gives a user's entry nothing.
  ///   - ownership: who can change files. Blocks on files where it is the real one.
  /// - Returns: `user` for whatever is in the user's data directory or on a removable disk, even root's.
  func origin(
    of file: String, isExported: Bool = false, ownership: FileOwnership = .real
  ) -> Application.Origin {
    let real = Files.resolved(file)
    if let user, file.hasPrefix(user + "/") || real.hasPrefix(Files.resolved(user) + "/") { return .user }
    guard ownership.isRootsAlone(file) else { return .user }
    if Self.removable.contains(where: { file.hasPrefix($0) || real.hasPrefix($0) }) { return .user }
    let isStores = isExported || Self.stores.contains { file.contains($0) || real.contains($0) }
    return isStores ? .store : .system
  }

  /// Where Flatpak and Snap keep what they export, and what they have unpacked; `/var/lib/snapd/snap/` is such a one, too.
  private static let stores = ["/flatpak/exports/", "/flatpak/app/", "/flatpak/runtime/", "/snapd/desktop/", "/snap/"]
  /// What Flatpak and Snap write into each entry that they export. Flatpak's installations may be anywhere
  /// (`/etc/flatpak/installations.d`), so their paths alone do not tell.
  static let storeKeys = ["X-Flatpak", "X-SnapInstanceName"]
  /// Where others' disks are, on which anybody can have made a file root's (Filesystem Hierarchy Standard 3.0, sections 3.11 and
  /// 3.12; udisks has them below /run/media).
  private static let removable = ["/media/", "/run/media/", "/mnt/"]

  /// Ubuntu's sessions and Flatpak write `/usr/share/`, which is the same directory as `/usr/share`.
  private static func withoutTrailingSlash(_ path: String) -> String {
    var path = path[...]
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    return String(path)
  }
}

extension ProcessEnvironment {
  /// Finds a program as execvp(3) does, but for paths that are not absolute: they would lead elsewhere from where a program is started.
  ///
  /// - Parameters:
  ///   - name: a name, looked for in `PATH`, or an absolute path (Desktop Entry Specification 1.5, "The Exec key").
  ///   - environment: where `PATH` is.
  /// - Returns: its path; nil where there is none that may be executed.
  static func program(_ name: String, in environment: [String: String]) -> String? {
    guard !name.isEmpty else { return nil }
    if name.contains("/") { return name.hasPrefix("/") && isProgram(name) ? name : nil }
    let path = environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
    return path.split(separator: ":").filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }.first(where: isProgram)
  }

  private static func isProgram(_ path: String) -> Bool {
    var information = stat()
    return stat(path, &information) == 0 && information.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
  }
}
