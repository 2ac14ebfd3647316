import Foundation
import NDEF
import Names
import Testing

@testable import Records

struct RecordReportTests {
  @Test func `each kind of record is described in one line`() throws {
    let poster = SmartPosterRecord(uri: "https://example.com", titles: [TextRecord("A title", language: "en")])
    let records = [
      URIRecord("https://example.com/\u{202E}").record(), try TextRecord("Grüß Gott", language: "de").record(),
      try poster.record(), NDEFRecord(typeNameFormat: .mediaType, type: Array("image/png".utf8), payload: [1, 2]),
      .empty,
    ]
    let reports = RecordReport.all(in: try NDEFMessage(records: records).encoded())
    #expect(
      reports.map(\.line) == [
        "link: https://example.com/\u{202E}", "text (de): Grüß Gott", "smart poster: https://example.com (A title)",
        "file: image/png, 2 bytes", "an empty record",
      ])
    #expect(reports[3].payload == "0102" && reports[3].format == "media" && reports[3].uri == nil)
    #expect(RecordReport.all(in: [1, 2, 3]).isEmpty)
  }

  @Test func `each record that a draft makes is described in words`() throws {
    func line(_ record: NDEFRecord) -> String { RecordReport(record).line }
    let networks = [
      WiFiNetwork(ssid: "Guest", passphrase: "visitors"), WiFiNetwork(ssid: "Café", passphrase: nil),
    ]
    let wifi = try WiFiRecord(networks).record()
    #expect(line(wifi) == "Wi-Fi network: Guest, WPA2, password: on the tag, not shown; Café, open, no password")
    let json = String(decoding: try JSONEncoder().encode(RecordReport(wifi).networks), as: UTF8.self)
    #expect(json.contains("\"hasPassword\":true") && !json.contains("visitors") && !line(wifi).contains("visitors"))
    let card = "BEGIN:VCARD\r\nFN:Ada\r\nORG:Engines\r\nTEL:+44\r\nTEL:+45\r\nEMAIL:a@example.com\r\nEND:VCARD"
    #expect(
      line(try .media("text/vcard", payload: Array(card.utf8)))
        == "contact: Ada, Engines, phone +44, phone +45, mail a@example.com")
    #expect(line(try .media("text/vcard", payload: Array("BEGIN:VCARD".utf8))) == "contact: without a name")
    #expect(line(URIRecord("geo:48.2010,-16?q=Café").record()) == "place: latitude 48.2010, longitude -16, Café")
    #expect(line(URIRecord("geo:north").record()) == "link: geo:north")
    #expect(
      line(try .media("image/png", id: Array("a.png".utf8), payload: [1])) == "file: image/png, 1 byte, named a.png")
    #expect(line(try .external("example.com:ticket", payload: [1, 2])) == "data: example.com:ticket, 2 bytes")
    #expect(line(try .external("android.com:pkg", payload: Array("a.b".utf8))) == "app for Android: a.b")
    // Such a record has no network that could be shown.
    #expect(line(try .media(WiFiRecord.type, payload: [1])) == "file: application/vnd.wfa.wsc, 1 byte")
    #expect(line(.wellKnown("Hs", payload: [1])) == "well-known Hs, 1 byte")
  }

  @Test(
    arguments: [
      ("1003 0002 0002", "WPA"), ("1003 0002 0022", "WPA/WPA2"), ("1003 0002 0008", "enterprise"),
      ("1003 0002 0004", "WEP"), ("1003 0002 0100", "unknown"), ("100F 0002 0002 1003 0002 0020", "WEP"),
    ])
  func `the security of a network has a name`(attributes: String, security: String) throws {
    let attributes = try #require(Hexadecimal.bytes("10450005 4775657374 \(attributes)".filter { $0 != " " }))
    let payload = [0x10, 0x0E, 0, UInt8(attributes.count)] + attributes
    let report = RecordReport(try .media(WiFiRecord.type, payload: payload))
    #expect(report.networks == [.init(ssid: "Guest", security: security, hasPassword: false)])
  }
}
