import Bus
import Names
import ReaderProtocol
import Testing

@testable import Daemon

/// Which session has a reader: every sequence of events up to a length, checked against the rules.
@Suite struct ReaderSessionOrderTests {
  /// The sessions at one reader, a correct reader process, and the actions so far.
  private struct World: Hashable {
    var sessions = ReaderSessions()
    /// Seconds since the beginning.
    var time = 0
    /// The sessions that the process has to begin or has begun, and has not ended.
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

  private func instant(_ world: World) -> ReaderSessions.Instant { Self.origin + .seconds(world.time) }

  /// Adds a session of a separate client.
  private static func start(
    _ sessions: inout ReaderSessions, _ id: UInt64, at now: ReaderSessions.Instant = origin
  ) -> [ReaderSessions.Action] {
    let added = try? sessions.add(
      ReaderSessionRequest(), client: ":1.\(id)", uid: 1000, pid: 1, reader: 0, readerPath: Samples.reader, at: now)
    return added?.1 ?? []
  }

  /// Returns the actions; nil if the step is not possible.
  private func take(_ step: Step, in world: inout World) -> [ReaderSessions.Action]? {
    let open = world.started.filter { !world.ended.contains($0) }
    let now = instant(world)
    switch step {
    case .start:
      guard world.started.count < 3 else { return nil }
      let id = UInt64(world.started.count + 1)
      world.started.append(id)
      return Self.start(&world.sessions, id, at: now)
    case .endFirst: return open.first.map { world.sessions.end($0, .invalidated, at: now) }
    case .endSecond: return open.dropFirst().first.map { world.sessions.end($0, .cancelled, at: now) }
    case .endLast: return open.count > 2 ? open.last.map { world.sessions.leave(":1.\($0)", at: now) } : nil
    case .tenSeconds, .minute:
      world.time += step == .minute ? 60 : 10
      return world.sessions.tick(at: instant(world))
    default: return event(step, in: &world).map { world.sessions.handle($0, at: 0, now) }
    }
  }

  private func event(_ step: Step, in world: inout World) -> ReaderSessions.Event? {
    switch step {
    case .start, .endFirst, .endSecond, .endLast, .tenSeconds, .minute: return nil
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
    }
  }

  /// Returns the rule that is broken; nil if there is none.
  private func apply(_ actions: [ReaderSessions.Action], to world: inout World) -> String? {
    for action in actions {
      switch action {
      case .begin(_, let options):
        let id = options.number
        guard world.processHas.isEmpty else { return "\(id) begins before the one before it has ended" }
        guard !world.isLent else { return "\(id) begins while the reader is lent" }
        guard world.isReady else { return "\(id) begins at a reader that is not ready" }
        let earlier = world.started.filter { $0 < id && !world.ended.contains($0) }
        guard earlier.isEmpty else { return "\(id) begins before \(earlier)" }
        guard !world.ended.contains(id) else { return "\(id) begins after its end" }
        world.processHas = [id]
        world.hasBegun = false
        world.begun.append(id)
      case .release(_, let id):
        guard world.processHas == [id] else { return "\(id) is released without a reader" }
      case .activated(let id):
        guard world.processHas == [id], !world.ended.contains(id) else { return "\(id) is active without a reader" }
        guard world.sessions[id]?.deadline == instant(world) + ReaderSessions.defaultTimeLimit else {
          return "\(id) has another limit"
        }
        world.activated.append(id)
        world.activeSince[id] = world.time
      case .ended(let session):
        let (id, reason) = (session.id, session.end)
        guard world.started.contains(id) else { return "\(id) ends but never began" }
        guard world.ended.insert(id).inserted else { return "\(id) ends twice" }
        if reason == .timedOut, world.time - (world.activeSince[id] ?? .max) < 60 { return "\(id) timed out too early" }
      case .forgotten(let path):
        guard world.sessions.session(at: path) == nil else { return "\(path) is still there" }
      case .found, .gone, .roundEnded, .pollingRestarted: return "no session has a tag"
      }
    }
    return nil
  }

  private func violation(_ world: World) -> String? {
    let open = world.started.filter { !world.ended.contains($0) }
    let isOccupied = world.sessions.isOccupied(0)
    if !open.isEmpty && !isOccupied { return "\(open) wait at a reader that is not occupied" }
    if open.isEmpty && world.processHas.isEmpty && isOccupied { return "the reader is occupied without a session" }
    if world.sessions.open.map(\.id) != open { return "\(world.sessions.open) is not \(open)" }
    if world.sessions.mayHaveField(0) == world.processHas.isEmpty { return "\(world.processHas) is not the occupant" }
    if world.activated != world.activated.sorted() { return "not first in, first out: \(world.activated)" }
    for id in open {
      if let since = world.activeSince[id], world.time - since >= 60 { return "\(id) is active beyond its time limit" }
    }
    if world.isReady, !world.isLent, world.processHas.isEmpty, !open.isEmpty { return "\(open) wait at a free reader" }
    return nil
  }

  @Test func `every sequence of events keeps the rules`() { expectRules(ofEvents: 7, worlds: 2_000) }

  /// Tries every sequence of at most so many events. The long tests try longer ones.
  func expectRules(ofEvents most: Int, worlds: Int) {
    var frontier: Set<World> = [World()]
    var seen = frontier
    var problems: [String] = []
    for _ in 0..<most where problems.isEmpty {
      var next: Set<World> = []
      for world in frontier {
        for step in Step.allCases {
          var after = world
          guard let actions = take(step, in: &after) else { continue }
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
    #expect(seen.count > worlds)
  }

  @Test(arguments: Names.SessionEnd.allCases.map(Optional.some) + [nil])
  func `each end of the first session lets the second one begin`(end: Names.SessionEnd?) {
    var sessions = ReaderSessions()
    _ = sessions.handle(.ready(true), at: 0, Self.origin)
    #expect(Self.start(&sessions, 1) == [.begin(0, TagSessionOptions(number: 1))])
    #expect(Self.start(&sessions, 2) == [])
    #expect(sessions.handle(.began(1), at: 0, Self.origin) == [.activated(1)])
    let actions = end.map { sessions.end(1, $0, at: Self.origin) } ?? sessions.leave(":1.1", at: Self.origin)
    let ended = actions.compactMap { action -> SessionRecord? in
      if case .ended(let session) = action { session } else { nil }
    }
    #expect(ended.map(\.state) == [.ended(end)])
    #expect(actions.contains(.release(0, 1)))
    #expect(sessions.mayHaveField(0))
    #expect(sessions.handle(.ended(1), at: 0, Self.origin) == [.begin(0, TagSessionOptions(number: 2))])
  }

  @Test func `a session that the process ends by itself has lost the reader`() {
    var sessions = ReaderSessions()
    _ = sessions.handle(.ready(true), at: 0, Self.origin)
    _ = Self.start(&sessions, 1)
    _ = sessions.handle(.began(1), at: 0, Self.origin)
    let actions = sessions.handle(.ended(1), at: 0, Self.origin)
    #expect(sessions[1]?.end == .readerLost)
    #expect(actions == sessions[1].map { [.ended($0)] })
    #expect(!sessions.isOccupied(0))
  }

  @Test func `sessions that wait for an absent reader end after ten seconds`() {
    var sessions = ReaderSessions()
    #expect(Self.start(&sessions, 1) == [])
    #expect(sessions.deadline == Self.origin + ReaderSessions.absence)
    // A lent reader comes back.
    _ = sessions.handle(.lent(true), at: 0, Self.origin)
    #expect(sessions.deadline == nil)
    _ = sessions.handle(.lent(false), at: 0, Self.origin + .seconds(100))
    #expect(sessions.tick(at: Self.origin + .seconds(109)) == [])
    _ = sessions.tick(at: Self.origin + .seconds(110))
    #expect(sessions[1]?.end == .readerLost)
    #expect(sessions.deadline == nil)
  }
}
