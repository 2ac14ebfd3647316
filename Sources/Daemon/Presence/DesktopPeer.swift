import Bus

/// A screen saver, or locker, identified by its name on the session bus.
///
/// All have the same interface, and nearly always under their own name: `GetActive() → b` and the signal
/// `ActiveChanged(b)`. Other programs may own one of the names, to let programs inhibit the saver. They do not know
/// whether it is active.
package enum ScreenSaver: String, Sendable, Hashable, CaseIterable {
  /// GNOME Shell since 3.36. It owns this name while it can lock the session. `org.gnome.ScreenSaver` is then a proxy
  /// that D-Bus starts on demand: it has no owner until a program calls it, and it exits by itself.
  case gnomeShell = "org.gnome.Shell.ScreenShield"
  /// The proxy of GNOME Shell, or GNOME Shell before 3.36 and Phosh themselves.
  case gnome = "org.gnome.ScreenSaver"
  /// kscreenlocker, light-locker and others.
  case freedesktop = "org.freedesktop.ScreenSaver"
  /// xfce4-screensaver.
  case xfce = "org.xfce.ScreenSaver"
  /// mate-screensaver.
  case mate = "org.mate.ScreenSaver"
  /// cinnamon-screensaver.
  case cinnamon = "org.cinnamon.ScreenSaver"

  var interface: String { self == .gnomeShell ? Self.gnome.rawValue : rawValue }
}

/// A peer on the session bus that can be asked for a condition, and sends a signal when it changes.
package enum DesktopPeer: Sendable, Hashable {
  /// Whether the saver is active.
  case screenSaver(ScreenSaver)
  /// Mutter: whether the displays are off.
  case displayPower
  /// gnome-settings-daemon: whether every radio is off.
  case airplaneMode

  /// All peers.
  package static let all = ScreenSaver.allCases.map(DesktopPeer.screenSaver) + [.displayPower, .airplaneMode]

  /// The question to the peer, and how to read its answer.
  var question: PeerQuestion {
    switch self {
    case .screenSaver(let saver):
      PeerQuestion(
        name: saver.rawValue, paths: Self.paths(of: saver), interface: saver.interface, member: "GetActive",
        arguments: [], rule: MatchRule(sender: saver.rawValue, interface: saver.interface, member: "ActiveChanged"),
        changed: { .fact(Self.boolean($0.arguments.first)) }, answered: { Self.boolean($0.first) })
    case .displayPower:
      .property(
        "PowerSaveMode", of: "org.gnome.Mutter.DisplayConfig", at: "/org/gnome/Mutter/DisplayConfig",
        meaning: Self.powerSaveMode)
    case .airplaneMode:
      .property(
        "AirplaneMode", of: "org.gnome.SettingsDaemon.Rfkill", at: "/org/gnome/SettingsDaemon/Rfkill",
        meaning: Self.boolean)
    }
  }

  /// The object paths to try: the one derived from the name, or those of KDE and older savers.
  private static func paths(of saver: ScreenSaver) -> [ObjectPath] {
    switch saver {
    case .gnome, .gnomeShell: ["/org/gnome/ScreenSaver"]
    case .freedesktop: ["/org/freedesktop/ScreenSaver", "/ScreenSaver"]
    case .xfce: ["/org/xfce/ScreenSaver", "/"]
    case .mate: ["/org/mate/ScreenSaver", "/"]
    case .cinnamon: ["/org/cinnamon/ScreenSaver", "/"]
    }
  }

  private static func boolean(_ value: Value?) -> Fact { Fact(value?.asBool) }

  /// 0 is on; 1 to 3 are standby, suspend and off, which are all dark; -1 is unknown
  /// (org.gnome.Mutter.DisplayConfig.xml).
  private static func powerSaveMode(_ value: Value?) -> Fact {
    switch value?.asInt32 {
    case 0: .no
    case 1, 2, 3: .yes
    default: .unknown
    }
  }
}
