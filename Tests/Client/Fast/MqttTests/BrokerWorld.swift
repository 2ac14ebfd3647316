import Rig
import TagrouteClient
import Testing

@testable import Mqtt

/// An agent, a broker and a network around a ``BrokerSession``, which fail at random.
struct BrokerWorld {
  private(set) var session: BrokerSession
  private var random: SeededGenerator
  private var clock = Duration.zero
  private var wall: UInt64 = 1_000_000_000

  // The agent.
  private var isAgentPresent = false
  private(set) var waiting: [TapDescription] = []
  /// The agent's list for each question. The answer may arrive after that of a later call.
  private var taking: [[TapDescription]] = []
  private var acknowledging: [[String]] = []
  private var lastTap: UInt64 = 0

  // The thread and the network: nil if there is no attempt.
  private var attempt: UInt64?
  private var isAccepted = false
  private var isClosing = false
  private var onTheWay: [Publication] = []

  // The broker.
  private(set) var log: [UInt64] = []
  private var confirmed: Set<String> = []
  private var numbers: [[UInt8]: TapDescription] = [:]
  /// Broken rules.
  private(set) var faults: [String] = []

  init(seed: UInt64) throws {
    random = SeededGenerator(seed: seed)
    session = try Sample.session()
    send(.start)
  }

  /// Whether each tap is at the broker, and the agent knows it.
  var isSettled: Bool { waiting.isEmpty && acknowledging.isEmpty }
  var taps: UInt64 { lastTap }

  /// One thing happens.
  mutating func step() {
    switch Int.random(in: 0..<20, using: &random) {
    case 0, 1: if isAgentPresent { tap() }
    case 2: changeAgent()
    case 3: failCalls()
    case 4: cut()
    case 5: wall = UInt64.random(in: 900_000_000...1_100_000_000, using: &random)
    case 6: pass(.seconds(Int.random(in: 0...40, using: &random)))
    case 7...11: work()
    default: deliver()
    }
  }

  /// Nothing fails any more.
  mutating func settle() {
    if !isAgentPresent { changeAgent() }
    for _ in 0..<2000 where !isSettled {
      work()
      deliver()
      pass(.seconds(1))
    }
  }

  private mutating func tap() {
    lastTap += 1
    let tap = Sample.tap(lastTap, time: wall)
    waiting.append(tap)
    numbers[TapPayload.make(tap, Sample.messages())] = tap
    send(.outgoingAvailable)
  }

  private mutating func changeAgent() {
    isAgentPresent.toggle()
    send(.agent(isPresent: isAgentPresent))
    if !isAgentPresent { failCalls() }
  }

  private mutating func failCalls() {
    let calls = (taking.count, acknowledging)
    (taking, acknowledging) = ([], [])
    for _ in 0..<calls.0 { send(.takingFailed) }
    for ids in calls.1 {
      // The agent may have done it, and only the answer is lost.
      if Bool.random(using: &random) { forget(ids) }
      send(.acknowledgingFailed)
    }
  }

  private mutating func forget(_ ids: [String]) { waiting.removeAll { ids.contains($0.id) } }

  /// The agent answers, and the thread makes progress.
  private mutating func work() {
    if isAgentPresent, let ids = acknowledging.popLast() {
      forget(ids)
      send(.acknowledged)
    }
    if isAgentPresent, Bool.random(using: &random), let taps = taking.popLast() { send(.taken(taps)) }
    guard let attempt else { return }
    if isClosing {
      end(.closed)
    } else if !isAccepted {
      isAccepted = true
      send(.accepted(attempt: attempt))
    }
  }

  /// The broker gets the next message.
  private mutating func deliver() {
    guard let attempt, isAccepted, !onTheWay.isEmpty else { return }
    let publication = onTheWay.removeFirst()
    receive(publication)
    if publication.token != 0 { send(.confirmed(attempt: attempt, token: publication.token, code: 0)) }
  }

  private mutating func cut() {
    guard attempt != nil else { return }
    // The broker gets a part of the messages on the way, and the confirmations are lost.
    let count = Int.random(in: 0...onTheWay.count, using: &random)
    for publication in onTheWay.prefix(count) { receive(publication, isConfirmed: false) }
    let endings: [BrokerEnding] = [.lost("cut"), .unreachable("no route"), .refused(code: 0x86)]
    end(endings.randomElement(using: &random) ?? .closed)
  }

  private mutating func end(_ ending: BrokerEnding) {
    guard let ended = attempt else { return }
    (attempt, isAccepted, isClosing, onTheWay) = (nil, false, false, [])
    send(.ended(attempt: ended, ending))
  }

  private mutating func receive(_ publication: Publication, isConfirmed: Bool = true) {
    guard let tap = numbers[publication.payload], let number = tap.sequence else { return }
    switch publication.topic {
    case "tagroute/kiosk-7/log":
      log.append(number)
      if confirmed.contains(tap.id) { faults.append("\(number) is sent again, and was confirmed") }
      if isConfirmed { confirmed.insert(tap.id) }
    case "tagroute/kiosk-7/tap":
      if !log.contains(number) { faults.append("\(number) is live before it is in the log") }
    default: break
    }
  }

  private mutating func pass(_ time: Duration) {
    clock += time
    wall += UInt64(time.components.seconds) * 1_000_000
    if let deadline = session.deadline, deadline <= clock { send(.time) }
  }

  private mutating func send(_ event: BrokerEvent) {
    let actions = session.handle(event, at: Moment(clock: clock, wall: wall), using: &random)
    if session.flow.inFlight.count > OutboxFlow.maximumInFlight { faults.append("too many in flight") }
    for action in actions { perform(action) }
  }

  private mutating func perform(_ action: BrokerAction) {
    switch action {
    case .connect(let number, _):
      if attempt != nil { faults.append("two attempts at a time") }
      (attempt, isAccepted, isClosing) = (number, false, false)
    case .close: isClosing = true
    case .publish(let publication):
      if attempt == nil || !isAccepted { faults.append("a message without a connection") }
      if publication.topic.hasSuffix("/tap"), let tap = numbers[publication.payload] {
        let age = wall > tap.time ? wall - tap.time : tap.time - wall
        if age > 10_000_000 { faults.append("an old tap is live") }
      }
      onTheWay.append(publication)
    case .take(let limit):
      if !taking.isEmpty { faults.append("two questions at a time") }
      taking.append(Array(waiting.prefix(limit)))
    case .acknowledge(let ids):
      if !acknowledging.isEmpty { faults.append("two acknowledgements at a time") }
      for id in ids where !confirmed.contains(id) { faults.append("\(id) is acknowledged, and was not confirmed") }
      acknowledging.append(ids)
    case .subscribe, .perform, .log: break
    }
  }
}

/// Random sequences of failures: each tap arrives at least once, in order, and only confirmed taps are acknowledged.
@Suite struct BrokerSessionRandomTests {
  @Test(arguments: 0..<100)
  func `no sequence of failures loses a tap or changes the order`(seed: Int) throws {
    var world = try BrokerWorld(seed: UInt64(seed))
    for _ in 0..<600 { world.step() }
    world.settle()
    #expect(world.faults == [])
    #expect(world.isSettled)
    var first: [UInt64] = []
    var seen: Set<UInt64> = []
    for number in world.log where seen.insert(number).inserted { first.append(number) }
    #expect(first == first.sorted())
    // The broker has every confirmed message, so the agent has forgotten no other tap.
    #expect(first == Array(1...max(1, world.taps)).filter { $0 <= world.taps })
    #expect(world.taps > 0)
  }
}
