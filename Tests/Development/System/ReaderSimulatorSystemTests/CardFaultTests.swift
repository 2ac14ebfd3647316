import TestKit
import Testing

@testable import ReaderSimulator
@testable import ReaderSimulatorTests

@Suite(.serialized, .timeLimit(.minutes(5)), StopsAtEnd()) struct CardFaultTests {
  private func rig(_ model: CardReaderModel = .acr1252U) async throws -> (rig: CardRig, card: TagID) {
    let rig = try await CardRig([model])
    return (rig, try await rig.insertAndConnect(SimulatedCard(try type2())))
  }

  @Test(arguments: [0x6300, 0x6C10, 0x6A82] as [UInt16])
  func `a status word replaces the answers to as many commands as wanted`(word: UInt16) async throws {
    let (rig, card) = try await rig()
    await rig.readers.add(.status(word, command: 2, times: 2), to: rig.slot)
    #expect(try await rig.client.transmit("ffca000000") == "041122334455669000")
    for _ in 1...2 { #expect(try await rig.client.transmit("ffca000000") == HexText.string(BigEndian.bytes(word))) }
    #expect(try await rig.client.transmit("ffca000000") == "041122334455669000")
    #expect(await rig.readers.strikes(in: rig.slot) == 2)
    #expect(await rig.readers.commands(to: card).count == 4)
  }

  @Test func `a card may be gone in a command, before or after it executes it`() async throws {
    for executed in [false, true] {
      let (rig, card) = try await rig()
      await rig.readers.add(.removal(command: 1, executed: executed), to: rig.slot)
      #expect(try await rig.client.error(of: "transmit ffd600060401020304") == "SCARD_E_NOT_TRANSACTED")
      try await rig.client.ask("await absent \(await rig.name)")
      #expect(try await rig.client.error(of: "transmit ffca000000") == "SCARD_W_REMOVED_CARD")
      #expect(await rig.readers.cards(in: rig.slot).isEmpty)
      let memory = try #require(await rig.readers.remove(card)).memory
      #expect(Array(memory[24..<28]) == (executed ? [1, 2, 3, 4] : [0, 0, 0, 0]))
      #expect(await rig.readers.remove(card) == nil)
    }
  }

  @Test func `an unsteady hand makes pcscd report a removal and an insertion`() async throws {
    let (rig, card) = try await rig()
    await rig.readers.add(.flicker(), to: rig.slot)
    #expect(try await rig.client.error(of: "transmit ffca000000") == "SCARD_E_NOT_TRANSACTED")
    try await rig.client.ask("await-change 00010022 \(await rig.name)")
    let state = try await rig.client.ask("await present \(await rig.name)")
    #expect(state.split(separator: " ")[1] == "3")
    #expect(try await rig.client.error(of: "transmit ffca000000") == "SCARD_W_REMOVED_CARD")
    #expect(await rig.readers.cards(in: rig.slot) == [card])
  }

  @Test func `a lost exchange is an error, and the card stays`() async throws {
    let (rig, _) = try await rig()
    await rig.readers.add(.silence(times: 2), to: rig.slot)
    for _ in 1...2 { #expect(try await rig.client.error(of: "transmit ffca000000") == "SCARD_E_NOT_TRANSACTED") }
    #expect(try await rig.client.transmit("ffca000000") == "041122334455669000")
  }

  @Test func `an answer is held until the test releases it, and other readers go on`() async throws {
    let rig = try await CardRig([.acr1252U, .acr122U])
    try await rig.insertAndConnect(SimulatedCard(try type2()))
    await rig.readers.add(.hold(), to: rig.slot)
    let seen = try await rig.client.send("transmit ffca000000")
    try await rig.readers.wait { $0.isHolding(CardSlotID(number: 0)) }
    let other = try await PCSCClient(socket: rig.daemon.socket)
    let second = await rig.readers.attachedReaders[1].slot
    try await rig.readers.insert(SimulatedCard(try type2()), into: second)
    try await other.ask("await present \(await rig.readers.name(of: second))")
    await rig.readers.release(rig.slot)
    #expect(try await rig.client.answer(after: seen) == "ok 041122334455669000")
  }

  @Test func `an answer that is held ends when the reader is unplugged`() async throws {
    let (rig, _) = try await rig()
    await rig.readers.add(.hold(), to: rig.slot)
    let seen = try await rig.client.send("transmit ffca000000")
    try await rig.readers.wait { $0.isHolding(CardSlotID(number: 0)) }
    await rig.readers.unplug(CardReaderID(number: 0))
    #expect(try await rig.client.answer(after: seen).hasPrefix("failed: "))
    #expect(await rig.daemon.isRunning)
  }

  @Test func `a card that is mute at first answers at the second attempt`() async throws {
    let rig = try await CardRig([.uTrust3700])
    await rig.readers.add(.mute(), to: rig.slot)
    let card = try await rig.readers.insert(SimulatedCard(try type2()), into: rig.slot)
    try await rig.client.ask("await mute \(await rig.name)")
    try await rig.client.ask("connect shared \(await rig.name)")
    #expect(try await rig.client.transmit("ffca000000") == "041122334455669000")
    #expect(await rig.readers.powerUps(of: card) == 2)
    await rig.readers.removeAll(from: rig.slot)
    await rig.readers.add(.mute(times: nil), to: rig.slot)
    try await rig.readers.insert(SimulatedCard(try type2()), into: rig.slot)
    try await rig.client.ask("await mute \(await rig.name)")
    #expect(try await rig.client.error(of: "connect shared \(await rig.name)") == "SCARD_W_UNPOWERED_CARD")
  }

  @Test(arguments: [0, 1, 2, 258, 4096, 65_538])
  func `an answer of any length reaches the client`(count: Int) async throws {
    let (rig, _) = try await rig()
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7) }
    await rig.readers.add(.answer(bytes), to: rig.slot)
    #expect(try await rig.client.transmit("ffca000000") == HexText.string(bytes))
    #expect(try await rig.client.transmit("ffca000000") == "041122334455669000")
  }

  @Test func `a fault on the air tears a write, as under a PN532`() async throws {
    let (rig, card) = try await rig()
    await rig.readers.addRadioFault(.tear(WriteTear(bytes: 2)), to: rig.slot)
    #expect(try await rig.client.transmit("ffd600060401020304") == "6300")
    try await rig.client.ask("await absent \(await rig.name)")
    let memory = try #require(await rig.readers.remove(card)).memory
    #expect(Array(memory[24..<28]) == [1, 2, 0, 0])
  }

  @Test func `a reader that comes back is used again`() async throws {
    let (rig, _) = try await rig()
    let reader = CardReaderID(number: 0)
    await rig.readers.unplug(reader)
    try await rig.readers.wait { !$0.areAnyOpen }
    #expect(try await rig.client.error(of: "transmit ffca000000") != nil)
    await rig.readers.plug(reader)
    try await rig.readers.wait { $0.areOpen }
    try await rig.client.ask("await present \(await rig.name)")
  }
}

extension SimulatedCardReaders {
  var areAnyOpen: Bool { !connections.isEmpty }
}
