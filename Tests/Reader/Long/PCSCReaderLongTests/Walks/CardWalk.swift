import Daemon
import Names
import ReaderProtocol
import TestKit
import Testing

@testable import PCSCReaderSystemTests

@testable import ReaderSimulator

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

  /// Takes all steps. Fails at the first step whose event does not come.
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
    // A late event of the previous card may be what has awakened the process.
    try await rig.wait(for: "power") { $0.powerUps(of: id) == failures + 1 }
    if failures > 0 { try await rig.isFree(client) }
    try await rig.awaken { await rig.remove(id) }
  }

  // MARK: The end

  /// Each message was announced once, and nothing else.
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
