public import ScanGate

/// What only the user's session knows, put together from everybody who has a say: is it locked, is the display off, is a camera
/// in use, are the radios off.
///
/// Pure: `DesktopMonitor` feeds it.
///
/// A screen saver that is active counts as a lock. It may only be showing pictures, but whether a password will be asked for is
/// what none of them tells. One that leaves the bus, or is followed by another process, while it is active has not been
/// unlocked: the session stays locked until a saver of that name is seen to be active and then is not, or the user says
/// `unlock`. That the new one calls itself inactive says nothing, as it says nothing of a logind that has restarted.
public struct DesktopState: Sendable, Hashable {
  /// Something that was seen.
  public enum Event: Sendable, Hashable {
    /// Who owns a peer's name now; nil where nobody does.
    case owner(DesktopPeer, String?)
    /// What a peer said, unknown where it cannot tell; and which process said it.
    case said(DesktopPeer, Fact, by: String)
    /// The user's own word, for lockers that tell nobody.
    case declared(locked: Bool)
    /// Whether all displays are off, as their connectors tell.
    case connectors(Fact)
    /// Whether a camera is in use.
    case camera(Fact)
  }

  /// What is known of a peer.
  fileprivate struct Word: Sendable, Hashable {
    var owner: String?
    var fact = Fact.unknown
    /// It was active when its process left.
    var remembersLock = false
  }

  private var words: [DesktopPeer: Word] = [:]
  private var declared = Fact.unknown
  private var connectors = Fact.unknown
  /// A driver whose connectors have never been on says nothing with "off".
  private var connectorsHaveBeenOn = false
  /// Whether a camera is in use.
  public private(set) var camera = Fact.unknown

  /// Nothing is known.
  public init() {}

  /// Takes an observation in.
  public mutating func handle(_ event: Event) {
    switch event {
    case .owner(let peer, let owner): words[peer, default: Word()].follow(owner, peer)
    case .said(let peer, let fact, let sender):
      let wasActive = words[peer]?.fact == .yes
      words[peer, default: Word()].hear(fact, from: sender, peer)
      // The proxy speaks for the same lock, and may have ended while that was active.
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

  /// Locked where anybody says so; unlocked where somebody who knows says so; else unknown.
  public var locked: Fact {
    let savers = words.filter(\.key.isScreenSaver).values
    if declared == .yes || savers.contains(where: { $0.fact == .yes || $0.remembersLock }) { return .yes }
    return declared == .no || savers.contains { $0.fact == .no } ? .no : .unknown
  }

  /// Whether all displays are off. What the compositor says counts before what the connectors do.
  public var displayOff: Fact {
    let compositor = words[.displayPower]?.fact ?? .unknown
    return compositor == .unknown ? connectors : compositor
  }

  /// Whether every radio is off.
  public var airplaneMode: Fact { words[.airplaneMode]?.fact ?? .unknown }

  /// Whether the connectors have to be looked at, since nobody tells of the display. A lock is no reason not to: tags may be read
  /// behind it, to be held.
  public var needsConnectors: Bool { (words[.displayPower]?.fact ?? .unknown) == .unknown }

  /// Why the session counts as locked, for a person; empty where it does not.
  public var lockReasons: [String] {
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
  mutating func follow(_ owner: String?, _ peer: DesktopPeer) {
    guard owner != self.owner else { return }
    self.owner = owner
    if peer.isScreenSaver && fact == .yes { remembersLock = true }
    fact = .unknown
  }

  mutating func hear(_ new: Fact, from sender: String, _ peer: DesktopPeer) {
    guard sender == owner else {
      // Of one that has just left, or whose coming is not known yet: the safe side.
      if peer.isScreenSaver && new == .yes { remembersLock = true }
      return
    }
    guard peer.isScreenSaver else {
      fact = new
      return
    }
    // An active saver that no longer answers has not been unlocked.
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
