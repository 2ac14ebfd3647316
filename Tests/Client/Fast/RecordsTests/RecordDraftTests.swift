import NDEF
import Records
import Testing

@Suite struct RecordDraftTests {
  @Test func `each draft becomes its record`() throws {
    let card = Array("begin:vcard\r\nFN:A\r\nEND:VCARD\r\n".utf8)
    let drafts: [RecordDraft] = [
      .link("example.com/a b"), .text("a", language: "de"),
      .smartPoster(link: "tel:+1", title: "a", language: "en"),
      .wifi(ssid: "Guest", passphrase: "visitors"), .wifi(ssid: "Guest", passphrase: nil),
      .place(coordinates: "-48.2010,16"), .contact(card), .media(type: "image/png", contents: [0, 0xFF]),
      .external(type: "Example.com:Ticket", contents: [7]),
      // The prefix is implied.
      .external(type: "urn:nfc:ext:Example.com:a", contents: []),
    ]
    let expected: [NDEFRecord] = try [
      URIRecord("https://example.com/a%20b").record(), TextRecord("a", language: "de").record(),
      SmartPosterRecord(uri: "tel:+1", titles: [TextRecord("a", language: "en")]).record(),
      WiFiRecord([WiFiNetwork(ssid: "Guest", passphrase: "visitors")]).record(),
      WiFiRecord([WiFiNetwork(ssid: "Guest", passphrase: nil)]).record(), URIRecord("geo:-48.2010,16").record(),
      .media("text/vcard", payload: card), .media("image/png", payload: [0, 0xFF]),
      .external("example.com:ticket", payload: [7]), .external("example.com:a", payload: []),
    ]
    #expect(try drafts.map { try $0.record() } == expected)
  }

  @Test(
    arguments: [
      (.link("menu"), .link), (.link("example.com:99999"), .link),
      (.smartPoster(link: "", title: "a", language: "en"), .link),
      (.smartPoster(link: "tel:1", title: "\u{200B}", language: "en"), .title),
      (.smartPoster(link: "tel:1", title: "a", language: "ä"), .language),
      (.text("", language: "en"), .text), (.text(" \n", language: "en"), .text),
      (.text("\u{2060}\u{FEFF} \u{3164}\u{2800}", language: "en"), .text), (.text("a", language: ""), .language),
      (.wifi(ssid: "", passphrase: "visitors"), .ssid),
      (.wifi(ssid: String(repeating: "ä", count: 17), passphrase: nil), .ssid),
      (.wifi(ssid: "Guest", passphrase: "short"), .passphrase), (.wifi(ssid: "Guest", passphrase: ""), .passphrase),
      (.place(coordinates: "1"), .coordinates), (.place(coordinates: "1,2,3"), .coordinates),
      (.place(coordinates: "91,0"), .coordinates), (.contact([]), .contact), (.contact(Array("FN:A".utf8)), .contact),
      (.media(type: "text", contents: []), .type), (.media(type: "inode/directory", contents: []), .type),
      (.media(type: "x-scheme-handler/https", contents: []), .type), (.media(type: "text/a#b", contents: []), .type),
      (.external(type: "example.com", contents: []), .type), (.external(type: "example.com:a:b", contents: []), .type),
      (.external(type: "example.com:a=b", contents: []), .type),
    ] as [(RecordDraft, RecordDraftError.Field)])
  func `the error names the field that is wrong`(draft: RecordDraft, field: RecordDraftError.Field) {
    let error = #expect(throws: RecordDraftError.self) { try draft.record() }
    #expect(error?.field == field)
    #expect(error?.message.contains("--") == false)
  }
}
