import ScanGate
import Testing

/// Every sequence of what may be heard of a session's lock, of whatever length, against what is so.
@Suite struct LockModelTests {
  /// What was said, and by whom, without any rule of what follows.
  private struct World: Hashable {
    /// What logind says now; nil where it is away, or has not been asked.
    var hint: Bool?
    /// The hint was set or changed once, so it means something.
    var isMaintained = false
    /// What the agent says now.
    var report = Fact.unknown
    /// Somebody has said "locked", has gone away since, and nobody has taken it back.
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

  /// What says that a lock is over; all else leaves a locked session locked.
  private static func mayUnlock(_ event: LockState.Event, _ world: World) -> Bool {
    switch event {
    case .hintChanged(false), .userUnlocked: true
    // Only one that has said "locked" itself.
    case .reported(.no): world.report == .yes
    // The same logind, which has not forgotten.
    case .hintRead(false): world.hint == true
    // An agent that takes its word back without another.
    case .reported(.unknown): world.report == .yes
    default: false
    }
  }

  @Test func aLockLastsUntilSomethingPositiveSaysOtherwise() {
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
