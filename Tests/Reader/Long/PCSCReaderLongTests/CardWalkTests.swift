import Daemon
import Names
import ReaderProtocol
import TestKit
import Testing

@testable import PCSCReaderSystemTests
@testable import ReaderSimulator

/// Random taps with random faults. A failure names the seed and the step.
@Suite(.timeLimit(.minutes(60)), StopsAtEnd()) struct CardWalkTests {
  private static let seeds = [UInt64](1...12)
  private static let taps = 84

  @Test(arguments: seeds)
  func `each tap is announced once, and no card with contacts gets a command`(seed: UInt64) async throws {
    let plan = WalkPlan(seed: seed, count: Self.taps)
    let walk = try await CardWalk(
      plan, starter: "`each tap is announced once, and no card with contacts gets a command`_\(seed)")
    try await walk.run()
  }

  @Test func `the walks have 1,000 taps, with each kind of card and each fault`() {
    let steps = Self.seeds.flatMap { WalkPlan(seed: $0, count: Self.taps).steps }
    #expect(steps.count >= 1000)
    for kind in TagKind.allCases { #expect(steps.count { $0.card == .tag(kind) } >= 10, "\(kind)") }
    for card in UntouchedCardTests.Card.allCases {
      #expect(steps.count { $0.card == .foreign(card) } >= 10, "\(card)")
      #expect(steps.count { $0.neighbour == card } >= 10, "\(card)")
    }
    for model in WalkPlan.models {
      #expect(Self.seeds.contains { WalkPlan(seed: $0, count: 1).model == model }, "\(model.name)")
    }
    // The name of a fault, without its values.
    let faults = Dictionary(grouping: steps) { "\($0.fault)".prefix { $0 != "(" } }
    #expect(faults.count == 9)
    for (name, steps) in faults { #expect(steps.count >= 20, "\(name)") }
  }

  @Test func `the same seed gives the same walk`() {
    let plans = [1, 1, 2].map { WalkPlan(seed: $0, count: Self.taps) }
    #expect(plans[0] == plans[1])
    #expect(plans[0].steps != plans[2].steps)
  }
}

/// Takes the steps of a plan, with the real pcscd and the real reader process, and checks what the process announces.
///
/// A second reader has a slot for cards with contacts. Each step waits for the event that shows its end.
final class CardWalk {
  let rig: CardReaderRig
  /// Another program that uses pcscd.
  let client: PCSCClient
  private let plan: WalkPlan
  private let contactSlot: CardSlotID
  /// The cards that may get no command, with the steps that placed them.
  private var untouched: [(id: TagID, step: WalkStep)] = []

  init(_ plan: WalkPlan, starter: String = #function) async throws {
    let rig = try await CardReaderRig(plan.model, others: [.pcTwin], starter: starter)
    try await rig.scan(true)
    let attached = await rig.readers.attachedReaders
    let twin = try #require(attached.last)
    (self.rig, self.plan, contactSlot) = (rig, plan, twin.slot)
    client = try await rig.client(starter: starter)
  }

  /// Takes all steps. Fails at the first step without its event.
  func run() async throws {
    for step in plan.steps {
      do { try await take(step) } catch { throw RigError("\(step): \(error)") }
    }
    try await rig.announcesNothing()
    try checkAnnouncements()
    for (id, step) in untouched {
      let commands = await rig.commands(id)
      #expect(commands.isEmpty, "\(step), its neighbour: \(String(describing: step.neighbour))")
    }
    #expect(!rig.seen.contains { $0.isCrash })
  }

  // MARK: One step

  private func take(_ step: WalkStep) async throws {
    await rig.readers.clearFaults(of: rig.slot)
    if let neighbour = step.neighbour {
      await rig.readers.removeAll(from: contactSlot)
      untouched.append((try await rig.readers.insert(neighbour.make(), into: contactSlot), step))
    }
    let message = try uri(step.link)
    let card = try step.card.make(message)
    if step.expectation == .nothing {
      try await pass(card, step)
    } else {
      let (id, report) = try await tap(card, step.fault)
      check(report, step, message)
      try await takeAway(id, report.placement, step)
    }
    let strikes = await rig.readers.strikes(in: rig.slot)
    #expect(strikes == step.fault.strikes, "\(step): the fault has not occurred")
  }

  private func check(_ report: TagReport, _ step: WalkStep, _ message: [UInt8]) {
    let isMessage = report.content == .message(message)
    switch step.expectation {
    case .message: #expect(isMessage, "\(step): \(report)")
    case .problem: #expect(report.problem != nil, "\(step): \(report)")
    case .either: #expect(isMessage || report.problem != nil, "\(step): \(report)")
    case .nothing: Issue.record("\(step): announced: \(report)")
    }
    #expect(report.placement.technology == step.card.type, "\(step): \(report)")
  }

  /// Takes a card away. The next placement that ends has to be its placement, and no tag may be announced before that.
  private func takeAway(_ id: TagID, _ placement: Placement, _ step: WalkStep) async throws {
    // After a flicker, the process may be connected to the card before pcscd's own thread has noticed it. That thread
    // would not notice the removal either.
    try await rig.wait(for: "pcscd's reports") { [slot = rig.slot] in $0.isReported(in: slot) }
    await rig.remove(id)
    let removed = try await rig.next("the removal") { event -> UInt64? in
      if case .tag(let report, _) = event { Issue.record("\(step): a second announcement: \(report)") }
      return if case .removed(let number) = event { number } else { nil }
    }
    #expect(removed == placement.number, "\(step)")
  }

  /// Places a card that belongs to other programs, and takes it away.
  private func pass(_ card: SimulatedCard, _ step: WalkStep) async throws {
    let failures = step.fault.strikes
    let id: TagID
    if failures > 0 {
      await rig.add(.mute(times: failures))
      // The process has to connect to the card. Its kind shows only when it has power.
      id = try await rig.insert(card)
    } else {
      id = try await rig.awaken { try await rig.insert(card) }
    }
    untouched.append((id, step))
    // The process may have been awakened by a late event of the previous card.
    try await rig.wait(for: "power") { $0.powerUps(of: id) == failures + 1 }
    if failures > 0 { try await rig.isFree(client) }
    try await rig.awaken { await rig.remove(id) }
  }

  // MARK: The end

  /// Each message was announced once, and no other.
  private func checkAnnouncements() throws {
    let announced = rig.announced
    let expected = plan.steps.count { $0.expectation != .nothing }
    #expect(announced.count == expected, "\(plan.steps.first?.description ?? ""): of the whole walk")
    var counts: [[UInt8]: Int] = [:]
    for report in announced {
      if case .message(let bytes) = report.content { counts[bytes, default: 0] += 1 }
    }
    for step in plan.steps {
      let count = counts[try uri(step.link)] ?? 0
      switch step.expectation {
      case .message: #expect(count == 1, "\(step)")
      case .either: #expect(count <= 1, "\(step)")
      case .problem, .nothing: #expect(count == 0, "\(step)")
      }
    }
  }
}

/// Placing a card with a fault, until it is announced.
extension CardWalk {
  /// Places a card. Returns the placement that lies there, and the next announcement.
  func tap(_ card: SimulatedCard, _ fault: WalkFault) async throws -> (id: TagID, report: TagReport) {
    switch fault {
    case .none: break
    case .failure(let command): await rig.add(.status(0x6300, command: command))
    case .silence(let command, let executed): await rig.add(.silence(command: command, executed: executed))
    case .flicker(let command): await rig.add(.flicker(command: command))
    case .mute(let times): await rig.add(.mute(times: times))
    case .removal(let command, let executed): return try await placeTwice(card, command, executed)
    case .transaction(let resets): return try await transaction(card, resets)
    case .reset(let command): return try await reset(card, command)
    case .rival: return try await rival(card)
    }
    let id = try await rig.insert(card)
    return (id, try await rig.tag())
  }

  private func placeTwice(
    _ card: SimulatedCard, _ command: Int, _ executed: Bool
  ) async throws -> (id: TagID, report: TagReport) {
    await rig.add(.removal(command: command, executed: executed))
    let first = try await rig.insert(card)
    let slot = rig.slot
    try await rig.wait(for: "the removal in a command") { $0.strikes(in: slot) == 1 }
    let taken = try #require(await rig.remove(first))
    let id = try await rig.insert(taken)
    return (id, try await rig.tag())
  }

  // MARK: Another program

  /// Places a card. The other program is the first to connect to it, because the process is stopped meanwhile.
  private func place(_ card: SimulatedCard, thenAsk commands: String...) async throws -> TagID {
    var id: TagID?
    try await rig.whileSuspended {
      id = try await rig.insert(card)
      try await client.ask("await present \(rig.name)")
      try await client.ask("connect shared \(rig.name)")
      for command in commands { try await client.ask(command) }
    }
    return try #require(id)
  }

  private func transaction(_ card: SimulatedCard, _ resets: Bool) async throws -> (id: TagID, report: TagReport) {
    let id = try await place(card, thenAsk: "begin")
    try await rig.next("a wait for the other program") { event -> Bool? in
      if case .waiting(let reason) = event, !reason.isEmpty { true } else { nil }
    }
    if resets { try await client.ask("reconnect reset") }
    try await client.ask("end")
    let report = try await rig.tag()
    try await client.ask("disconnect leave")
    try await rig.isFree(client)
    return (id, report)
  }

  /// pcscd carries out the reset when the transaction of the process has ended.
  private func reset(_ card: SimulatedCard, _ command: Int) async throws -> (id: TagID, report: TagReport) {
    await rig.add(.hold(command: command))
    let id = try await place(card)
    try await rig.isHolding()
    let sent = try await client.send("reconnect unpower")
    await rig.readers.release(rig.slot)
    let report = try await rig.tag()
    let answer = try await client.answer(after: sent)
    #expect(answer.hasPrefix("ok"), "\(answer)")
    try await client.ask("disconnect leave")
    try await rig.isFree(client)
    return (id, report)
  }

  private func rival(_ card: SimulatedCard) async throws -> (id: TagID, report: TagReport) {
    let (name, client) = (rig.name, client)
    async let rival: Void = Self.probe(name, client)
    let id = try await rig.insert(card)
    let report = try await rig.tag()
    await rival
    try await rig.isFree(client)
    return (id, report)
  }

  /// What a program does with a card that it does not know. Any of the commands may fail.
  private static func probe(_ name: String, _ client: PCSCClient) async {
    let commands = [
      "await present \(name)", "connect shared \(name)", "reconnect reset", "transmit ffca000000", "disconnect leave",
    ]
    for command in commands { _ = try? await client.error(of: command) }
  }
}
