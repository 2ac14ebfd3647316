import Daemon
import ReaderProtocol
import TestKit
import Testing

@testable import PCSCReaderSystemTests

@testable import ReaderSimulator

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
