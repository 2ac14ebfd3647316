import ReaderSimulator
import TagrouteClient
import TestRig
import Testing

/// A program of others (pyscard) that uses the contactless reader itself: it gets the card, and the daemon says what it
/// waits for.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct ForeignProgramTests {
  private func client(_ desk: CardDesktop, starter: String = #function) async throws -> (PCSCClient, name: String) {
    (try await PCSCClient(socket: desk.pcscd.socket, starter: starter), await desk.readers.name(of: try desk.slot))
  }

  /// Connects without sharing. The reader process may still be ending its own connection.
  private func connectExclusively(_ client: PCSCClient, _ name: String) async throws {
    try await client.ask("await present \(name)")
    var error = try await client.error(of: "connect exclusive \(name)")
    while error == "SCARD_E_SHARING_VIOLATION" { error = try await client.error(of: "connect exclusive \(name)") }
    #expect(error == nil)
  }

  @Test func `another program can have a resting tag for itself`() async throws {
    let desk = try await CardDesktop.started()
    let (client, name) = try await client(desk)
    for number in 1...5 {
      try await desk.announces(number)
      try await connectExclusively(client, name)
      #expect(try await client.transmit("ffca000000").hasSuffix("9000"))
      try await client.ask("disconnect leave")
    }
  }

  @Test(arguments: ["reset", "unpower"]) func `a reset by another program is no new tap`(what: String) async throws {
    let desk = try await CardDesktop.started(starter: "`a reset by another program is no new tap`_\(what)")
    let (client, name) = try await client(desk)
    let tag = try await desk.announces(1)
    let commands = await desk.readers.commands(to: tag).count
    try await client.ask("await present \(name)")
    for _ in 1...3 {
      try await client.ask("connect shared \(name)")
      try await client.ask("reconnect \(what)")
      try await client.ask("disconnect \(what)")
    }
    #expect(await desk.readers.commands(to: tag).count == commands)
    try await desk.announces(2)
    #expect(await desk.announcements(of: 1) == 1)
  }

  @Test func `a program that connects during a reading waits for its end`() async throws {
    let desk = try await CardDesktop.started()
    let (client, name) = try await client(desk)
    let slot = try desk.slot
    await desk.readers.add(.hold(command: 2), to: slot)
    try await desk.place(1)
    try await desk.awaitHold(in: slot)
    // pcscd lets the program wait until the transaction ends.
    let seen = try await client.send("connect shared \(name)")
    await desk.readers.release(slot)
    #expect(try await client.answer(after: seen).hasPrefix("ok"))
    try await client.ask("reconnect reset")
    try await client.ask("disconnect leave")
    #expect(try await desk.shown().body == Tag.text(1))
    try await desk.announces(2)
    #expect(await desk.announcements(of: 1) == 1)
  }

  /// The reader is in the configuration, or in the list of pcscd.
  @Test(arguments: [false, true])
  func `a tap waits for another program's transaction, and the status says so`(isNamed: Bool) async throws {
    let desk = try await CardDesktop(
      settings: isNamed ? ["Devices=pcsc:ACS ACR1252 Dual Reader [ACR1252 Dual Reader PICC]"] : ["Backend=pcsc"],
      starter: "`a tap waits for another program's transaction, and the status says so`_\(isNamed)")
    let (client, name) = try await client(desk)
    try await desk.place(1)
    try await client.ask("await present \(name)")
    try await client.ask("connect shared \(name)")
    try await client.ask("begin")
    try await desk.startPrograms()
    try await desk.desktop.status { $0.readers.first?.stateReason == "another program uses the card" }
    #expect(await desk.server.all.filter(\.isTap).isEmpty)
    #expect(try await client.transmit("ffca000000").hasSuffix("9000"))
    try await client.ask("end")
    #expect(try await desk.shown().body == Tag.text(1))
    try await desk.desktop.status { $0.readers.first?.stateReason.isEmpty == true }
    try await client.ask("disconnect leave")
    try await desk.announces(2)
  }

  @Test func `a tap waits a moment for a program that has the reader for itself`() async throws {
    let desk = try await CardDesktop.started()
    let (client, name) = try await client(desk)
    let daemon = try await desk.desktop.daemon
    let reason = "waits: another program uses the card exclusively"
    try await desk.announces(1)
    try await connectExclusively(client, name)
    var seen = await daemon.log().count
    // pcscd keeps the reader for the program although its card is gone.
    try await desk.place(2)
    try await daemon.line(containing: reason, after: seen)
    try await client.ask("disconnect leave")
    #expect(try await desk.shown().body == Tag.text(2))

    // A program that keeps the reader gets the card. The daemon stops trying until that program ends.
    try await connectExclusively(client, name)
    seen = await daemon.log().count
    let left = try await desk.place(3)
    try await daemon.line(containing: "a card is left to another program", after: seen)
    #expect(await desk.readers.commands(to: left).isEmpty)
    try await client.ask("disconnect leave")
    #expect(try await desk.shown().body == Tag.text(3))
    try await desk.announces(4)
    #expect(await desk.announcements(of: 3) == 1)
  }

  @Test func `a slow card on one reader does not delay the other`() async throws {
    let desk = try await CardDesktop.started([.acr1252U, .acr1552U])
    let slot = try desk.slot
    await desk.readers.add(.hold(command: 2), to: slot)
    try await desk.place(1)
    try await desk.awaitHold(in: slot)
    for number in 2...6 { try await desk.announces(number, on: 1) }
    await desk.readers.release(slot)
    #expect(try await desk.shown().body == Tag.text(1))
  }
}
