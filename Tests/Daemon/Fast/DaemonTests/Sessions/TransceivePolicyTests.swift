import Bus
import Names
import Testing

@testable import Daemon

/// Tables of commands for each kind of tag: which commands are sent to the tag, and which are not.
@Suite struct TransceivePolicyTests {
  enum Verdict: Hashable, Sendable {
    case sent
    /// Sent only in a session that may write.
    case writing
    case refused
    case invalid
  }

  static func bytes(_ text: String) -> [UInt8] {
    text.split(separator: " ").flatMap { word -> [UInt8] in
      if word.contains(".") || word.contains("Y") { return Array(word.utf8) }
      return stride(from: 0, to: word.count, by: 2).compactMap { offset in
        UInt8(word.dropFirst(offset).prefix(2), radix: 16)
      }
    }
  }

  private static let declared = bytes("A000000396")
  private static let passport = bytes("A0000002471001")

  private static func policy(_ kind: TransceivePolicy.Kind, mayWrite: Bool) -> TransceivePolicy {
    TransceivePolicy(
      kind: kind, mayWrite: mayWrite, applications: [declared, passport], systemCodes: [0x0003],
      isApplicationSelected: true)
  }

  private static func verdict(_ command: [UInt8], _ policy: TransceivePolicy) -> Verdict {
    var policy = policy
    do throws(BusError) {
      try policy.check(command)
      return .sent
    } catch {
      if error.name == Names.Errors.invalidArgument { return .invalid }
      #expect(error.name == Names.Errors.notAuthorized)
      return .refused
    }
  }

  static func expect(_ command: String, _ expected: Verdict, _ kind: TransceivePolicy.Kind) {
    let verdicts = [false, true].map { verdict(bytes(command), policy(kind, mayWrite: $0)) }
    #expect(verdicts == (expected == .writing ? [.refused, .sent] : [expected, expected]), "\(command)")
  }

  private static let isoDEP: [(String, Verdict)] = [
    // Declared applications and NDEF: with and without an expected length, and in extended length.
    ("00A4 0400 05 A000000396", .sent), ("00A4 0400 05 A000000396 00", .sent),
    ("00A4 0400 000005 A000000396", .sent), ("00A4 0400 000005 A000000396 0000", .sent),
    ("00A4 040C 07 A0000002471001", .sent), ("00A4 0400 07 D2760000850101 00", .sent),
    ("00A4 0400 07 D2760000850100", .sent),
    // On another channel another application may be selected. A SELECT of another class may be another command.
    ("03A4 0400 05 A000000396", .refused), ("40A4 0400 05 A000000396", .refused), ("40B0 0000 0F", .refused),
    ("01B2 010C 00", .refused), ("82CA 9F36 00", .refused), ("80A4 0400 05 A000000396", .refused),
    // Undeclared applications: longer, shorter, different.
    ("00A4 0400 06 A00000039601", .refused), ("00A4 0400 06 A00000024710", .refused),
    ("00A4 0400 05 A000000397", .refused), ("00A4 0400", .refused), ("00A4 0400 00", .refused),
    // Payment applications in different encodings.
    ("00A4 0400 0E 2PAY.SYS.DDF01 00", .refused), ("00A4 0400 0E 1PAY.SYS.DDF01", .refused),
    ("00A4 0400 05 2PAY.", .refused), ("00A4 0400 07 A0000000031010 00", .refused),
    ("00A4 0400 05 A000000004", .refused), ("00A4 0402 05 A000000003", .refused),
    ("00A4 0400 000007 A0000000031010 0000", .refused), ("01A4 0400 07 A0000000031010", .refused),
    ("43A4 0400 07 A0000000031010", .refused), ("80A4 0400 07 A0000000031010", .refused),
    ("90A4 0400 07 A0000000031010 00", .refused), ("0CA4 0200 07 A0000000031010", .refused),
    ("00A4 0000 07 A0000000031010", .refused), ("00A4 0800 08 3F00A00000000310", .refused),
    ("E0A4 0400 07 A0000000031010", .refused), ("00A4 9C00 07 A0000000031010", .refused),
    // Chained commands.
    ("10A4 0400 04 A0000000", .refused), ("10A4 0400 05 A000000396", .refused), ("50A4 0400 04 A0000000", .refused),
    // Files of the application. The root of the card is refused, because it leads to all applications.
    ("00A4 000C 02 E103", .sent), ("00A4 020C 02 011E", .sent), ("00A4 000C 02 3F00", .refused),
    ("00A4 0000", .refused), ("00A4 0800 04 3F005015", .refused), ("00A4 0800 02 5015", .refused),
    ("00A4 090C 04 50155016", .sent), ("00A4 0900 04 3F005015", .refused), ("00A4 090C 03 501550", .refused),
    ("0CA4 020C 0D 8709010102030405060708 9902", .sent),
    ("00A4 0000 05 A000000397", .refused), ("00A4 0100 02 5015", .refused),
    // The next application with the same beginning.
    ("00A4 0402 05 A000000396", .refused), ("00A4 0403 05 A000000396", .refused), ("00A4 0002 02 E103", .refused),
    // DEACTIVATE, ACTIVATE, DELETE and TERMINATE of the selected file, of one below, of a declared application, and of
    // others.
    ("0004 0000", .writing), ("0044 0000 02 E103", .writing), ("00E4 0200 02 E103", .writing),
    ("0044 0400 05 A000000396", .writing), ("0004 0400 05 A000000397", .refused),
    ("0044 0400 07 A0000000031010", .refused), ("00E4 0400 07 A0000000031010", .refused),
    ("00E6 0400 0E 2PAY.SYS.DDF01", .refused), ("00E4 0800 04 3F005015", .refused), ("00E4 0000 02 3F00", .refused),
    ("10E4 0400 04 A0000000", .refused), ("80E4 0000 09 4F07A0000000031010", .refused),
    ("80F0 4080 07 A0000000031010", .refused),
    // Ways to select without SELECT.
    ("0070 0000 01", .refused), ("00C2 0000 0C 00A4040007A000000003101000", .refused), ("00A5 0400 02 5C00", .refused),
    // Reading.
    ("00B0 0000 0F", .sent), ("00B0 0000 000100", .sent), ("00B2 010C 00", .sent), ("00CA 9F7F 00", .sent),
    ("80CA 9F7F 00", .sent), ("00C0 0000 10", .sent), ("0084 0000 08", .sent),
    // Commands that may change data.
    ("00D6 0000 02 0000", .writing), ("0020 0080 04 31323334", .writing), ("00DA 0101 01 00", .writing),
    ("80E4 0000 02 4F00", .writing), ("00D6 0000 05 A000000003", .writing), ("9060 0000 00", .sent),
    // In a proprietary class the instruction may mean another command to the card.
    ("90BD 0000 07 01000000000000 00", .writing), ("903D 0000 08 0100000001000041 00", .writing),
    ("905A 0000 03 010203 00", .writing), ("9060 0001 00", .writing), ("9045 0000 00", .writing),
    ("80B0 0000 0F", .writing), ("80C0 0000 0F", .writing), ("A0B2 0000 0F", .writing), ("A084 0000 08", .writing),
    ("90CA 9F7F 00", .writing), ("80CB 3FFF 00", .sent),
    // Malformed APDUs.
    ("00", .invalid), ("00A404", .invalid), ("00A4 0400 07 A0000000031010 00 00", .invalid),
    ("00A4 0400 08 A0000000031010", .invalid), ("00A4 0400 000008 A0000000031010", .invalid),
    ("FFA4 0400 05 A000000396", .invalid), ("5A000000", .refused), ("", .invalid),
  ]

  private static let desfire: [(String, Verdict)] = [
    ("60", .sent), ("AF", .sent), ("5A 010203", .sent), ("5A A40102", .sent), ("BD 01 000000 000000", .sent),
    ("6A", .sent), ("3D 01 000000 010000 41", .writing), ("0A 00", .writing), ("FC", .writing),
    // Wrapped commands and ISO commands.
    ("9060 0000 00", .sent), ("90FC 0000 00", .writing), ("00A4 0400 07 D2760000850100 00", .sent),
    ("00A4 0400 07 A0000000031010 00", .refused), ("90A4 0400 07 A0000000031010 00", .refused),
    ("5AA4 0400 07 A0000000031010 00", .refused), ("60A4 0400 0E 2PAY.SYS.DDF01 00", .refused),
    ("00C2 0000 0C 00A4040007A000000003101000", .refused),
    // Ways to select without SELECT, in a class that is not DESFire's. Such a card may also hold payment applications.
    ("40C2 0000 0C 00A4040007A0000000031010", .refused), ("80C3 0000 0C 00A4040007A0000000031010", .refused),
    ("8070 0000 01", .refused), ("40A5 0400 02 5C00", .refused), ("A0A4 0400 07 A0000000031010", .refused),
    ("40DA 0000 07 A0000000031010", .refused), ("5A 700102", .sent), ("90BD 0000 07 01000000000000 00", .sent),
    // APDUs that write, in a class that is the code of a native command that reads.
    ("60D6 0000 02 0000", .refused), ("6FDC 0104 02 0000", .refused), ("BDD6 0000 02 000000", .refused),
    ("AFE2 0000 01 00", .refused), ("60 00", .writing), ("F5 01", .sent), ("BB 1F 000000 000000", .sent),
  ]

  private static let mifarePlus: [(String, Verdict)] = [
    ("33 0400 01", .sent), ("33 A400 01", .sent), ("A3 0400 00", .writing), ("70 0140 00", .writing),
    ("33A4 0400 07 A0000000031010", .refused), ("30D6 0000 02 0000", .writing), ("30 D600 01", .sent),
    ("33 0400 01 0102030405060708", .sent), ("30 0E00 01 0102030405060708", .writing), ("30 04", .writing),
  ]

  private static let type2: [(String, Verdict)] = [
    ("30 04", .sent), ("3A 04 0F", .sent), ("60", .sent), ("39 02", .sent), ("3C 00", .sent), ("C2 FF", .sent),
    // Commands of the wrong length.
    ("30 04 00", .writing), ("30", .writing), ("3A 04 0F 00", .writing), ("3A 04", .writing), ("60 00", .writing),
    ("39 02 00", .writing), ("3C 00 00", .writing), ("C2 00", .writing), ("C2 FF 00", .writing),
    ("A2 04 00000000", .writing), ("A0 04", .writing), ("1B FFFFFFFF", .writing), ("1A 00", .writing),
    ("E0 80", .invalid), ("50 00", .invalid), ("26", .invalid), ("52", .invalid), ("93 20", .invalid), ("", .invalid),
  ]

  private static let idm = "0102030405060708"
  private static let nodes = String(repeating: "0F09", count: 32)

  private static let felica: [(String, Verdict)] = [
    // Polls: declared systems and NDEF, but no wildcards.
    ("00 0003 00 00", .sent), ("00 12FC 01 00", .sent), ("00 FFFF 00 00", .refused), ("00 FE00 00 00", .refused),
    ("00 00FF 00 00", .refused), ("00 0003", .invalid),
    // Request Service, Request Response, Read, Write, Request System Code.
    ("02 \(idm) 01 0F09", .sent), ("04 \(idm)", .sent), ("06 \(idm) 01 0F09 01 8000", .sent), ("0C \(idm)", .sent),
    ("08 \(idm) 01 0900 01 8000 00000000000000000000000000000000", .writing),
    // Request Service v2, Request Specification Version, Reset Mode; and the same in another form.
    ("32 \(idm) 01 0F09", .sent), ("32 \(idm) 02 0F09 0B00", .sent), ("32 \(idm)", .invalid),
    ("32 \(idm) 00", .invalid), ("32 \(idm) 02 0F09", .invalid), ("32 \(idm) 01 0F09 00", .invalid),
    ("32 \(idm) 20 \(nodes)", .sent), ("32 \(idm) 21 \(nodes) 0F09", .invalid),
    ("3C \(idm) 0000", .sent), ("3C \(idm)", .invalid), ("3C \(idm) 0100", .invalid),
    ("3E \(idm) 0000", .sent), ("3E \(idm)", .invalid), ("3E \(idm) 000000", .invalid),
    ("3E 1102030405060708 0000", .invalid),
    // For another card or another system.
    ("06 1102030405060708 01 0F09 01 8000", .invalid), ("06", .invalid),
    // Authentication and other commands.
    ("10 \(idm) 00", .refused), ("14 \(idm)", .refused), ("0A \(idm)", .refused), ("3A \(idm)", .refused),
  ]

  private static let tables: [(kind: TransceivePolicy.Kind, rows: [(String, Verdict)])] = [
    (.isoDEP, isoDEP), (.desfire, desfire), (.mifarePlus, mifarePlus), (.type2, type2),
    (.felica(idm: bytes(idm), systemCode: 0x0003), felica),
    // An undeclared system gets no commands. The NDEF system does.
    (
      .felica(idm: bytes(idm), systemCode: 0xFE00),
      [("06 \(idm) 01 0F09 01 8000", .refused), ("3E \(idm) 0000", .refused)]
    ),
    (.felica(idm: bytes(idm), systemCode: nil), [("06 \(idm) 01 0F09 01 8000", .refused)]),
    (.felica(idm: bytes(idm), systemCode: 0x12FC), [("06 \(idm) 01 0F09 01 8000", .sent)]),
  ]

  @Test(arguments: tables.flatMap { table in table.rows.map { (table.kind, $0.0, $0.1) } })
  func `commands are sent or refused as listed`(kind: TransceivePolicy.Kind, command: String, expected: Verdict) {
    Self.expect(command, expected, kind)
  }

  @Test func `another system of a FeliCa card receives commands once it was polled`() throws {
    var policy = Self.policy(.felica(idm: Self.bytes(Self.idm), systemCode: 0x0003), mayWrite: false)
    let read = Self.bytes("06 1102030405060708 01 0B00 01 8000")
    #expect(throws: BusError.self) { try policy.check(read) }
    let poll = Self.bytes("00 12FC 00 00")
    try policy.check(poll)
    policy.learn(Self.bytes("01 1102030405060708 FFFFFFFFFFFFFFFF"), to: poll)
    try policy.check(read)
  }

  @Test func `a SELECT cannot end a chain of commands`() throws {
    var policy = Self.policy(.isoDEP, mayWrite: true)
    try policy.check(Self.bytes("10D6 0000 02 A000"))
    #expect(throws: BusError.self) { try policy.check(Self.bytes("00A4 0400 05 A000000396")) }
    try policy.check(Self.bytes("00D6 0000 02 0000"))
    try policy.check(Self.bytes("00A4 0400 05 A000000396"))
  }

  @Test func `a file can be selected only after its application`() throws {
    var policy = TransceivePolicy(kind: .isoDEP, mayWrite: true, applications: [Self.declared])
    func isSent(_ command: String) -> Bool { Self.verdict(Self.bytes(command), policy) == .sent }
    #expect(!isSent("00A4 000C 02 E103"))
    #expect(!isSent("00A4 090C 02 E103"))
    #expect(!isSent("00A4 020C 02 E103"))
    let select = Self.bytes("00A4 0400 07 D2760000850101 00")
    try policy.check(select)
    policy.learn(Self.bytes("6A82"), to: select)
    #expect(!isSent("00A4 000C 02 E103"))
    policy.learn(Self.bytes("9000"), to: select)
    #expect(isSent("00A4 000C 02 E103"))
  }

  /// It may have selected a payment application by itself.
  @Test func `a card of which no application is selected gets SELECT alone`() throws {
    var policy = TransceivePolicy(kind: .isoDEP, mayWrite: true, applications: [Self.declared])
    func isSent(_ command: String) -> Bool { Self.verdict(Self.bytes(command), policy) == .sent }
    let commands = [
      "00B2 010C 00", "00B0 8100 10", "80CA 9F36 00", "80A8 0000 02 8300", "80AE 8000 00", "0084 0000 08",
      "00D6 0000 01 00", "0044 0000", "90BD 0000 07 01000000000000 00",
    ]
    for command in commands { #expect(!isSent(command), "\(command)") }
    let select = Self.bytes("00A4 0400 05 A000000396")
    try policy.check(select)
    policy.learn(Self.bytes("9000"), to: select)
    for command in commands { #expect(isSent(command), "\(command)") }
    for kind in [TransceivePolicy.Kind.desfire, .mifarePlus] {
      let fresh = TransceivePolicy(kind: kind, mayWrite: true)
      for command in [
        "80A8 0000 02 8300", "80AE 8000 00", "80CA 9F36 00", "10B2 010C 00", "90B2 010C 00", "90DA 0000",
        "60B2 010C 00",
      ] {
        #expect(Self.verdict(Self.bytes(command), fresh) == .refused, "\(command)")
      }
      // The second half of an authentication may have any bytes.
      let authentication = "AF A4B20100 0102030405060708 01020304"
      #expect(Self.verdict(Self.bytes(authentication), fresh) == .sent)
    }
    // Native commands are no ISO 7816, and DESFire's wrapped ones neither.
    for (kind, command) in [
      (.desfire, "60"), (.desfire, "BD 01 000000 000000"), (.desfire, "90BD 0000 07 01000000000000 00"),
      (.mifarePlus, "33 0400 01"), (.isoDEP, "9060 0000 00"),
    ] as [(TransceivePolicy.Kind, String)] {
      let fresh = TransceivePolicy(kind: kind, mayWrite: false)
      #expect(Self.verdict(Self.bytes(command), fresh) == .sent, "\(command)")
    }
    #expect(Self.verdict(Self.bytes("00B2 010C 00"), TransceivePolicy(kind: .desfire, mayWrite: true)) == .refused)
  }

  // MARK: Documents

  /// A passport with PACE alone: EF.CardAccess, PACE, and the application by its encrypted name.
  @Test func `PACE on the master file is possible, and nothing else there`() throws {
    var policy = TransceivePolicy(
      kind: .isoDEP, mayWrite: true, applications: [Self.passport], allowsMasterFile: true)
    func isSent(_ command: String) -> Bool { Self.verdict(Self.bytes(command), policy) == .sent }
    func send(_ command: String, _ answer: String = "9000") throws {
      try policy.check(Self.bytes(command))
      policy.learn(Self.bytes(answer), to: Self.bytes(command))
    }
    try send("00A4 000C 02 3F00")
    try send("00A4 020C 02 011C")
    try send("00B0 0000 08", "3181 9000")
    try send("00B0 9C00 08", "3181 9000")
    for command in [
      "00A4 020C 02 0102", "00A4 000C 02 5015", "00A4 090C 02 5015", "00B0 8200 08", "00B2 010C 00",
      "00D6 0000 02 0000",
      "00A4 0400 07 A0000000031010", "00A4 0400 05 A000000397", "0CA4 040C 0D 8709010102030405060708 9902", "0020 0080",
      "80CA 9F7F 00",
    ] {
      #expect(!isSent(command), "\(command)")
    }
    try send("0022 C1A4 04 80020400")
    try send("1086 0000 02 7C00 00", "7C00 9000")
    #expect(!isSent("0CA4 040C 0D 8709010102030405060708 9902"))
    try send("0086 0000 02 7C00 00", "7C00 9000")
    try send("0CB0 9D00 0D 8709010102030405060708 9902", "9000")
    #expect(!isSent("0CB2 010C 05 9902 9000 00") && !isSent("00A4 0400 05 A000000397"))
    // A card that ignores the class would take these for the plain name of an undeclared application.
    #expect(!isSent("0CA4 040C 05 A000000397") && !isSent("04A4 0400 07 A0000003970001"))
    try send("0CA4 040C 0D 8709010102030405060708 9902")
    #expect(isSent("0CB0 8100 0D 8709010102030405060708 9902") && isSent("00A4 000C 02 011E"))
    // Again, and to the application by its plain name.
    try send("00A4 0000", "6F 07 84 05 A000000397 9000")
    #expect(!isSent("00B2 010C 00"))
    try send("00A4 040C 07 A0000002471001")
    #expect(isSent("00B2 010C 00"))
    // A refused SELECT has no effect, and a card that is reselected is no longer there.
    try send("00A4 000C 02 3F00", "6A82")
    #expect(isSent("00B2 010C 00"))
    try send("00A4 000C 02 3F00")
    #expect(isSent("00B0 9C00 08"))
    policy.reselected()
    #expect(!isSent("00B0 9C00 08"))
  }

  @Test func `the master file is for documents`() {
    #expect(CardApplications.includeDocument([Self.declared, Self.passport]))
    #expect(!CardApplications.includeDocument([Self.declared]))
    let policy = TransceivePolicy(kind: .isoDEP, mayWrite: true, applications: [Self.declared])
    #expect(Self.verdict(Self.bytes("00A4 000C 02 3F00"), policy) == .refused)
    let desfire = TransceivePolicy(kind: .desfire, mayWrite: true, allowsMasterFile: true)
    #expect(Self.verdict(Self.bytes("00A4 000C 02 3F00"), desfire) == .refused)
  }

  @Test func `a card that is reselected has no selection and no command chain`() throws {
    var policy = TransceivePolicy(kind: .isoDEP, mayWrite: true, applications: [Self.declared])
    let select = Self.bytes("00A4 0400 05 A000000396")
    try policy.check(select)
    policy.learn(Self.bytes("9000"), to: select)
    try policy.check(Self.bytes("00A4 000C 02 E103"))
    try policy.check(Self.bytes("10D6 0000 02 A000"))
    policy.reselected()
    #expect(Self.verdict(Self.bytes("00A4 000C 02 E103"), policy) == .refused)
    // The command chain is gone too.
    try policy.check(select)
  }

  @Test(arguments: [TransceivePolicy.Kind.isoDEP, .desfire, .mifarePlus])
  func `commands are refused while the card names another application as selected`(kind: TransceivePolicy.Kind) throws {
    for answer in [
      // An application of Visa, an undeclared one, and one in a reply that has to be fetched.
      "6F 0B 84 07 A0000000031010 A500 9000", "6F 81 07 84 05 A000000397 9000", "62 09 8202 3800 84 03 010203 9000",
    ] {
      var policy = Self.policy(kind, mayWrite: true)
      func isSent(_ command: String) -> Bool { Self.verdict(Self.bytes(command), policy) == .sent }
      let select = Self.bytes("00A4 0000 02 5015")
      try policy.check(select)
      // Refused until the card has replied.
      #expect(!isSent("00B2 010C 00"))
      policy.learn(Self.bytes(answer), to: select)
      for command in [
        "00B2 010C 00", "00B0 0000 0F", "00A4 000C 02 E103", "00A4 020C 02 E103", "80A8 0000 02 8300",
      ] {
        #expect(!isSent(command), "\(command) after \(answer)")
      }
      let name = Self.bytes("00A4 0400 05 A000000396")
      try policy.check(name)
      policy.learn(Self.bytes("6F 09 84 07 A0000003960102 9000"), to: name)
      #expect(isSent("00B2 010C 00"))
      // The card has more of the reply: only that is fetched.
      try policy.check(select)
      policy.learn(Self.bytes("6117"), to: select)
      #expect(!isSent("00B2 010C 00") && isSent("00C0 0000 17"))
      policy.learn(Self.bytes("6F 09 84 07 A0000003960102 9000"), to: Self.bytes("00C0 0000 17"))
      #expect(isSent("00B2 010C 00"))
      // The reply to GET RESPONSE, which fetches the rest of a reply, can name an application too.
      policy.learn(Self.bytes(answer), to: Self.bytes("00C0 0000 10"))
      #expect(!isSent("00B2 010C 00"))
    }
    var policy = Self.policy(.isoDEP, mayWrite: false)
    let select = Self.bytes("00A4 0000 02 5015")
    try policy.check(select)
    policy.learn(nil, to: select)
    try policy.check(Self.bytes("00B0 0000 0F"))
    try policy.check(select)
    // A card may send any bytes.
    for answer in ["6F 80 84 9000", "6F FF 9000", "6F 83 000001 00 9000", "9F 84", "6F 02 84 7F 9000", "84", ""] {
      policy.learn(Self.bytes(answer), to: select)
      #expect(FileControlInformation.applicationName(in: Self.bytes(answer)) == nil)
    }
  }

  @Test func `a card that answers GetVersion can be read in the DESFire class`() throws {
    var policy = Self.policy(.isoDEP, mayWrite: false)
    let version = Self.bytes("9060 0000 00")
    let read = Self.bytes("90BD 0000 07 01000000000000 00")
    #expect(Self.verdict(read, policy) == .refused)
    try policy.check(version)
    policy.learn(Self.bytes("6E00"), to: version)
    #expect(Self.verdict(read, policy) == .refused)
    policy.learn(Self.bytes("04010133001605 91AF"), to: version)
    #expect(Self.verdict(read, policy) == .sent)
    #expect(Self.verdict(Self.bytes("903D 0000 08 0100000001000041 00"), policy) == .refused)
  }

  @Test(arguments: [
    "D5780000021010", "A0000006150001", "A0000007320123", "A0000003371010", "A0000007271010", "A0000005410001",
    "A0000006770101", "A0000006200620", "A0000000101030", "A0000003156020", "A0000004360100", "A0000004391010",
    "A0000004540010", "A0000007360001", "A0000008170020", "D5280050218002",
  ])
  func `national payment schemes are refused`(_ identifier: String) {
    #expect(CardApplications.problem(declaring: Self.bytes(identifier)) != nil)
    Self.expect("00A4 0400 07 \(identifier)", .refused, .isoDEP)
  }

  @Test func `a tag that takes no commands refuses a command and gives the reason`() {
    let reason = "MIFARE Classic takes no commands"
    var policy = Self.policy(.none(reason), mayWrite: true)
    #expect(throws: BusError(name: Names.Errors.notSupported, message: reason)) { try policy.check([0x30, 0]) }
  }

  @Test func `payment applications and wildcards cannot be declared`() {
    for identifier in ["A000000003", "A0000000041010", "2PAY.", "1PAY.SYS.DDF01", "A00000", "A0000000251000"] {
      #expect(CardApplications.problem(declaring: Self.bytes(identifier)) != nil, "\(identifier)")
    }
    #expect(CardApplications.problem(declaring: [UInt8](repeating: 1, count: 17)) != nil)
    for identifier in [Self.declared, Self.passport] + CardApplications.ndef {
      #expect(CardApplications.problem(declaring: identifier) == nil)
    }
    for code in [0xFFFF, 0xFF03, 0x00FF] as [UInt16] { #expect(CardApplications.problem(declaring: code) != nil) }
    for code in [0x0003, 0x12FC, 0x8008] as [UInt16] { #expect(CardApplications.problem(declaring: code) == nil) }
  }
}
