import NDEF
import Testing

@Suite struct RecordTypeTests {
  /// ndeflib 0.3.3 writes these three records as the same bytes.
  @Test func `a contact card, a place and an external record are written`() throws {
    let message = NDEFMessage(records: [
      try .media("text/vcard", payload: Array("BEGIN:VCARD\r\n".utf8)), URIRecord("geo:48.2010,16.3695").record(),
      try .external("Example.com:ticket", payload: Array("7".utf8)),
    ])
    let expected = bytes(
      """
      920A0D746578742F7663617264424547494E3A56434152440D0A 110114550067656F3A34382E323031302C31362E33363935
      5412016578616D706C652E636F6D3A7469636B657437
      """)
    #expect(try message.encoded() == expected)
  }

  @Test(arguments: [
    ("text/vcard", true), ("image/svg+xml", true), ("application/vnd.wfa.wsc", true), ("text", false), ("text/", false),
    ("/vcard", false), ("a/b/c", false), ("text/plain;charset=utf-8", false), ("text/pl ain", false),
    ("text/\u{7}", false), ("téxt/a", false), ("+a/b", false), ("a/" + String(repeating: "b", count: 128), false),
  ])
  func `a media type is checked`(type: String, isValid: Bool) {
    #expect(((try? NDEFRecord.media(type, payload: [])) != nil) == isValid)
  }

  @Test(arguments: [
    ("example.com:ticket", "example.com:ticket"), ("Example.COM:Ticket", "example.com:ticket"),
    ("android.com:pkg", "android.com:pkg"), ("example.com", nil), (":a", nil), ("example.com:", nil), ("a..b:c", nil),
    ("exa mple.com:a", nil), ("example.com:a/b", nil), ("example.com:\u{7}", nil), ("\u{212A}.com:a", nil),
    ("a.b:" + String(repeating: "c", count: 252), nil),
  ])
  func `an external type is checked and written in lower case`(type: String, written: String?) {
    let record = try? NDEFRecord.external(type, payload: [1])
    #expect(record?.type == written.map { Array($0.utf8) })
  }

  @Test func `a media type is compared without case`() throws {
    #expect(try NDEFRecord.media("Text/VCard", payload: []).isMedia("text/vcard"))
    #expect(try !NDEFRecord.media("text/vcar", payload: []).isMedia("text/vcard"))
    #expect(!NDEFRecord.wellKnown("text/vcard", payload: []).isMedia("text/vcard"))
  }
}
