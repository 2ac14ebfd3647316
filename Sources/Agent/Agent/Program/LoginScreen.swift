/// Recognizes the session of a login screen or a screen locker.
///
/// Such a session has its own desktop, which starts the same programs as any other. But no user is logged in there, so
/// the agent must not show or store a tap: the next user would find it.
enum LoginScreen {
  /// The classes of such sessions in logind (pam_systemd(8), `class=`).
  private static let classes: Set<String> = ["greeter", "lock-screen"]

  /// Why the agent is not needed; nil if it is. pam_systemd(8) sets `XDG_SESSION_CLASS`, and desktops pass it on to the
  /// services of systemd.
  static func notice(environment: [String: String]) -> String? {
    guard let name = environment["XDG_SESSION_CLASS"], classes.contains(name) else { return nil }
    return "this is the session of a login screen (XDG_SESSION_CLASS=\(name)): no user is logged in, so the agent exits"
  }
}
