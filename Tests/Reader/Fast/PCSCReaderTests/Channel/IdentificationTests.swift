import Names
import ReaderModels
import Rig
import Tags
import Testing

@testable import PCSCReader

@Suite struct IdentificationTests {
  private static let idm = "01 02 03 04 05 06 07 08"
  private static let pmm = "FF F0 00 00 02 06 03 00"

  @Test(arguments: [CardKind.contact, .unknown])
  func `a card with contacts gets no command`(_ kind: CardKind) throws {
    var link = cardLink(.generic)
    guard case .notSupported(let reason) = try link.identify(kind) else { throw RigError("it is a tag") }
    #expect(!reason.isEmpty)
  }

  @Test func `a tag of Type 2 has a UID, and nothing else is known`() throws {
    var link = cardLink(.generic, .send("FF CA 00 00 00", "04 01 02 03 04 05 06 90 00"))
    #expect(try link.identify(storage(.typeA, 0x0003)) == .tag(.type2))
    #expect(link.identifier == [4, 1, 2, 3, 4, 5, 6])
  }

  @Test func `a MIFARE Classic has the select acknowledge of its name`() throws {
    var link = cardLink(.generic, .send("FF CA 00 00 00", "01 02 03 04 90 00"))
    #expect(try link.identify(storage(.typeA, 0x0001)) == .tag(.classic))
  }

  @Test func `a card without a name is of Type 2 if page 3 has a capability container`() throws {
    var link = cardLink(
      .generic, .send("FF CA 00 00 00", "04 01 02 03 04 05 06 90 00"),
      .send("FF B0 00 03 10", "E1 10 12 00 01 03 A0 0C 34 03 00 FE 00 00 00 00 90 00"))
    #expect(try link.identify(storage(.typeA, 0x0000)) == .tag(.type2))
    for answer in ["00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 90 00", "63 00", "6D 00", "69 82"] {
      var other = cardLink(
        .generic, .send("FF CA 00 00 00", "01 02 03 04 90 00"), .send("FF B0 00 03 10", answer))
      guard case .notSupported = try other.identify(storage(.notReported, 0x1234)) else {
        throw RigError("it is a tag")
      }
    }
  }

  @Test func `a card that is removed is not taken for another kind`() {
    var link = cardLink(
      .generic, .send("FF CA 00 00 00", "01 02 03 04 90 00"), .fail("FF B0 00 03 10", .removed))
    #expect(throws: TagChannelError(.noAnswer, "the tag was removed")) {
      try link.identify(storage(.typeA, 0x0000))
    }
  }

  @Test(arguments: ["E0 04 01 00 00 00 00 01", "01 00 00 00 00 01 04 E0"])
  func `the identifier of a Type 5 tag begins with E0, however the reader reports it`(_ bytes: String) throws {
    var link = cardLink(.omnikey, .send("FF CA 00 00 00", hex(bytes) + [0x90, 0x00]))
    #expect(try link.identify(storage(.iso15693, 0x0035)) == .tag(.type5))
  }

  @Test(arguments: ["04 01 00 00 00 00 01", "01 02 03 04 05 06 07 08", "", "E0 04 01 00 00 00 00 01 02 03 04"])
  func `an identifier that no Type 5 tag has is a failed transmission`(_ bytes: String) {
    var link = cardLink(.omnikey, .send("FF CA 00 00 00", hex(bytes) + [0x90, 0x00]))
    #expect(throws: TagChannelError.self) { try link.identify(storage(.iso15693, 0x0035)) }
  }

  // MARK: ISO-DEP

  @Test func `a card of ISO-DEP has historical bytes`() throws {
    var link = cardLink(.generic, .send("FF CA 00 00 00", "04 01 02 03 04 05 06 90 00"))
    #expect(
      try link.identify(.isoDEPTypeA(historicalBytes: [0x80]))
        == .tag(.typeA(TypeAActivation(type: .type4A, uid: [4, 1, 2, 3, 4, 5, 6], historicalBytes: [0x80]))))
  }

  @Test(arguments: ["6A 81", "63 00", "6D 00"])
  func `a card of Type B has no answer to select`(_ status: String) throws {
    var link = cardLink(.generic, .send("FF CA 00 00 00", "0A 0B 0C 0D 90 00"), .send("FF CA 01 00 00", status))
    let tag = TypeBActivation(
      pupi: [0x0A, 0x0B, 0x0C, 0x0D], applicationData: [1, 2, 3, 4], protocolInfo: [0, 0x81, 0x81],
      attribResponse: [0x10])
    #expect(try link.identify(Self.typeB) == .tag(.typeB(tag)))
  }

  @Test func `a card of Type A may look like one of Type B`() throws {
    let bytes: [UInt8] = [1, 2, 3, 4, 0, 0x81, 0x81, 0x10]
    var long = cardLink(.generic, .send("FF CA 00 00 00", "04 01 02 03 04 05 06 90 00"))
    #expect(
      try long.identify(Self.typeB)
        == .tag(.typeA(TypeAActivation(type: .type4A, uid: [4, 1, 2, 3, 4, 5, 6], historicalBytes: bytes))))
    var short = cardLink(
      .generic, .send("FF CA 00 00 00", "08 01 02 03 90 00"),
      .send("FF CA 01 00 00", "0D 78 77 71 02 01 02 03 04 00 81 81 10 90 00"))
    #expect(
      try short.identify(Self.typeB)
        == .tag(.typeA(TypeAActivation(type: .type4A, uid: [8, 1, 2, 3], historicalBytes: bytes))))
  }

  private static let typeB = CardKind.isoDEPTypeB(
    applicationData: [1, 2, 3, 4], protocolInfo: [0, 0x81, 0x81], attribResponse: 0x10)

  // MARK: FeliCa

  private func felica(_ systemCode: [UInt8]?, pmm: String = pmm, bitRate: Int = 212) -> CardIdentification {
    .tag(.felica(FeliCaActivation(idm: hex(Self.idm), pmm: hex(pmm), systemCode: systemCode, bitRate: bitRate)))
  }

  @Test func `a FeliCa card is polled for the NDEF system first`() throws {
    var link = cardLink(
      .acr1252, .send("FF CA 00 00 00", "0A 02 03 04 05 06 07 08 90 00"),
      .send("FF 00 00 00 06 06 00 12 FC 01 00", "14 01 \(Self.idm) \(Self.pmm) 12 FC 90 00"))
    #expect(try link.identify(storage(.feliCa, 0x003B)) == felica([0x12, 0xFC]))
    #expect(link.connection.remaining == 0)
  }

  @Test func `a FeliCa card without NDEF answers for every system`() throws {
    var link = cardLink(
      .acr1252, .send("FF CA 00 00 00", hex(Self.idm) + [0x90, 0x00]),
      .send("FF 00 00 00 06 06 00 12 FC 01 00", "63 00"),
      .send("FF 00 00 00 06 06 00 FF FF 01 00", "14 01 \(Self.idm) \(Self.pmm) 00 03 90 00"))
    #expect(try link.identify(storage(.feliCa, 0x003B)) == felica([0x00, 0x03]))
  }

  @Test func `a FeliCa card that answers no poll has what the reader reports`() throws {
    var link = cardLink(
      .acr1252, .send("FF CA 00 00 00", hex(Self.idm) + [0x90, 0x00]),
      .send("FF 00 00 00 06 06 00 88 B4 01 00", "63 00"))
    #expect(try link.identify(storage(.feliCa, 0x003B), systems: [0x88B4]) == felica(nil, pmm: ""))
  }

  @Test func `an ACR122U polls through its chip`() throws {
    var link = cardLink(
      .acr122, .send("FF CA 00 00 00", hex(Self.idm) + [0x90, 0x00]),
      .send("FF 00 00 00 09 D4 40 01 06 00 12 FC 01 00", "D5 41 00 14 01 \(Self.idm) \(Self.pmm) 12 FC 90 00"))
    #expect(try link.identify(storage(.typeA, 0xF012)) == felica([0x12, 0xFC], bitRate: 424))
  }

  @Test func `a reader that cannot poll reads a block to learn whether there is NDEF`() throws {
    let block = "10 04 01 00 0D 00 00 00 00 00 01 00 00 00 00 23"
    var link = cardLink(
      .uTrust3700, .send("FF CA 00 00 00", hex(Self.idm) + [0x90, 0x00]),
      .send("FF 46 01 01 04 0B 00 80 00", "07 \(Self.idm) 00 00 01 \(block) 90 00"))
    #expect(try link.identify(storage(.feliCa, 0x003B)) == felica([0x12, 0xFC], pmm: ""))
  }

  // MARK: Type 1

  @Test func `a tag of Type 1 is identified by RID`() throws {
    var link = cardLink(.acr122, .send("FF 00 00 00 04 D4 40 01 78", "D5 41 00 11 48 01 02 03 04 90 00"))
    #expect(try link.identify(storage(.typeA, 0xF004)) == .tag(.type1))
    var other = cardLink(.uTrust3700, .send("FF 50 00 00 00", "11 48 01 02 03 04 90 00"))
    #expect(try other.identify(storage(.typeA, 0x0030)) == .tag(.type1))
  }

  @Test func `a tag of Type 1 is not supported without a command for it`() throws {
    var link = cardLink(.omnikey)
    guard case .notSupported = try link.identify(storage(.typeA, 0x0030)) else { throw RigError("it is a tag") }
  }

  private func storage(_ standard: StorageCard.Standard, _ name: UInt16) -> CardKind {
    .storage(StorageCard(standard: standard, name: name))
  }
}
