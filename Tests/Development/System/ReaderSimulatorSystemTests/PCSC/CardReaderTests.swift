import TestKit
import Testing

@testable import ReaderSimulatorTests

@testable import ReaderSimulator

/// The real pcscd drives the virtual readers; pyscard and pcsc-tools are the referees.
@Suite(.serialized, .timeLimit(.minutes(5))) struct CardReaderTests {
  @Test func `pcscd lists each model by the name that its real driver gives it`() async throws {
    let rig = try await CardRig(CardReaderModel.all)
    let names = try await rig.client.ask("list").split(separator: "\t").map(String.init)
    #expect(
      names == [
        "ACS ACR122U PICC Interface 00 00", "ACS ACR1252 Dual Reader [ACR1252 Dual Reader PICC] 01 00",
        "ACS ACR1252 Dual Reader [ACR1252 Dual Reader SAM] 02 00",
        "ACS ACR1552 CL Reader [ACR1552 CL Reader PICC] 03 00", "ACS ACR1552 CL Reader [ACR1552 CL Reader SAM] 04 00",
        "HID Global OMNIKEY 5022 Smart Card Reader [OMNIKEY 5022 Smart Card Reader] 05 00", "HID OMNIKEY 5427 CK 06 00",
        "Identiv uTrust 3700 F CL Reader [uTrust 3700 F CL Reader] 07 00", "Feitian R502 08 00",
        "SONY FeliCa RC-S300/S 09 00", "Gemalto PC Twin Reader 0A 00", "Yubico YubiKey OTP+FIDO+CCID 0B 00",
      ])
    let slots = await rig.readers.attachedReaders.flatMap(\.slots)
    for (slot, name) in zip(slots, names) { #expect(await rig.readers.name(of: slot) == name) }
    await rig.stop()
  }

  @Test func `sixteen readers fit into one pcscd`() async throws {
    let rig = try await CardRig([CardReaderModel](repeating: .acr122U, count: 16))
    #expect(try await rig.client.ask("list").split(separator: "\t").count == 16)
    await rig.stop()
  }

  @Test func `attributes and properties tell the model and its place on the bus`() async throws {
    let rig = try await CardRig([])
    await rig.daemon.kill()
    let reader = await rig.readers.addReader(.acr1252U, serial: "RR171", device: 0x2A)
    let daemon = try await rig.readers.startPCSCD(in: rig.directory.path)
    let client = try await PCSCClient(socket: daemon.socket)
    let name = await rig.readers.name(of: reader.slot)
    #expect(name == "ACS ACR1252 Dual Reader [ACR1252 Dual Reader PICC] (RR171) 00 00")
    try await client.ask("connect direct \(name)")
    #expect(try await client.ask("attribute 10100") == Hexadecimal.string("ACS".utf8))
    #expect(try await client.ask("attribute 10103") == Hexadecimal.string("RR171".utf8))
    #expect(try await client.ask("attribute 20110") == "2a012000")
    #expect(try await client.error(of: "attribute 10101") == "SCARD_E_UNSUPPORTED_FEATURE")
    #expect(try await client.ask("control 42000d48") == "120442330012")
    #expect(try await client.ask("control 42330012") == "0a04000001000b022f070c023b22")
    // LED and buzzer, which libccid refuses unless its administrator allows it.
    #expect(try await client.error(of: "control 42000001 e00000290103") == "SCARD_E_NOT_TRANSACTED")
    await rig.readers.allowEscapes(for: reader.id)
    #expect(try await client.ask("control 42000001 e00000290103") == "e10000000103")
    let controls = await rig.readers.exchanges(in: reader.slot).filter { $0.kind == .control(0x4200_0001) }
    #expect(controls.map(\.answer) == [nil, [0xE1, 0x00, 0x00, 0x00, 0x01, 0x03]])
    await daemon.kill()
    await rig.stop()
  }

  @Test func `insertions and removals are counted, and a fast one is not lost`() async throws {
    let rig = try await CardRig([.acr1252U])
    let name = await rig.name
    var state = try await rig.client.ask("state \(name)")
    for count in 1...3 {
      let id = try await rig.readers.insert(SimulatedCard(try type2()), into: rig.slot)
      state = try await rig.client.ask("await present \(name)")
      #expect(state.split(separator: " ")[1] == "\(2 * count - 1)")
      #expect(await rig.readers.remove(id) != nil)
      state = try await rig.client.ask("await absent \(name)")
      #expect(state.split(separator: " ")[1] == "\(2 * count)")
    }
    let id = try await rig.readers.insert(SimulatedCard(try type2()), into: rig.slot)
    state = try await rig.client.ask("await present \(name)")
    await rig.readers.remove(id)
    try await rig.readers.insert(SimulatedCard(try type2()), into: rig.slot)
    // The counter grows by two: the card was away between two looks of pcscd.
    let changed = try await rig.client.ask("await-change \(state.prefix(8)) \(name)")
    state = try await rig.client.ask("await present \(name)")
    #expect(changed.split(separator: " ")[1] == "8" || changed.split(separator: " ")[1] == "9")
    #expect(state.split(separator: " ")[1] == "9")
    await rig.stop()
  }

  @Test func `of two cards a reader sees one, then the other`() async throws {
    let rig = try await CardRig([.acr1252U])
    let first = try await rig.insertAndConnect(SimulatedCard(try type2()))
    let second = try await rig.readers.insert(SimulatedCard(try .type4(message: [])), into: rig.slot)
    #expect(await rig.readers.cards(in: rig.slot) == [first, second])
    #expect(try await rig.client.transmit("ffca000000") == "041122334455669000")
    let state = try await rig.client.ask("state \(await rig.name)")
    await rig.readers.remove(first)
    try await rig.client.ask("await-change \(state.prefix(8)) \(await rig.name)")
    #expect(try await rig.client.ask("await present \(await rig.name)").hasSuffix("3b8180018080"))
    #expect(await rig.readers.commands(to: first).count == 1)
    #expect(await rig.readers.commands(to: second).isEmpty)
    await rig.stop()
  }

  @Test func `pages of an NTAG215 come over pcscd as they are in its memory`() async throws {
    let rig = try await CardRig([.omnikey5022])
    let id = try await rig.insertAndConnect(SimulatedCard(try type2(.ntag215, (0..<200).map { UInt8($0) })))
    let memory = try #require(await rig.readers.memory(of: id))
    for page in stride(from: 0, to: 128, by: 4) {
      let answer = try await rig.client.transmit("ffb000\(Hexadecimal.string([UInt8(page)]))10")
      #expect(answer == Hexadecimal.string(memory[(page * 4)..<(page * 4 + 16)]) + "9000")
    }
    #expect(await rig.readers.commands(to: id).count == 32)
    #expect(await rig.readers.powerUps(of: id) == 1)
    await rig.stop()
  }

  @Test func `a random UID changes when the card's power is cut`() async throws {
    let rig = try await CardRig([.acr1252U])
    let id = try await rig.insertAndConnect(SimulatedCard(try .type4(message: [], uid: .random)))
    let first = try await rig.client.transmit("ffca000000")
    #expect(try await rig.client.transmit("ffca000000") == first)
    try await rig.client.ask("reconnect unpower")
    #expect(try await rig.client.transmit("ffca000000") != first)
    #expect(await rig.readers.powerUps(of: id) == 2)
    await rig.stop()
  }
}
