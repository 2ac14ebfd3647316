import NDEF
import Rig
import Testing

@Suite struct ContactCardTests {
  private static func card(_ lines: String, type: String = "text/vcard") throws -> ContactCard? {
    ContactCard(
      NDEFRecord(
        typeNameFormat: .mediaType, type: Array(type.utf8),
        payload: Array("BEGIN:VCARD\r\n\(lines)\r\nEND:VCARD\r\n".utf8)))
  }

  @Test func `a card of a phone is read`() throws {
    let card = try #require(
      try Self.card(
        """
        VERSION:3.0
        N:Lovelace;Ada;King;Countess;
        FN:Ada Lovelace
        ORG:Analytical Engines\\, Ltd.;Programs
        item1.TEL;TYPE="a:b",CELL:+44 20 1234
        tel;type=home:tel:+44-20-5678
        EMAIL;TYPE=INTERNET:ada@example.com
        NOTE:TEL:1
        """, type: "Text/X-vCard; charset=utf-8"))
    #expect(card.name == "Ada Lovelace" && card.organisation == "Analytical Engines, Ltd., Programs")
    #expect(card.phones == ["+44 20 1234", "+44-20-5678"] && card.emails == ["ada@example.com"])
  }

  @Test(
    arguments: [
      ("N:Lovelace;Ada;King;Countess;I", "Countess Ada King Lovelace I"), ("N:Lovelace;Ada", "Ada Lovelace"),
      ("N:;Ada;;;", "Ada"), ("FN:\r\nN:Lovelace;Ada", "Ada Lovelace"), ("FN:A\\nB\\;C;D\\\\", "A B;C;D\\"),
      ("FN:Lo\r\n ve\r\n\tlace", "Lovelace"), ("FN:Caf\u{E9}", "Café"), ("FN:first\r\nFN:second", "first"),
      ("FN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:J=C3=BC\r\nN:;J", "J"), ("FN;QUOTED-PRINTABLE:=41", ""),
      ("N:Lovelace", "Lovelace"), ("FN", ""), ("", ""), (":::;;", ""), ("END:VCARD\r\nFN:behind", ""), (":x", ""),
    ])
  func `a name is read from each form of a card`(lines: String, name: String) throws {
    #expect(try Self.card(lines)?.name == name)
  }

  @Test func `other records are no cards`() throws {
    let card = Array("BEGIN:VCARD\nFN:a\n".utf8)
    #expect(ContactCard(try .media("text/plain", payload: card)) == nil)
    #expect(ContactCard(try .external("text:vcard", payload: card)) == nil)
    for payload in ["", "FN:a", "BEGIN:VEVENT\nFN:a", "\nFN:BEGIN:VCARD"] {
      #expect(ContactCard(try .media("text/vcard", payload: Array(payload.utf8))) == nil, "\(payload)")
    }
    #expect(ContactCard(try .media("text/directory", payload: Array("begin:vcard\rFN:a".utf8))) == nil)
    #expect(ContactCard(try .media("text/directory", payload: Array("begin:vcard".utf8))) != nil)
  }

  @Test func `a hostile card is bounded`() throws {
    let numbers = (0..<1000).map { "TEL:\($0)" }.joined(separator: "\n")
    #expect(try Self.card(numbers)?.phones.count == ContactCard.mostNumbers)
    let long = String(repeating: "x", count: 1 << 20)
    #expect(try Self.card("FN:\(long)\r\nTEL:1")?.name.utf8.count ?? .max < ContactCard.readAtMost)
    // Each line continues the one before, or has its own escapes and quotation marks.
    for line in ["\n x", "\n:", "\n;", "\nFN;\"", "\\", "\n\t", "\nORG:\\;;"] {
      let card = try Self.card("FN:a" + String(repeating: line, count: (1 << 20) / line.utf8.count))
      #expect(card?.organisation.utf8.count ?? .max <= ContactCard.readAtMost, "\(line)")
    }
    for sample in HostileText.samples { #expect(try Self.card("FN:\(sample.text)") != nil, "\(sample.name)") }
  }

  @Test(arguments: 0..<8 as Range<UInt64>) func `random bytes behind the first line are read without a fault`(
    seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    let pieces = ["FN", "N", "TEL", ":", ";", "\\", "\n", "\r\n ", "\"", "=", "\u{FF}", "é", ".", "tel:"]
    for _ in 0..<300 {
      let text = (0..<Int.random(in: 0...40, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }
      #expect(try Self.card(text.joined())?.phones.count ?? 0 <= ContactCard.mostNumbers)
    }
  }
}
