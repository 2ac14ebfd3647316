/// Whether an agent runs where nobody is logged in: in the session in which a display manager asks who it is, or in which a locker does.
///
/// Such a session has a desktop of its own, which starts what every desktop starts; but its user is nobody whom a tag could be shown to, and
/// what is kept of one would be kept for whoever comes next.
enum LoginScreen {
  /// logind's classes of such sessions (pam_systemd(8), `class=`).
  private static let classes: Set<String> = ["greeter", "lock-screen"]

  /// - Parameter environment: `XDG_SESSION_CLASS` counts, which pam_systemd(8) sets, and which desktops hand on to what systemd starts for them.
  /// - Returns: why the agent is not needed; nil where it is.
  static func notice(environment: [String: String]) -> String? {
    guard let name = environment["XDG_SESSION_CLASS"], classes.contains(name) else { return nil }
    return "this session is a display manager's (XDG_SESSION_CLASS=\(name)): nobody is logged in, so the agent ends"
  }
}
