import Rig
import Testing

@testable import Presence

@Suite struct DesktopStateTests {
  private static let gnome = DesktopPeer.screenSaver(.gnome)
  private static let kde = DesktopPeer.screenSaver(.freedesktop)

  private static func state(_ events: [DesktopState.Event]) -> DesktopState {
    events.reduce(into: DesktopState()) { $0.handle($1) }
  }

  @Test func `an unlock by the user clears only the lock of a screen saver that has ended`() {
    var state = Self.state([.owner(Self.gnome, ":1.1"), .said(Self.gnome, .yes, by: ":1.1")])
    state.handle(.declared(locked: false))
    #expect(state.locked == .yes)
    state.handle(.owner(Self.gnome, nil))
    #expect(state.locked == .yes)
    #expect(state.lockReasons.first?.contains("tagroute session unlock") == true)
    state.handle(.declared(locked: false))
    #expect(state.locked == .no)
  }

  @Test func `an unlock of GNOME Shell also counts for its proxy, which ended while locked`() {
    let shell = DesktopPeer.screenSaver(.gnomeShell)
    var state = Self.state([
      .owner(shell, ":1.1"), .said(shell, .no, by: ":1.1"), .owner(Self.gnome, ":1.2"), .said(shell, .yes, by: ":1.1"),
      .said(Self.gnome, .yes, by: ":1.2"), .owner(Self.gnome, nil),
    ])
    #expect(state.locked == .yes)
    state.handle(.said(shell, .no, by: ":1.1"))
    #expect(state.locked == .no)
    // A shell that restarted during the lock has not been unlocked.
    state.handle(.said(shell, .yes, by: ":1.1"))
    state.handle(.owner(shell, ":1.3"))
    state.handle(.said(shell, .no, by: ":1.3"))
    #expect(state.locked == .yes)
  }

  @Test func `the compositor takes precedence over the connectors`() {
    var state = Self.state([.connectors(.no), .connectors(.yes)])
    #expect(state.displayOff == .yes)
    #expect(state.needsConnectors)
    state.handle(.owner(.displayPower, ":1.1"))
    state.handle(.said(.displayPower, .no, by: ":1.1"))
    #expect(state.displayOff == .no)
    #expect(!state.needsConnectors)
    state.handle(.said(.displayPower, .unknown, by: ":1.1"))
    #expect(state.displayOff == .yes)
    state.handle(.said(.displayPower, .yes, by: ":1.1"))
    state.handle(.said(.displayPower, .no, by: ":1.9"))
    #expect(state.displayOff == .yes)
    state.handle(.owner(.displayPower, nil))
    #expect(state.displayOff == .yes)
    // During a lock tags may be held, so the connectors still matter.
    state.handle(.declared(locked: true))
    #expect(state.needsConnectors)
  }

  @Test func `connectors that were never on are not reported as off`() {
    #expect(Self.state([.connectors(.yes)]).displayOff == .unknown)
    #expect(Self.state([.connectors(.no), .connectors(.unknown), .connectors(.yes)]).displayOff == .yes)
  }

  // MARK: All sequences

  /// Two processes that own the name of a saver one after the other, another saver, and the user.
  private static let events: [DesktopState.Event] = [
    .owner(gnome, nil), .owner(gnome, "a"), .owner(gnome, "b"),
    .said(gnome, .yes, by: "a"), .said(gnome, .no, by: "a"), .said(gnome, .unknown, by: "a"),
    .said(gnome, .yes, by: "b"), .said(gnome, .no, by: "b"),
    .owner(kde, "c"), .owner(kde, nil), .said(kde, .yes, by: "c"), .said(kde, .no, by: "c"),
    .declared(locked: true), .declared(locked: false),
  ]

  /// The state that the rules demand: a second implementation, slow and simple.
  private static func expected(_ history: ArraySlice<DesktopState.Event>) -> Fact {
    var hasDenial = false
    if case .declared(let locked)? = history.last(where: { if case .declared = $0 { true } else { false } }) {
      if locked { return .yes }
      hasDenial = true
    }
    for peer in [gnome, kde] {
      switch word(of: peer, history) {
      case .yes: return .yes
      case .no: hasDenial = true
      case .unknown: break
      }
    }
    return hasDenial ? .no : .unknown
  }

  private static func word(of peer: DesktopPeer, _ history: ArraySlice<DesktopState.Event>) -> Fact {
    // A report of "active" holds until it is withdrawn: by the same process, without another owner in between, or by
    // the user after that process has left.
    var owner: String?
    var present = Fact.unknown
    var left = false
    for event in history {
      switch event {
      case .owner(peer, let new) where new != owner:
        left = left || present == .yes
        (owner, present) = (new, .unknown)
      case .said(peer, let fact, let sender) where sender == owner:
        switch (fact, present) {
        case (.no, .yes): (present, left) = (.no, false)
        case (.unknown, .yes): break
        default: present = fact
        }
      case .said(peer, .yes, _): left = true
      case .declared(false): left = false
      default: break
      }
    }
    return left ? .yes : present
  }

  private static func mayUnlock(_ event: DesktopState.Event) -> Bool {
    switch event {
    case .said(_, .no, _), .declared(locked: false): true
    default: false
    }
  }

  @Test func `all sequences of events follow the rules`() { expectRules(ofEvents: 4) }

  /// Tries every sequence of at most so many events. The long tests try longer ones.
  func expectRules(ofEvents most: Int) {
    var count = 0
    var violations: [[DesktopState.Event]] = []
    func walk(_ state: DesktopState, _ history: [DesktopState.Event]) {
      count += 1
      if state.locked != Self.expected(history[...]) || state.lockReasons.isEmpty == (state.locked == .yes) {
        violations.append(history)
      }
      guard history.count < most, violations.count < 5 else { return }
      for event in Self.events {
        var next = state
        next.handle(event)
        // For any set of rules: a peer that leaves never unlocks the session.
        let isUnlocked = state.locked == .yes && next.locked != .yes
        if isUnlocked && !Self.mayUnlock(event) { violations.append(history + [event]) }
        walk(next, history + [event])
      }
    }
    walk(DesktopState(), [])
    #expect(violations.isEmpty)
    let expected = (0...most).reduce(0) { sum, length in sum + (0..<length).reduce(1) { product, _ in product * 14 } }
    #expect(count == expected)
  }
}

@Suite struct DisplayConnectorTests {
  @Test(arguments: [
    ([], Fact.unknown),
    (["disconnected Off"], .unknown),
    (["connected On"], .no),
    (["connected Off"], .yes),
    (["connected Standby", "connected Suspend", "disconnected On"], .yes),
    (["connected Off", "connected On"], .no),
    (["connected Off", "connected 3"], .no),
    (["unknown Off"], .unknown),
  ])
  func `displays are off if all connected displays are off`(_ words: [String], _ expected: Fact) {
    let connectors = words.map { text in
      let parts = text.split(separator: " ").map(String.init)
      return DisplayConnector(status: parts[0], power: parts[1])
    }
    #expect(DisplayConnector.areOff(connectors) == expected)
  }

  @Test func `connectors are read from the folder of the kernel`() throws {
    let directory = try TemporaryDirectory()
    #expect(DisplayConnector.present(in: directory.file("drm")) == [])
    // The card itself, a render node, a connector without `dpms`, a complete connector, and one with a huge `dpms`.
    try directory.write("connected\n", to: "drm/card0/status")
    try directory.write("On\n", to: "drm/card0/dpms")
    try directory.write("", to: "drm/renderD128/dev")
    try directory.write("connected\n", to: "drm/card0-DP-1/status")
    try directory.write("connected\n", to: "drm/card0-eDP-1/status")
    try directory.write("Off\n", to: "drm/card0-eDP-1/dpms")
    try directory.write("disconnected\n", to: "drm/card0-HDMI-A-1/status")
    try directory.write(String(repeating: "x", count: 100_000), to: "drm/card0-HDMI-A-1/dpms")
    let found = Set(DisplayConnector.present(in: directory.file("drm")))
    let endless = String(repeating: "x", count: 32)
    #expect(
      found == [
        DisplayConnector(status: "connected", power: "Off"),
        DisplayConnector(status: "disconnected", power: endless),
      ])
  }
}
