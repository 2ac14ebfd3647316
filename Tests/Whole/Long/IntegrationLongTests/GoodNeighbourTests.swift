import ReaderSimulator
import TestKit
import Testing

@testable import IntegrationTests

/// Cards with contacts, security keys and their programs beside a daemon that scans: they work as without it, and taps
/// are announced all the time.
@Suite(.timeLimit(.minutes(60)), StopsAtEnd()) struct GoodNeighbourTests {
  @Test func `cards with contacts get no command, no control code and no second power-up`() async throws {
    let desk = try await CardDesktop([.acr1252U, .pcTwin, .yubiKey, .acr1552U])
    let (modules, twin, key) = (desk.attached[0].slots[1], desk.attached[1].slot, desk.attached[2].slot)
    // Some lie there before the daemon starts, others come later.
    var cards = [
      try await desk.readers.insert(.contact(), into: modules), try await desk.readers.insert(.openPGP(), into: twin),
    ]
    try await desk.start()
    cards.append(try await desk.readers.insert(.piv(), into: key))
    for number in 1...10 { try await desk.announces(number, on: number % 2) }
    await desk.readers.removeAll(from: twin)
    cards.append(try await desk.readers.insert(.paymentChip(), into: twin))
    cards.append(try await desk.readers.insert(.contact(), into: desk.attached[3].slots[1]))
    for number in 11...20 { try await desk.announces(number, on: number % 2) }
    for card in cards {
      #expect(await desk.readers.commands(to: card).isEmpty)
      #expect(await desk.readers.powerUps(of: card) == 1)
    }
    for slot in [modules, twin, key, desk.attached[3].slots[1]] {
      let requests = await desk.requests(in: slot)
      #expect(requests.isEmpty, "\(requests)")
    }
    // The daemon does not show these slots.
    try await desk.scanning()
  }

  @Test func `cards without contacts and without NDEF get only what finds that out`() async throws {
    let desk = try await CardDesktop.started()
    let daemon = try await desk.desktop.daemon
    for card in [SimulatedTag.openPGPCard(), .paymentCard(), .paymentCardB()] {
      let seen = await daemon.log().count
      let placement = try await desk.place(card)
      try await daemon.line(containing: "without an NDEF application", after: seen)
      let commands = await desk.readers.commands(to: placement)
      // Pseudo-APDUs go to the reader. Of the others, each selects the NDEF application, by its present or former name.
      let own = commands.filter { $0.first != 0xFF }
      #expect(!own.isEmpty)
      for command in own {
        #expect(command.starts(with: [0x00, 0xA4, 0x04, 0x00, 0x07, 0xD2, 0x76, 0x00, 0x00, 0x85, 0x01]), "\(command)")
      }
      // Nothing is written or configured: only FF CA, and no keys are loaded.
      #expect(commands.filter { $0.first == 0xFF }.allSatisfy { $0.dropFirst().first == 0xCA }, "\(commands)")
    }
    #expect(await desk.server.all.filter(\.isTap).isEmpty)
  }

  // MARK: GnuPG

  @Test(arguments: [false, true])
  func `gpg sends a card with contacts the same commands with and without the daemon`(isShared: Bool) async throws {
    let desk = try await CardDesktop(
      [.pcTwin, .acr1252U],
      starter: "`gpg sends a card with contacts the same commands with and without the daemon`_\(isShared)")
    let twin = desk.attached[0].slot
    let gpg = try GnuPG(desk, reader: await desk.readers.name(of: twin), isShared: isShared)
    /// Inserts the card, and shows its status twice. Returns the commands that it got.
    func commands() async throws -> [[UInt8]] {
      let card = try await desk.readers.insert(.openPGP(), into: twin)
      let client = try await PCSCClient(socket: desk.pcscd.socket)
      try await client.ask("await present \(await desk.readers.name(of: twin))")
      for _ in 1...2 {
        let result = try await gpg.cardStatus()
        #expect(result.status == .exited(0), "\(result.log)")
        #expect(result.output.contains("Name of cardholder: Jane Doe"), "\(result.log)")
      }
      // scdaemon may still be connected. Tags on the other reader are unaffected.
      if await desk.desktop.installation.daemon != nil {
        for number in 1...5 { try await desk.announces(number) }
      }
      try await gpg.end()
      let commands = await desk.readers.commands(to: card)
      await desk.readers.remove(card)
      return commands
    }
    let without = try await commands()
    try await desk.start()
    let with = try await commands()
    #expect(with == without && with.count > 5)
  }

  @Test(arguments: [false])
  func `gpg shows a security key that is held to the reader`(isShared: Bool) async throws {
    let desk = try await CardDesktop.started(
      starter: "`gpg shows a security key that is held to the reader`_\(isShared)")
    let gpg = try GnuPG(desk, reader: await desk.readers.name(of: try desk.slot), isShared: isShared)
    let daemon = try await desk.desktop.daemon
    for round in 1...2 {
      let seen = await daemon.log().count
      let key = try await desk.place(.openPGPCard())
      try await daemon.line(containing: "without an NDEF application", after: seen)
      let before = await desk.readers.commands(to: key).count
      let result = try await gpg.cardStatus()
      #expect(result.status == .exited(0), "\(result.log)")
      #expect(result.output.contains("Name of cardholder: Jane Doe"), "\(result.log)")
      #expect(await desk.readers.commands(to: key).count > before)
      // scdaemon is still connected, and asks twice a second whether the key is gone.
      await desk.readers.remove(key)
      try await awaitRelease(desk)
      try await desk.announces(round)
    }
    try await gpg.end()
    try await desk.announces(3)
  }

  /// Waits until no program has the contactless reader for itself.
  private func awaitRelease(_ desk: CardDesktop) async throws {
    let client = try await PCSCClient(socket: desk.pcscd.socket)
    let connect = "connect direct \(await desk.readers.name(of: try desk.slot))"
    // pcscd has no event for the end of a connection.
    while try await client.error(of: connect) == "SCARD_E_SHARING_VIOLATION" { try Task.checkCancellation() }
    try await client.ask("disconnect leave")
  }

  // MARK: OpenSC

  @Test func `OpenSC lists readers, cards and tokens while tags come and go`() async throws {
    let desk = try await CardDesktop.started([.yubiKey, .acr1252U])
    let key = desk.attached[0].slot
    let card = try await desk.readers.insert(.piv(), into: key)
    let (keyName, name) = (await desk.readers.name(of: key), await desk.readers.name(of: try desk.slot))
    async let programs: Void = Self.runOpenSC(desk.environment(), key: keyName, contactless: name)
    // OpenSC also probes each tag on the contactless reader, and resets it.
    for number in 1...30 { try await desk.announces(number) }
    try await programs
    #expect(await desk.server.all.count(where: \.isTap) == 30)
    // Every command to the key is OpenSC's: without it, there are none.
    await desk.readers.removeAll(from: key)
    let alone = try await desk.readers.insert(.piv(), into: key)
    for number in 31...40 { try await desk.announces(number) }
    #expect(await desk.readers.commands(to: card).count > 5)
    #expect(await desk.readers.commands(to: alone).isEmpty)
  }

  private static func runOpenSC(
    _ environment: [String: String], key: String, contactless: String
  ) async throws {
    func run(_ program: String, _ arguments: [String], expecting texts: [String]) async throws {
      let path = try BuiltProducts.systemProgram(program, package: "opensc")
      let result = try await ChildProcess.run(path, arguments, environment: environment)
      #expect(result.status == .exited(0), "\(arguments): \(result.log)")
      for text in texts { #expect(result.output.contains(text), "\(arguments): \(result.log)") }
    }
    // The answer to reset of a YubiKey.
    let answer = "3b:fd:13:00:00:81:31:fe:15:80:73:c0:21:c0:57"
    for _ in 1...5 {
      try await run("opensc-tool", ["--list-readers"], expecting: [key, contactless])
      try await run("opensc-tool", ["--reader", "0", "-a"], expecting: [answer])
      try await run(
        "pkcs11-tool", ["--module", "opensc-pkcs11.so", "-L"], expecting: [key, contactless, "token initialized"])
    }
  }

  @Test func `opensc-tool finds a tag that rests on the reader`() async throws {
    let desk = try await CardDesktop.started()
    try await desk.announces(1)
    let result = try await ChildProcess.run(
      try BuiltProducts.systemProgram("opensc-tool", package: "opensc"), ["-a"], environment: desk.environment())
    #expect(result.status == .exited(0), "\(result.log)")
    #expect(result.output.contains("3b:8f:80:01:80:4f:0c:a0:00:00:03:06:03:00:03"), "\(result.log)")
    try await desk.announces(2)
    #expect(await desk.announcements(of: 1) == 1)
  }
}

/// GnuPG with its own home. Its scdaemon uses pcscd.
struct GnuPG {
  private let environment: [String: String]

  /// `reader` is pcscd's name of the reader. scdaemon takes the first one otherwise. `isShared`: whether scdaemon
  /// leaves the card to other programs (`pcsc-shared` in scdaemon(1)).
  init(_ desk: CardDesktop, reader: String, isShared: Bool) throws {
    try desk.write(
      "disable-ccid\nreader-port \(reader)\n" + (isShared ? "pcsc-shared\n" : ""), to: "gnupg/scdaemon.conf",
      mode: 0o600)
    environment = desk.environment(["GNUPGHOME": desk.file("gnupg")])
    let gpg = self
    atEndOfTest { try await gpg.end() }
  }

  /// Runs `gpg --card-status`. gpg-agent and scdaemon then keep running, and scdaemon stays connected to the card.
  func cardStatus() async throws -> (status: ChildProcess.ExitStatus, output: String, log: [String]) {
    try await ChildProcess.run(
      try BuiltProducts.systemProgram("gpg", package: "gpg"), ["--no-permission-warning", "--card-status"],
      environment: environment)
  }

  func end() async throws {
    _ = try await ChildProcess.run(
      try BuiltProducts.systemProgram("gpgconf", package: "gpgconf"), ["--kill", "all"], environment: environment)
  }
}
