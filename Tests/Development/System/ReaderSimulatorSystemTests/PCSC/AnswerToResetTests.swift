import TestKit
import Testing

@testable import ReaderSimulatorTests

@testable import ReaderSimulator

/// The list of cards that comes with pcsc_scan knows each answer to reset.
@Suite(.serialized, .timeLimit(.minutes(5))) struct AnswerToResetTests {
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
    let bytes = try #require(Hexadecimal.bytes(state.split(separator: " ")[2]))
    let text = bytes.map { Hexadecimal.string([$0]) }.joined(separator: " ").uppercased()
    let result = try await ChildProcess.run(
      try BuiltProducts.systemProgram("ATR_analysis", package: "pcsc-tools"), [text], environment: rig.environment)
    #expect(result.output.contains(row.text), "\(result.output)")
    #expect(!result.output.contains("wrong checksum"), "\(result.output)")
    await rig.stop()
  }

  @Test func `a card of Type B has its application data and protocol info in the answer to reset`() async throws {
    let rig = try await CardRig([.acr1252U])
    try await rig.readers.insert(SimulatedCard(try .type4B(message: [])), into: rig.slot)
    let state = try await rig.client.ask("await present \(await rig.name)")
    #expect(state.hasSuffix(" 3b8880010000000000518000d8"))
    await rig.stop()
  }

  @Test func `pcsc_scan shows the reader and its card`() async throws {
    let rig = try await CardRig([.acr122U])
    try await rig.readers.insert(SimulatedCard(try type2()), into: rig.slot)
    try await rig.client.ask("await present \(await rig.name)")
    let result = try await ChildProcess.run(
      try BuiltProducts.systemProgram("pcsc_scan", package: "pcsc-tools"), ["-c"], environment: rig.environment)
    #expect(result.output.contains("Reader 0: ACS ACR122U PICC Interface 00 00"), "\(result.log)")
    #expect(result.output.contains("ATR: 3B 8F 80 01 80 4F 0C A0 00 00 03 06 03 00 03 00 00 00 00 68"), "\(result.log)")
    await rig.stop()
  }

  @Test(arguments: [[UInt8](), [0x3B], [UInt8](repeating: 0x3B, count: 33), [0x3F, 0xFF, 0xFF, 0xFF]])
  func `a strange answer to reset reaches pcscd without harm`(bytes: [UInt8]) async throws {
    let rig = try await CardRig([.acr1252U])
    try await rig.readers.insert(
      try SimulatedCard(try type2()).answeringReset(with: bytes), into: rig.slot)
    let state = try await rig.client.ask("await-change 00000012 \(await rig.name)")
    #expect(state.hasSuffix(bytes.isEmpty ? " -" : " \(Hexadecimal.string(bytes))"), "\(state)")
    #expect(await rig.daemon.isRunning)
    #expect(throws: SimulatorError.self) {
      try SimulatedCard.contact().answeringReset(with: [UInt8](repeating: 0, count: 34))
    }
    await rig.stop()
  }
}
