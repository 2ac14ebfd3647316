/// An installed application, as its desktop entry describes it.
public struct Application: Sendable, Hashable {
  /// Whose the desktop entry is, which decides whether it is trusted. The raw values are what scripts read.
  public enum Origin: String, Sendable, Hashable, Comparable, CaseIterable {
    /// Only root can change it: somebody with the right to install programs put it there.
    case system
    /// Only root can change it, and a store's tool (Flatpak, Snap) wrote it: it says what the app's author says, and nobody who
    /// keeps this system has looked it over. The tool sees to it that the desktop id is the app's own.
    case store
    /// Any program of the user can write it, under any desktop id.
    case user

    /// The most trusted first.
    public static func < (a: Origin, b: Origin) -> Bool { a.rank < b.rank }

    private var rank: Int {
      switch self {
      case .system: 0
      case .store: 1
      case .user: 2
      }
    }
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
  /// Whose the desktop entry is.
  public let origin: Origin
  /// What is started, as the desktop entry says it: its `Exec`, and whether it is spoken to over D-Bus. Only compared: an entry
  /// that starts something else is not the one that a user has allowed. Empty where that is not known.
  public let launch: String

  /// - Parameters:
  ///   - desktopID: the desktop file id, with `.desktop`.
  ///   - name: the name in the user's language.
  ///   - icon: an icon's name or absolute path.
  ///   - file: the absolute path of the desktop entry.
  ///   - isDBusActivatable: whether the application is started and spoken to over D-Bus.
  ///   - origin: whose the desktop entry is.
  ///   - launch: what is started, as the desktop entry says it.
  public init(
    desktopID: String, name: String, icon: String? = nil, file: String, isDBusActivatable: Bool = false, origin: Origin,
    launch: String = ""
  ) {
    self.desktopID = desktopID
    self.name = name
    self.icon = icon
    self.file = file
    self.isDBusActivatable = isDBusActivatable
    self.origin = origin
    self.launch = launch
  }
}
