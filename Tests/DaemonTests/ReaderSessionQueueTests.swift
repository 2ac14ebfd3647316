import Names
import Testing

@testable import Daemon

/// Every sequence of events up to a length, against what must hold whatever happens.
@Suite struct ReaderSessionQueueTests {
  private typealias Queue = ReaderSessionQueue

  /// A queue with a process as it should be, and what clients have been told.
  private struct World: Hashable {
    var queue = Queue()
    /// Seconds since the beginning.
    var time = 0
    /// What the process has been told to begin and has not confirmed the end of.
    var processHas: [UInt64] = []
    var hasBegun = false
    var isLent = false
    var isReady = false
    var started: [UInt64] = []
    var begun: [UInt64] = []
    var activated: [UInt64] = []
    var ended: Set<UInt64> = []
    var activeSince: [UInt64: Int] = [:]
  }

  private enum Step: Hashable, CaseIterable {
    case start, endFirst, endSecond, endLast, began, confirmed, strayConfirmation, lost, ready, unready, lend, giveBack
    case tenSeconds, minute
  }

  private static let origin = SuspendingClock.now

  private func instant(_ world: World) -> Queue.Instant { Self.origin + .seconds(world.time) }

  private func event(_ step: Step, in world: inout World) -> Queue.Event? {
    let open = world.started.filter { !world.ended.contains($0) }
    switch step {
    case .start:
      guard world.started.count < 3 else { return nil }
      let id = UInt64(world.started.count + 1)
      world.started.append(id)
      return .start(id)
    case .endFirst: return open.first.map { .end($0, .invalidated) }
    case .endSecond: return open.dropFirst().first.map { .end($0, .cancelled) }
    case .endLast: return open.count > 2 ? open.last.map { .end($0, .clientGone) } : nil
    case .began:
      guard let id = world.processHas.last, !world.hasBegun else { return nil }
      world.hasBegun = true
      return .began(id)
    case .confirmed:
      guard let id = world.processHas.last else { return nil }
      world.processHas.removeLast()
      return .ended(id)
    case .strayConfirmation: return .ended(99)
    case .lost:
      world.processHas = []
      world.isReady = false
      return .lost
    case .ready:
      world.isReady = true
      return .ready(true)
    case .unready:
      world.isReady = false
      return .ready(false)
    case .lend:
      world.isLent = true
      world.isReady = false
      return .lent(true)
    case .giveBack:
      world.isLent = false
      world.isReady = false
      return .lent(false)
    case .tenSeconds:
      world.time += 10
      return .tick
    case .minute:
      world.time += 60
      return .tick
    }
  }

  /// - Returns: what does not hold; nil where everything does.
  private func apply(_ actions: [Queue.Action], to world: inout World) -> String? {
    for action in actions {
      switch action {
      case .begin(let id):
        guard world.processHas.isEmpty else { return "\(id) begins before the one before it has ended" }
        guard !world.isLent else { return "\(id) begins while the reader is lent" }
        guard world.isReady else { return "\(id) begins at a reader that is not there" }
        let earlier = world.started.filter { $0 < id && !world.ended.contains($0) }
        guard earlier.isEmpty else { return "\(id) begins before \(earlier)" }
        guard !world.ended.contains(id) else { return "\(id) begins after its end" }
        world.processHas = [id]
        world.hasBegun = false
        world.begun.append(id)
      case .release(let id):
        guard world.processHas == [id] else { return "\(id) is released that has nothing" }
      case .activated(let id, let until):
        guard world.processHas == [id], !world.ended.contains(id) else { return "\(id) is active and has no reader" }
        guard until == instant(world) + Queue.limit else { return "\(id) has another limit" }
        world.activated.append(id)
        world.activeSince[id] = world.time
      case .ended(let id, let reason):
        guard world.started.contains(id) else { return "\(id) ends and never began" }
        guard world.ended.insert(id).inserted else { return "\(id) ends twice" }
        if reason == .timedOut, world.time - (world.activeSince[id] ?? .max) < 60 { return "\(id) timed out too early" }
      }
    }
    return nil
  }

  private func violation(_ world: World) -> String? {
    let open = world.started.filter { !world.ended.contains($0) }
    let isOccupied = world.queue.isOccupied
    if !open.isEmpty && !isOccupied { return "\(open) wait and nobody knows" }
    if open.isEmpty && world.processHas.isEmpty && isOccupied { return "the reader is taken and nobody has it" }
    if world.queue.sessions.sorted() != open { return "\(world.queue.sessions) is not \(open)" }
    if world.activated != world.activated.sorted() { return "not first in, first out: \(world.activated)" }
    for id in open {
      if let since = world.activeSince[id], world.time - since >= 60 { return "\(id) has had more than its time" }
    }
    if world.isReady, !world.isLent, world.processHas.isEmpty, !open.isEmpty { return "\(open) wait for nothing" }
    return nil
  }

  @Test func everySequenceOfEventsKeepsTheRules() {
    var frontier: Set<World> = [World()]
    var seen = frontier
    var problems: [String] = []
    for _ in 0..<12 where problems.isEmpty {
      var next: Set<World> = []
      for world in frontier {
        for step in Step.allCases {
          var after = world
          guard let event = event(step, in: &after) else { continue }
          let actions = after.queue.handle(event, at: instant(after))
          if let problem = apply(actions, to: &after) ?? violation(after) {
            problems.append("\(problem), after \(step) in \(world)")
          } else if seen.insert(after).inserted {
            next.insert(after)
          }
        }
      }
      frontier = next
    }
    #expect(problems.isEmpty, "\(problems.prefix(3))")
    #expect(seen.count > 10_000)
  }

  @Test func clientsAreToldOfEachEndThatThereIsAWordForAndOfNoOther() {
    #expect(Queue.End.allCases.map(\.told) == Names.SessionEnd.allCases.map(Optional.some) + [nil])
  }

  @Test func eachEndOfTheFirstLetsTheSecondIn() {
    for end in Queue.End.allCases {
      var queue = Queue()
      _ = queue.handle(.ready(true), at: Self.origin)
      #expect(queue.handle(.start(1), at: Self.origin) == [.begin(1)])
      #expect(queue.handle(.start(2), at: Self.origin) == [])
      #expect(queue.handle(.began(1), at: Self.origin) == [.activated(1, until: Self.origin + Queue.limit)])
      #expect(queue.handle(.end(1, end), at: Self.origin) == [.ended(1, end), .release(1)])
      #expect(queue.current == 1)
      #expect(queue.handle(.ended(1), at: Self.origin) == [.begin(2)])
    }
  }

  @Test func aSessionThatTheProcessEndsByItselfHasLostTheReader() {
    var queue = Queue()
    _ = queue.handle(.ready(true), at: Self.origin)
    _ = queue.handle(.start(1), at: Self.origin)
    _ = queue.handle(.began(1), at: Self.origin)
    #expect(queue.handle(.ended(1), at: Self.origin) == [.ended(1, .readerLost)])
    #expect(!queue.isOccupied)
  }

  @Test func whoWaitsForAReaderThatDoesNotComeIsToldSo() {
    var queue = Queue()
    #expect(queue.handle(.start(1), at: Self.origin) == [])
    #expect(queue.deadline == Self.origin + Queue.absence)
    // A reader that is lent comes back.
    _ = queue.handle(.lent(true), at: Self.origin)
    #expect(queue.deadline == nil)
    _ = queue.handle(.lent(false), at: Self.origin + .seconds(100))
    #expect(queue.handle(.tick, at: Self.origin + .seconds(109)) == [])
    #expect(queue.handle(.tick, at: Self.origin + .seconds(110)) == [.ended(1, .readerLost)])
    #expect(queue.deadline == nil)
  }
}
