import EventLoop
import Glibc
import Routing

/// The directories of desktop entries and of the lists of default applications (XDG Base Directory Specification).
///
/// GLib reads the environment only once per process. A caller that needs other directories passes them here.
package struct DataDirectories: Sendable, Hashable {
  /// `XDG_DATA_HOME`; nil if there is no home.
  package var user: String?
  /// `XDG_DATA_DIRS`, the most important first.
  package var system: [String]
  /// `XDG_CONFIG_HOME` and `XDG_CONFIG_DIRS`, which may contain `mimeapps.list`. The registry watches them, and only
  /// GIO reads them.
  package var configuration: [String]

  /// `XDG_CONFIG_HOME`; nil if there is no home.
  package var userConfiguration: String?

  /// The most important directory first.
  package init(user: String?, system: [String], configuration: [String] = [], userConfiguration: String? = nil) {
    self.user = user.map(DataDirectories.withoutTrailingSlash)
    self.system = system.map(DataDirectories.withoutTrailingSlash)
    self.configuration = configuration.map(DataDirectories.withoutTrailingSlash)
    self.userConfiguration = userConfiguration.map(DataDirectories.withoutTrailingSlash)
  }

  /// Those that the environment names, with the defaults of the specification. Relative ones are ignored. `environment`
  /// is a whole one.
  ///
  /// Flatpak and Snap add their export directories to `XDG_DATA_DIRS` when a session begins. If an agent starts before
  /// that, the variable may be missing. The export directories are then added at the end: otherwise an application that
  /// is in every menu would be unknown. If the variable is set, only its directories are used.
  package init(environment: [String: String] = ProcessEnvironment.current) {
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

  /// Of desktop entries, the most important first.
  var applications: [String] {
    var seen: Set<String> = []
    return ([user].compactMap(\.self) + system).filter { seen.insert($0).inserted }.map { "\($0)/applications" }
  }

  /// The origin of a desktop entry. It depends on the users that can change the file, not on the directory's name in
  /// the list. It is `user` for all files in the user's data directory or on a removable disk, even if they belong to
  /// root.
  ///
  /// An entry with one of ``storeKeys`` is exported. That makes a system's entry a store's, and has no effect on a
  /// user's entry. Blocks on files if `ownership` is the real one.
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

  /// The directories of Flatpak and Snap for exported and unpacked files, such as `/var/lib/snapd/snap/`.
  private static let stores = ["/flatpak/exports/", "/flatpak/app/", "/flatpak/runtime/", "/snapd/desktop/", "/snap/"]
  /// Keys that Flatpak and Snap write into each entry that they export. Flatpak's installations may be anywhere
  /// (`/etc/flatpak/installations.d`), so a path alone is no proof.
  package static let storeKeys = [flatpakKey, snapKey]
  static let flatpakKey = "X-Flatpak"
  static let snapKey = "X-SnapInstanceName"
  /// Mount points of other people's disks. Anyone may have created files on them that belong to root (Filesystem
  /// Hierarchy Standard 3.0, sections 3.11 and 3.12; udisks mounts below /run/media).
  private static let removable = ["/media/", "/run/media/", "/mnt/"]

  /// Ubuntu's sessions and Flatpak write `/usr/share/`, which is the same directory as `/usr/share`.
  private static func withoutTrailingSlash(_ path: String) -> String {
    var path = path[...]
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    return String(path)
  }
}

extension ProcessEnvironment {
  /// Finds a program as execvp(3) does, but rejects relative paths: they depend on the working directory at start.
  ///
  /// A name is looked up in `PATH`, an absolute path is not (Desktop Entry Specification 1.5, "The Exec key"). Returns
  /// nil if there is no executable file.
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
