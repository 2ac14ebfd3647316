import Bus
import Names
import ReaderProtocol
import Rig
import Testing

@testable import Daemon

/// Which requests of ISO/IEC 15693-3 are sent to a Type 5 tag, and that no tag gets a command for the reader.
@Suite struct TransceivePolicyType5Tests {
  private typealias Policy = TransceivePolicyTests
  typealias Verdict = TransceivePolicyTests.Verdict

  /// The UID in the order of transmission.
  private static let uid = "0605040302 0104E0"
  private static let nxp = TransceivePolicy.Kind.type5(uid: Policy.bytes("E004010203040506"))
  private static let st = TransceivePolicy.Kind.type5(uid: Policy.bytes("E002010203040506"))
  private static let fujitsu = TransceivePolicy.Kind.type5(uid: Policy.bytes("E008010203040506"))

  private static let ofStandard: [(String, Verdict)] = [
    // Reading, not addressed: Read single block, Read multiple blocks, Get system information and block security
    // status, Fast read, and their extended forms.
    ("02 20 00", .sent), ("42 20 00", .sent), ("00 20 00", .sent), ("03 20 00", .sent), ("02 23 00 03", .sent),
    ("02 2B", .sent), ("02 2C 00 1B", .sent), ("02 2D 00 03", .sent), ("02 30 00 01", .sent),
    ("02 33 00 01 03 00", .sent), ("02 3B 04", .sent), ("02 3C 00 00 1B 00", .sent), ("02 3D 00 01 03 00", .sent),
    ("02 3A", .sent),
    // Addressed, and to the tag that Select has selected.
    ("22 20 \(uid) 00", .sent), ("62 23 \(uid) 00 03", .sent), ("22 2B \(uid)", .sent), ("22 3B 04 \(uid)", .sent),
    ("12 20 00", .sent), ("12 2B", .sent),
    // With the protocol extension flag, as ST's M24LR has it.
    ("0A 20 00 01", .sent), ("2A 2B \(uid)", .sent), ("0A 23 00 01 03", .sent), ("0A 20 00", .writing),
    ("0A 30 00 01", .writing),
    // In another form.
    ("02 20", .writing), ("02 20 00 00", .writing), ("02 23 00", .writing), ("02 2B 00", .writing),
    ("22 20 \(uid)", .writing), ("22 20 \(uid) 00 00", .writing), ("82 20 00", .writing), ("02 33 00 01 03", .writing),
    // Writing, locking, and commands with an unknown effect.
    ("02 21 04 01020304", .writing), ("22 21 \(uid) 04 01020304", .writing), ("42 21 04 01020304", .writing),
    ("12 21 04 01020304", .writing), ("02 22 04", .writing), ("02 24 04 00 01020304", .writing),
    ("02 27 50", .writing), ("02 28", .writing), ("02 29 00", .writing), ("02 2A", .writing),
    ("02 31 00 01 01020304", .writing), ("02 32 00 01", .writing), ("02 34 00 01 00 00 01020304", .writing),
    ("02 35 00", .writing), ("02 36 00", .writing), ("02 39 00", .writing), ("02 03", .writing), ("02 2F", .writing),
    ("02 E0 09 01020304", .writing), ("02 FF", .writing),
    // Another tag's UID, the first byte first, and a part of one.
    ("22 20 0605040302 0104E1 00", .invalid), ("22 21 0605040302 0107E0 04 01020304", .invalid),
    ("22 20 E004010203040506 00", .invalid), ("22 20 0605", .invalid), ("22 2B", .invalid),
    ("22 3B \(uid)", .invalid), ("32 20 \(uid) 00", .invalid),
    // Inventory and Stay quiet. With the inventory flag, also commands of manufacturers.
    ("26 01 00", .invalid), ("06 01 00", .invalid), ("02 01 00", .invalid), ("22 02 \(uid)", .invalid),
    ("02 02", .invalid), ("26 A0 04 00 00 03", .invalid), ("04 20 00", .invalid), ("16 B0 04 00 00", .invalid),
    // Select and Reset to ready.
    ("22 25 \(uid)", .sent), ("22 25 0605040302 0104E1", .invalid), ("02 25", .invalid), ("12 25", .invalid),
    ("22 25 \(uid) 00", .invalid), ("22 26 \(uid)", .sent), ("12 26", .sent), ("02 26", .invalid),
    ("12 26 00", .invalid),
    // No request.
    ("", .invalid), ("02", .invalid), ("02 A0", .invalid), ("02 3B", .invalid),
  ]

  private static let ofNXP: [(String, Verdict)] = [
    ("02 AB 04", .sent), ("22 AB 04 \(uid)", .sent), ("02 B2 04", .sent), ("02 B8 04 00 03", .sent),
    ("02 BD 04", .sent), ("02 C0 04 37 00", .sent), ("02 BD 04 00", .writing), ("0A BD 04", .writing),
    // The UID follows the manufacturer.
    ("22 AB \(uid) 04", .invalid),
    // Another manufacturer's commands.
    ("02 B2 02", .writing), ("02 C3 02 00 03", .writing), ("02 C3 04 00 03", .writing), ("02 AB 07", .writing),
    // EAS, passwords, page protection, destruction, privacy.
    ("02 A2 04", .writing), ("02 A5 04", .writing), ("02 B3 04 04 00000000", .writing), ("02 B6 04 00 11", .writing),
    ("02 B9 04 00000000", .writing), ("02 BA 04 00000000", .writing), ("02 BC 04", .writing),
    ("02 C1 04 37 00", .writing),
  ]

  private static let ofST: [(String, Verdict)] = [
    ("02 C0 02 00", .sent), ("02 C3 02 00 03", .sent), ("02 C4 02 00 01", .sent), ("02 C5 02 00 01 03 00", .sent),
    ("0A C0 02 00 01", .sent), ("0A C3 02 00 01 03", .sent), ("22 C0 02 0605040302 0102E0 00", .sent),
    ("02 C0 02 00 01", .writing), ("0A C0 02 00", .writing), ("0A C4 02 00 01", .writing),
    // B2 locks a sector of an ST chip.
    ("02 B2 02 00", .writing), ("02 B2 04", .writing), ("02 A1 02 00 01", .writing), ("02 B3 02 00", .writing),
    ("02 AC 02 00 00", .writing),
  ]

  private static let ofFujitsu: [(String, Verdict)] = [("02 C0 08 00", .writing), ("02 20 00", .sent)]

  private static let tables: [(kind: TransceivePolicy.Kind, rows: [(String, Verdict)])] = [
    (nxp, ofStandard), (nxp, ofNXP), (st, ofST), (fujitsu, ofFujitsu),
  ]

  @Test(arguments: tables.flatMap { table in table.rows.map { (table.kind, $0.0, $0.1) } })
  func `requests are sent or refused as listed`(kind: TransceivePolicy.Kind, request: String, expected: Verdict) {
    Policy.expect(request, expected, kind)
  }

  @Test(arguments: [[], [0x06, 0x05], Array(repeating: 0, count: 10)] as [[UInt8]])
  func `a tag with a malformed UID gets no addressed request`(uid: [UInt8]) {
    let kind = TransceivePolicy.Kind.type5(uid: uid)
    Policy.expect("22 20 \(Self.uid) 00", .invalid, kind)
    Policy.expect("02 20 00", .sent, kind)
    Policy.expect("02 B2 04", .writing, kind)
  }

  // MARK: Every kind of tag

  @Test(
    arguments: [
      TransceivePolicy.Kind.isoDEP, .desfire, .mifarePlus, .type2,
      .felica(idm: [1, 2, 3, 4, 5, 6, 7, 8], systemCode: 3),
      nxp,
    ])
  func `a command for the reader is never sent`(kind: TransceivePolicy.Kind) throws {
    for command in [
      "FF", "FFCA 0000 00", "FFB0 0004 10", "FFD6 0004 04 01020304", "FF82 0000 06 FFFFFFFFFFFF",
      "FF86 0000 05 0100046000", "FF00 0000 04 D4420102", "FF00 400F 04 01010101", "FFC2 0000 02 8100",
      "FFA4 0400 05 A000000396", "FFA4 0000 01 06",
    ] { Policy.expect(command, .invalid, kind) }
    var policy = TransceivePolicy(kind: kind, mayWrite: true)
    let error = #expect(throws: BusError.self) { try policy.check(Policy.bytes("FFD6 0004 04 01020304")) }
    #expect(error?.message.contains("class FF") == true)
  }

  // MARK: Tags of a reader that reports neither SAK nor ATQA

  @Test func `the kind of a tag follows from its technology and its historical bytes`() throws {
    func kind(_ technology: TagType, historicalBytes: [UInt8] = []) -> TransceivePolicy.Kind {
      let placement = Placement(number: 1, technology: technology, uid: Policy.bytes("E004010203040506"))
      return SessionTag(placement: placement, historicalBytes: historicalBytes).kind
    }
    #expect(kind(.type2) == .type2)
    #expect(kind(.type4A) == .isoDEP)
    #expect(kind(.type4A, historicalBytes: [0x80]) == .desfire)
    #expect(kind(.type4A, historicalBytes: [0xC1, 0x05, 0x2F, 0x2F, 0x01, 0xBC, 0xD6]) == .mifarePlus)
    #expect(kind(.type4A, historicalBytes: [0x80, 0x31, 0x80, 0x66]) == .isoDEP)
    #expect(kind(.type4B) == .isoDEP)
    #expect(kind(.type5) == Self.nxp)
    guard case .none = kind(.mifareClassic) else { throw RigError("MIFARE Classic gets commands") }
  }
}
