import Presence
import Testing

/// Examples. LockModelTests compare every sequence of events with a model.
@Suite struct LockStateTests {
  private func after(_ events: [LockState.Event]) -> LockState { events.reduce(into: LockState()) { $0.handle($1) } }

  @Test(
    arguments: [
      ([], .unknown), ([.hintRead(false)], .unknown), ([.hintRead(true)], .yes),
      ([.hintRead(true), .hintChanged(false)], .no),
      // A lock outlives a restart of logind, and the reports of an agent that does not know the locker.
      ([.hintRead(true), .logindGone, .hintRead(false), .reported(.no)], .yes),
      ([.hintRead(true), .logindGone, .hintRead(false), .hintChanged(false)], .no),
      ([.hintRead(false), .reported(.yes), .reporterGone, .reported(.no)], .yes),
      ([.hintRead(false), .reported(.yes), .reporterGone, .userUnlocked], .unknown),
      // The session stays locked while a source reports "locked".
      ([.hintRead(true), .userUnlocked], .yes), ([.hintRead(true), .reported(.no)], .yes),
    ] as [([LockState.Event], Fact)])
  func `the session is locked or not`(events: [LockState.Event], isLocked: Fact) {
    #expect(after(events).isLocked == isLocked)
  }

  @Test func `a session has been unlocked if it was ever not locked, and is said to be if a reliable source said so`() {
    let histories: [[LockState.Event]] = [
      [.hintRead(true)], [.hintRead(false)], [.hintRead(true), .hintChanged(false)],
      [.hintRead(true), .logindGone, .hintRead(false)], [.reported(.no), .reported(.unknown)],
    ]
    #expect(histories.map { after($0).hasBeenUnlocked } == [false, true, true, false, true])
    #expect(histories.map { after($0).hasBeenSaidUnlocked } == [false, false, true, false, true])
  }
}

/// Compares `LockState` with a model, for event sequences of any length: visits all reachable states.
@Suite struct LockModelTests {
  /// The model: the last report of each source.
  private struct World: Hashable {
    /// logind's present hint; nil if logind is gone or the hint was not read yet.
    var hint: Bool?
    /// The hint was set or changed once, so it is reliable.
    var isMaintained = false
    /// The agent's present report.
    var report = Fact.unknown
    /// A source reported "locked" and then disappeared, and there was no evidence of an unlock since.
    var isOwed = false

    mutating func take(_ event: LockState.Event) {
      switch event {
      case .hintRead(let value):
        hint = value
        if value { (isMaintained, isOwed) = (true, false) }
      case .hintChanged(let value): (hint, isMaintained, isOwed) = (value, true, false)
      case .logindGone:
        if hint == true { isOwed = true }
        hint = nil
      case .reported(let fact):
        if report == .yes && fact == .no { isOwed = false }
        report = fact
      case .userUnlocked: isOwed = false
      case .reporterGone:
        if report == .yes { isOwed = true }
        report = .unknown
      }
    }

    var isLocked: Fact {
      if hint == true || report == .yes || isOwed { return .yes }
      return report == .no || (hint == false && isMaintained) ? .no : .unknown
    }
  }

  private struct Place: Hashable {
    let state: LockState
    let world: World
  }

  private static let events: [LockState.Event] = [
    .hintRead(true), .hintRead(false), .hintChanged(true), .hintChanged(false), .logindGone, .reported(.yes),
    .reported(.no), .reported(.unknown), .reporterGone, .userUnlocked,
  ]

  /// Whether an event may unlock a locked session.
  private static func mayUnlock(_ event: LockState.Event, _ world: World) -> Bool {
    switch event {
    case .hintChanged(false), .userUnlocked: true
    // Only from an agent that has reported "locked" itself.
    case .reported(.no): world.report == .yes
    // From the same logind, which was not restarted since.
    case .hintRead(false): world.hint == true
    // An agent that withdraws its report.
    case .reported(.unknown): world.report == .yes
    default: false
    }
  }

  @Test func `a lock lasts until there is evidence of an unlock`() {
    let beginning = Place(state: LockState(), world: World())
    var seen: Set = [beginning]
    var frontier = [beginning]
    var wrong: [(Place, LockState.Event)] = []
    while let place = frontier.popLast() {
      for event in Self.events {
        var (state, world) = (place.state, place.world)
        state.handle(event)
        world.take(event)
        let wasLocked = place.state.isLocked == .yes
        let isRight =
          state.isLocked == world.isLocked
          && !(wasLocked && state.isLocked != .yes && !Self.mayUnlock(event, place.world))
          && (!place.state.hasBeenUnlocked || state.hasBeenUnlocked)
          && state.hasBeenSaidUnlocked == (place.state.hasBeenSaidUnlocked || state.isLocked == .no)
          && (state.hasBeenUnlocked == place.state.hasBeenUnlocked || state.isLocked != .yes)
        if !isRight { wrong.append((place, event)) }
        let reached = Place(state: state, world: world)
        if seen.insert(reached).inserted { frontier.append(reached) }
      }
    }
    let count = wrong.count
    #expect(count == 0, "first \(String(describing: wrong.first))")
    #expect(seen.count > 20)
  }
}
