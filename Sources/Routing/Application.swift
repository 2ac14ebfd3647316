/// An installed application, as its desktop entry describes it.
public struct Application: Sendable, Hashable {
  /// Where the desktop entry was found, which decides whether it is trusted.
  public enum Origin: Sendable, Hashable, Comparable {
    /// A directory of the system: somebody with the right to install programs put it there.
    case system
    /// The user's own data directory, or a Flatpak export: any program of the user can write there.
    case user
  }

  /// The desktop file id, for example `org.example.Menu.desktop`.
  public let desktopID: String
  /// The name in the user's language. From a file that others write: not escaped, not bounded.
  public let name: String
  /// An icon's name or absolute path.
  public let icon: String?
  /// The absolute path of the desktop entry.
  public let file: String
  /// Whether the application is started and spoken to over D-Bus, under its id without `.desktop`.
  public let isDBusActivatable: Bool
  /// Where the desktop entry was found.
  public let origin: Origin

  /// - Parameters:
  ///   - desktopID: the desktop file id, with `.desktop`.
  ///   - name: the name in the user's language.
  ///   - icon: an icon's name or absolute path.
  ///   - file: the absolute path of the desktop entry.
  ///   - isDBusActivatable: whether the application is started and spoken to over D-Bus.
  ///   - origin: where the desktop entry was found.
  public init(
    desktopID: String, name: String, icon: String? = nil, file: String, isDBusActivatable: Bool = false, origin: Origin
  ) {
    self.desktopID = desktopID
    self.name = name
    self.icon = icon
    self.file = file
    self.isDBusActivatable = isDBusActivatable
    self.origin = origin
  }
}
