import Bus
import Presence
import ReaderProtocol
import Testing

@testable import Daemon

/// Every short sequence of user switches, of "off" and "on", and of the steps of a reader that obeys late. A tag is
/// delivered to the user who was active when it was put down, or it is dropped.
@Suite struct HandOverModelTests {
  private enum Step: CaseIterable {
    case alice, bob, nobody, off, on
    case begin
    /// The reader has read the tag.
    case arrive
    /// The reader receives its goals and reaches them.
    case obey
  }

  /// The daemon's state, the facts that it should know, and the reader process.
  private struct World {
    var state = DaemonState(policy: .init(), isEnabled: true)
    var front: LoginSessionKey?
    var isOn = true
    /// How often the active user has changed or scanning was turned off.
    var epoch = 0
    /// The goals that the daemon has sent and the reader has not reached.
    var orders: [(epoch: UInt64, goal: ReaderGoal)] = []
    var order: (epoch: UInt64, goal: ReaderGoal) = (0, .off)
    var isScanning: Bool { order.goal != .off }
    /// The epoch of the world in which the tag that is being read was put down.
    var reading: Int?

    var owner: LoginSessionKey? { isOn ? front : nil }
  }

  private let logins: [LoginSessionKey?: LoginState] = Dictionary(
    uniqueKeysWithValues: [Samples.alice, Samples.bob, nil].map { ($0, Self.login(inFront: $0)) })

  private static func login(inFront front: LoginSessionKey?) -> LoginState {
    var login = LoginState()
    for key in [Samples.alice, Samples.bob] {
      login.handle(.read(key == Samples.alice ? "/alice" : "/bob", Samples.properties(key, active: key == front)))
    }
    login.handle(.synchronized)
    return login
  }

  private func begin() -> World {
    var world = World()
    let now = ManualClock().now
    _ = world.state.handle(.readerAdded(0, path: Samples.reader, device: "a:0", seat: "seat0"), at: now)
    _ = world.state.handle(.reader(0, .phase(.ready(name: "x", device: "a:0"), reached: 0)), at: now)
    _ = world.state.handle(.login(Self.login(inFront: nil)), at: now)
    _ = world.state.register(":1.7", at: "/agent", for: [Samples.alice], at: now)
    _ = world.state.register(":1.8", at: "/agent", for: [Samples.bob], at: now)
    return world
  }

  /// Returns the agent that received a tap; nil if none did.
  private func take(_ event: DaemonState.Event, _ world: inout World) -> String? {
    var receiver: String?
    for action in world.state.handle(event, at: ManualClock().now) {
      switch action {
      case .pursue(_, let epoch, let goal): world.orders.append((epoch, goal))
      case .deliver(_, let agent):
        receiver = agent.sender
        // The agent stores the tap at once, so that the next one can follow.
        _ = world.state.handle(.delivery(id: "a", sender: agent.sender, .stored), at: ManualClock().now)
      default: break
      }
    }
    return receiver
  }

  private func arrive(_ world: inout World) -> String? {
    let epoch = world.order.epoch
    return take(.tag(0, Samples.report(.message(Samples.message)), epoch: epoch, id: "a", time: 7), &world)
  }

  private func obey(_ world: inout World) {
    while !world.orders.isEmpty {
      world.order = world.orders.removeFirst()
      if !world.isScanning { world.reading = nil }
      let phase = world.isScanning ? ReaderPhase.scanning : .ready(name: "x", device: "a:0")
      _ = take(.reader(0, .phase(phase, reached: world.order.epoch)), &world)
    }
  }

  private func move(_ front: LoginSessionKey?, _ world: inout World) {
    if front != world.front { world.epoch += 1 }
    world.front = front
    if let login = logins[front] { _ = take(.login(login), &world) }
  }

  /// Returns whether the daemon behaved correctly.
  private func take(_ step: Step, _ world: inout World) -> Bool {
    switch step {
    case .alice: move(Samples.alice, &world)
    case .bob: move(Samples.bob, &world)
    case .nobody: move(nil, &world)
    case .off:
      if world.isOn { world.epoch += 1 }
      world.isOn = false
      _ = take(.enabled(false), &world)
    case .on:
      world.isOn = true
      _ = take(.enabled(true), &world)
    case .begin: if world.isScanning, world.reading == nil { world.reading = world.epoch }
    case .arrive:
      guard let reading = world.reading else { break }
      world.reading = nil
      let receiver = arrive(&world)
      let isOwners = reading == world.epoch && world.orders.isEmpty
      // A dropped tag does not wait in the queue either.
      return isOwners ? receiver == name(world.owner) : receiver == nil && world.state.agents.queue.count == 0
    case .obey: obey(&world)
    }
    return ((world.orders.last ?? world.order).goal != .off) == (world.owner != nil)
  }

  private func name(_ owner: LoginSessionKey?) -> String? { owner.map { $0 == Samples.alice ? ":1.7" : ":1.8" } }

  @Test func `every tag goes to the user who was active when it was put down, or is dropped`() {
    expectRules(ofSteps: 4, sequences: 4_000)
  }

  /// Tries every sequence of at most so many steps. The long tests try longer ones.
  func expectRules(ofSteps most: Int, sequences: Int) {
    var wrong: [[Step]] = []
    var count = 0
    func walk(_ path: [Step], _ world: World) {
      count += 1
      // Once the reader has obeyed, it is not stuck: the next tag goes to the active user.
      var end = world
      obey(&end)
      if arrive(&end) != name(end.owner) { wrong.append(path + [.obey, .begin, .arrive]) }
      guard path.count < most else { return }
      for step in Step.allCases {
        var next = world
        if take(step, &next) { walk(path + [step], next) } else { wrong.append(path + [step]) }
      }
    }
    var start = begin()
    _ = take(.alice, &start)
    obey(&start)
    walk([], start)
    let number = wrong.count
    #expect(number == 0, "the shortest failing sequence is \(wrong.min { $0.count < $1.count } ?? [])")
    #expect(count > sequences)
  }
}
