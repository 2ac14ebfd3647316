import Bus

/// The conditions that only the user's session knows, combined from all sources: the lock, the displays, the cameras,
/// the radios.
///
/// Pure: `DesktopMonitor` feeds it.
///
/// An active screen saver is treated as a lock. It may only show pictures, but no saver reports whether it will ask for
/// a password. If an active saver leaves the bus, or another process replaces it, that is not an unlock. The session
/// stays locked until a saver with that name is first active and then inactive, or the user says `unlock`. If the new
/// process calls itself inactive, that proves as little as the cleared hint of a restarted logind.
package struct DesktopState: Sendable, Hashable {
  package enum Event: Sendable, Hashable {
    /// Nil if the peer's name has no owner now.
    case owner(DesktopPeer, String?)
    /// Unknown if the peer cannot tell. `by` is the process that sent the report.
    case said(DesktopPeer, Fact, by: String)
    /// The user's own statement, for lockers that send no signals.
    case declared(locked: Bool)
    /// Of all displays.
    case connectors(Fact)
    case camera(Fact)
  }

  /// The known state of a peer.
  fileprivate struct Word: Sendable, Hashable {
    var owner: String?
    var fact = Fact.unknown
    /// The peer was active when its process left.
    var remembersLock = false
  }

  private var words: [DesktopPeer: Word] = [:]
  private var declared = Fact.unknown
  private var connectors = Fact.unknown
  /// A driver may report "off" at all times. Its "off" is used only after a connector has been on.
  private var connectorsHaveBeenOn = false
  package private(set) var camera = Fact.unknown

  package init() {}

  package mutating func handle(_ event: Event) {
    switch event {
    case .owner(let peer, let owner): words[peer, default: Word()].setOwner(owner, peer)
    case .said(let peer, let fact, let sender):
      let wasActive = words[peer]?.fact == .yes
      words[peer, default: Word()].setFact(fact, from: sender, peer)
      // The proxy reports the same lock, and may have exited while that was active.
      if peer == .screenSaver(.gnomeShell), wasActive, words[peer]?.fact == .no {
        words[.screenSaver(.gnome)]?.remembersLock = false
      }
    case .declared(let locked):
      declared = Fact(locked)
      if !locked {
        for peer in words.keys { words[peer]?.remembersLock = false }
      }
    case .connectors(let fact):
      if fact == .no { connectorsHaveBeenOn = true }
      connectors = fact == .yes && !connectorsHaveBeenOn ? .unknown : fact
    case .camera(let fact): camera = fact
    }
  }

  /// Locked if any source says so; unlocked if a source that knows says so; else unknown.
  package var locked: Fact {
    let savers = words.filter(\.key.isScreenSaver).values
    if declared == .yes || savers.contains(where: { $0.fact == .yes || $0.remembersLock }) { return .yes }
    return declared == .no || savers.contains { $0.fact == .no } ? .no : .unknown
  }

  /// Whether all displays are off. The compositor's report takes precedence over the connectors.
  package var displayOff: Fact {
    let compositor = words[.displayPower]?.fact ?? .unknown
    return compositor == .unknown ? connectors : compositor
  }

  package var airplaneMode: Fact { words[.airplaneMode]?.fact ?? .unknown }

  /// No peer reports the display's power, so the connectors have to be checked. This is also so during a lock, because
  /// tags may be read behind it, to be held.
  package var needsConnectors: Bool { (words[.displayPower]?.fact ?? .unknown) == .unknown }

  /// For a person; empty if the session is not treated as locked.
  package var lockReasons: [String] {
    var reasons: [String] = declared == .yes ? ["tagroute session lock"] : []
    for saver in ScreenSaver.allCases {
      guard let word = words[.screenSaver(saver)] else { continue }
      if word.fact == .yes {
        reasons.append("\(saver.rawValue) is active")
      } else if word.remembersLock {
        reasons.append("\(saver.rawValue) ended while it was active; unlock once, or say tagroute session unlock")
      }
    }
    return reasons
  }
}

extension DesktopState.Word {
  mutating func setOwner(_ owner: String?, _ peer: DesktopPeer) {
    guard owner != self.owner else { return }
    self.owner = owner
    if peer.isScreenSaver && fact == .yes { remembersLock = true }
    fact = .unknown
  }

  mutating func setFact(_ new: Fact, from sender: String, _ peer: DesktopPeer) {
    guard sender == owner else {
      // The sender has just left, or is not known as the owner yet. Assume the safe state.
      if peer.isScreenSaver && new == .yes { remembersLock = true }
      return
    }
    guard peer.isScreenSaver else {
      fact = new
      return
    }
    // An active saver that no longer replies has not unlocked the session.
    if new == .unknown && fact == .yes { return }
    if new == .no && fact == .yes { remembersLock = false }
    fact = new
  }
}

extension DesktopPeer {
  var isScreenSaver: Bool {
    if case .screenSaver = self { true } else { false }
  }
}

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

  package static let all = ScreenSaver.allCases.map(DesktopPeer.screenSaver) + [.displayPower, .airplaneMode]

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

  /// The one derived from the name, or those of KDE and older savers.
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
