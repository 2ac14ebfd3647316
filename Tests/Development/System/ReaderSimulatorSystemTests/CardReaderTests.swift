import EventLoop
import TestKit
import Testing

@testable import ReaderSimulator
@testable import ReaderSimulatorTests

/// The real pcscd drives the virtual readers; pyscard and pcsc-tools are the referees.
@Suite(.serialized, .timeLimit(.minutes(5)), StopsAtEnd()) struct CardReaderTests {
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
  }

  @Test func `sixteen readers fit into one pcscd`() async throws {
    let rig = try await CardRig([CardReaderModel](repeating: .acr122U, count: 16))
    #expect(try await rig.client.ask("list").split(separator: "\t").count == 16)
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
    #expect(try await client.ask("attribute 10100") == HexText.string("ACS".utf8))
    #expect(try await client.ask("attribute 10103") == HexText.string("RR171".utf8))
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
  }

  @Test func `pages of an NTAG215 come over pcscd as they are in its memory`() async throws {
    let rig = try await CardRig([.omnikey5022])
    let id = try await rig.insertAndConnect(SimulatedCard(try type2(.ntag215, (0..<200).map { UInt8($0) })))
    let memory = try #require(await rig.readers.memory(of: id))
    for page in stride(from: 0, to: 128, by: 4) {
      let answer = try await rig.client.transmit("ffb000\(HexText.string([UInt8(page)]))10")
      #expect(answer == HexText.string(memory[(page * 4)..<(page * 4 + 16)]) + "9000")
    }
    #expect(await rig.readers.commands(to: id).count == 32)
    #expect(await rig.readers.powerUps(of: id) == 1)
  }

  @Test func `a random UID changes when the card's power is cut`() async throws {
    let rig = try await CardRig([.acr1252U])
    let id = try await rig.insertAndConnect(SimulatedCard(try .type4(message: [], uid: .random)))
    let first = try await rig.client.transmit("ffca000000")
    #expect(try await rig.client.transmit("ffca000000") == first)
    try await rig.client.ask("reconnect unpower")
    #expect(try await rig.client.transmit("ffca000000") != first)
    #expect(await rig.readers.powerUps(of: id) == 2)
  }
}

/// Other programs and their cards.
@Suite(.serialized, .timeLimit(.minutes(5)), StopsAtEnd()) struct ContactCardTests {
  @Test func `a card that nobody uses gets no command and one power-up`() async throws {
    let rig = try await CardRig([.pcTwin])
    let card = try await rig.readers.insert(.contact(), into: rig.slot)
    try await rig.client.ask("await present \(await rig.name)")
    #expect(await rig.readers.commands(to: card).isEmpty)
    #expect(await rig.readers.powerUps(of: card) == 1)
    try await rig.client.ask("connect shared \(await rig.name)")
    #expect(try await rig.client.transmit("00a4040007d276000085010100") == "6d00")
    #expect(await rig.readers.commands(to: card) == [HexText.bytes("00a4040007d276000085010100")])
  }

  @Test func `with real timing, an ACR122U sees a card when it looks, unless the card is gone`() async throws {
    let directory = try TemporaryDirectory()
    let readers = try await SimulatedCardReaders.start(socket: directory.file("readers"), timing: .realistic)
    let slot = await readers.addReader(.acr122U).slot
    for isRemoved in [true, false] {
      let card = try await readers.insert(SimulatedCard(try type2()), into: slot)
      if isRemoved { #expect(await readers.remove(card) != nil) }
    }
    try await readers.wait { $0.slots[slot.number].current != nil }
    #expect(await readers.cards(in: slot).count == 1)
    await readers.stop()
    _ = directory
  }

  @Test func `a slot takes only cards of its kind`() async throws {
    let directory = try TemporaryDirectory()
    let readers = try await SimulatedCardReaders.start(socket: directory.file("readers"))
    let reader = await readers.addReader(.acr1252U)
    await #expect(throws: SimulatorError.self) { try await readers.insert(.contact(), into: reader.slots[0]) }
    await #expect(throws: SimulatorError.self) {
      try await readers.insert(SimulatedCard(try type2()), into: reader.slots[1])
    }
    await readers.stop()
    _ = directory
  }
}

/// The list of cards that comes with pcsc_scan knows each answer to reset.
@Suite(.serialized, .timeLimit(.minutes(5)), StopsAtEnd()) struct AnswerToResetTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let model: CardReaderModel
    let text: String
    let card: @Sendable () throws -> SimulatedCard

    init(_ model: CardReaderModel, _ text: String, _ card: @escaping @Sendable () throws -> SimulatedCard) {
      (self.model, self.text, self.card) = (model, text, card)
    }

    var testDescription: String { "\(model.name): \(text)" }
  }

  static let rows: [Row] = [
    Row(.acr1252U, "MIFARE Ultralight (as per PCSC std part3)") { SimulatedCard(try type2()) },
    Row(.acr1252U, "MIFARE Classic 1K (as per PCSC std part3)") {
      SimulatedCard(try .mifareClassicBlank(.classic1K, uid: .fixed([4, 1, 2, 3])))
    },
    Row(.acr1252U, "MIFARE Classic 4K (as per PCSC std part3)") {
      SimulatedCard(try .mifareClassicBlank(.classic4K, uid: .fixed([4, 1, 2, 3])))
    },
    Row(.acr1252U, "Mifare Mini (as per PCSC std part3)") {
      SimulatedCard(try .mifareClassicBlank(.mini, uid: .fixed([4, 1, 2, 3])))
    },
    Row(.uTrust3700, "Topaz NFC Tag (as per PCSC std part3)") { SimulatedCard(try .type1(.topaz96, message: [])) },
    Row(.acr122U, "NFC FORUM TYPE 1 TAG") { SimulatedCard(try .type1(.topaz96, message: [])) },
    Row(.acr1252U, "FeliCa (as per PCSC std part3)") { SimulatedCard(try .type3(message: [])) },
    Row(.acr122U, "RFID - ISO 14443 Type A Part 3 (as per PCSC std part3)") { SimulatedCard(try .type3(message: [])) },
    Row(.acr1552U, "ICODESLI (as per PCSC std part3)") { SimulatedCard(try .type5(.slix, message: [])) },
    Row(.acr1552U, "TAG_IT (as per PCSC std part3)") { SimulatedCard(try .type5(.tagItPlus, message: [])) },
    Row(.omnikey5427, "RFID - ISO 15693 Part 3 (as per PCSC std part3)") {
      SimulatedCard(try .type5(.st25DV04K, message: []))
    },
    Row(.acr1252U, "NXP DESFire") { SimulatedCard(try .desfire(message: [])) },
    Row(.pcTwin, "Schlumberger Multiflex 3k") { .contact() },
    Row(.pcTwin, "OpenPGP Card V3") { .openPGP() },
    Row(.yubiKey, "YubiKey") { .piv() },
  ]

  @Test(arguments: rows)
  func `pcsc-tools know the card by the answer that pcscd gives`(row: Row) async throws {
    let rig = try await CardRig([row.model])
    try await rig.readers.insert(try row.card(), into: rig.slot)
    let state = try await rig.client.ask("await present \(await rig.name)")
    let bytes = try #require(HexText.bytes(state.split(separator: " ")[2]))
    let text = bytes.map { HexText.string([$0]) }.joined(separator: " ").uppercased()
    let result = try await ChildProcess.run(
      try BuiltProducts.systemProgram("ATR_analysis", package: "pcsc-tools"), [text], environment: rig.environment)
    #expect(result.output.contains(row.text), "\(result.output)")
    #expect(!result.output.contains("wrong checksum"), "\(result.output)")
  }

  @Test func `a card of Type B has its application data and protocol info in the answer to reset`() async throws {
    let rig = try await CardRig([.acr1252U])
    try await rig.readers.insert(SimulatedCard(try .type4B(message: [])), into: rig.slot)
    let state = try await rig.client.ask("await present \(await rig.name)")
    #expect(state.hasSuffix(" 3b8880010000000000518000d8"))
  }

  @Test func `pcsc_scan shows the reader and its card`() async throws {
    let rig = try await CardRig([.acr122U])
    try await rig.readers.insert(SimulatedCard(try type2()), into: rig.slot)
    try await rig.client.ask("await present \(await rig.name)")
    let result = try await ChildProcess.run(
      try BuiltProducts.systemProgram("pcsc_scan", package: "pcsc-tools"), ["-c"], environment: rig.environment)
    #expect(result.output.contains("Reader 0: ACS ACR122U PICC Interface 00 00"), "\(result.log)")
    #expect(result.output.contains("ATR: 3B 8F 80 01 80 4F 0C A0 00 00 03 06 03 00 03 00 00 00 00 68"), "\(result.log)")
  }

  @Test(arguments: [[UInt8](), [0x3B], [UInt8](repeating: 0x3B, count: 33), [0x3F, 0xFF, 0xFF, 0xFF]])
  func `a strange answer to reset reaches pcscd without harm`(bytes: [UInt8]) async throws {
    let rig = try await CardRig([.acr1252U])
    try await rig.readers.insert(
      try SimulatedCard(try type2()).answeringReset(with: bytes), into: rig.slot)
    let state = try await rig.client.ask("await-change 00000012 \(await rig.name)")
    #expect(state.hasSuffix(bytes.isEmpty ? " -" : " \(HexText.string(bytes))"), "\(state)")
    #expect(await rig.daemon.isRunning)
    #expect(throws: SimulatorError.self) {
      try SimulatedCard.contact().answeringReset(with: [UInt8](repeating: 0, count: 34))
    }
  }
}

/// Virtual readers, a pcscd that drives them, and a client of it.
struct CardRig {
  let directory: TemporaryDirectory
  let readers: SimulatedCardReaders
  let daemon: PrivatePCSCD
  let client: PCSCClient

  init(_ models: [CardReaderModel], starter: String = #function) async throws {
    directory = try TemporaryDirectory()
    readers = try await SimulatedCardReaders.start(socket: directory.file("readers"))
    for model in models { await readers.addReader(model) }
    daemon = try await readers.startPCSCD(in: directory.path)
    client = try await PCSCClient(socket: daemon.socket, starter: starter)
    let rig = self
    atEndOfTest {
      await rig.daemon.kill()
      await rig.readers.stop()
    }
  }

  /// The first slot of the first reader.
  var slot: CardSlotID { CardSlotID(number: 0) }

  var name: String { get async { await readers.name(of: slot) } }

  var environment: [String: String] {
    [
      "PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "LANG": "C.UTF-8", "HOME": directory.path,
      "PCSCLITE_CSOCK_NAME": daemon.socket,
    ]
  }

  /// Inserts a card into the first slot, waits until pcscd reports it, and connects the client.
  @discardableResult
  func insertAndConnect(_ card: SimulatedCard) async throws -> TagID {
    let id = try await readers.insert(card, into: slot)
    try await client.ask("await present \(await name)")
    try await client.ask("connect shared \(await name)")
    return id
  }
}
