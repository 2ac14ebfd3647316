import NDEF
import Testing

@Suite struct URIRecordTests {
  /// RTD-URI 1.0, section 3.2.2, table 3.
  static let prefixes: [(code: UInt8, prefix: String)] = [
    (0x00, ""), (0x01, "http://www."), (0x02, "https://www."), (0x03, "http://"), (0x04, "https://"), (0x05, "tel:"),
    (0x06, "mailto:"), (0x07, "ftp://anonymous:anonymous@"), (0x08, "ftp://ftp."), (0x09, "ftps://"),
    (0x0A, "sftp://"), (0x0B, "smb://"), (0x0C, "nfs://"), (0x0D, "ftp://"), (0x0E, "dav://"), (0x0F, "news:"),
    (0x10, "telnet://"), (0x11, "imap:"), (0x12, "rtsp://"), (0x13, "urn:"), (0x14, "pop:"), (0x15, "sip:"),
    (0x16, "sips:"), (0x17, "tftp:"), (0x18, "btspp://"), (0x19, "btl2cap://"), (0x1A, "btgoep://"),
    (0x1B, "tcpobex://"), (0x1C, "irdaobex://"), (0x1D, "file://"), (0x1E, "urn:epc:id:"), (0x1F, "urn:epc:tag:"),
    (0x20, "urn:epc:pat:"), (0x21, "urn:epc:raw:"), (0x22, "urn:epc:"), (0x23, "urn:nfc:"),
  ]

  @Test(arguments: prefixes)
  func `every identifier code is expanded to its prefix and back`(code: UInt8, prefix: String) throws {
    let record = NDEFRecord.wellKnown("U", payload: [code] + Array("rest".utf8))
    let view = try URIRecord(record)
    #expect(view.uri == prefix + "rest")
    #expect(view.record() == record)
  }

  @Test(arguments: UInt8(0x24)...0xFF) func `a reserved identifier code adds no prefix`(code: UInt8) throws {
    let view = try URIRecord(.wellKnown("U", payload: [code] + Array("https://a.example".utf8)))
    #expect(view.uri == "https://a.example")
  }

  /// RTD-URI 1.0, appendix A, examples 1 to 3.
  @Test(arguments: [
    ("D1 01 08 55 01 6E 66 63 2E 63 6F 6D", "http://www.nfc.com"),
    ("D1 01 0D 55 05 2B 33 35 38 39 31 32 33 34 35 36 37", "tel:+35891234567"),
    ("D1 01 1F 55 00 6D6D733A2F2F6578616D706C652E636F6D2F646F776E6C6F61642E776D76", "mms://example.com/download.wmv"),
  ])
  func `the examples of the specification are read and written`(hex: String, uri: String) throws {
    let message = try NDEFMessage(decoding: bytes(hex))
    let record = try #require(message.records.first)
    #expect(try URIRecord(record).uri == uri)
    #expect(try NDEFMessage.uri(uri).encoded() == bytes(hex))
  }

  @Test(arguments: [
    ("https://www.example.com", UInt8(0x02)), ("https://example.com", 0x04), ("ftp://ftp.example.com", 0x08),
    ("ftp://anonymous:anonymous@a", 0x07), ("urn:epc:id:x", 0x1E), ("urn:epc:x", 0x22), ("urn:x", 0x13),
    ("HTTPS://example.com", 0x00), ("", 0x00), ("https:/", 0x00),
  ])
  func `the longest matching prefix is used`(uri: String, code: UInt8) throws {
    let record = URIRecord(uri).record(id: [0x31])
    #expect(record.payload.first == code)
    #expect(record.id == [0x31])
    #expect(try URIRecord(record).uri == uri)
  }

  @Test func `a prefix is compared by bytes, not by characters`() throws {
    let uri = "https://\u{301}x"
    #expect(URIRecord(uri).record().payload.first == 0x04)
    #expect(try Array(URIRecord(URIRecord(uri).record()).uri.utf8) == Array(uri.utf8))
  }

  @Test(arguments: [
    (NDEFRecord.wellKnown("U", payload: []), NDEFError.Code.truncated, 0),
    (.wellKnown("T", payload: [0x00]), .wrongType, 0), (.wellKnown("u", payload: [0x00]), .wrongType, 0),
    (NDEFRecord(typeNameFormat: .external, type: [0x55], payload: [0x00]), .wrongType, 0),
    (.wellKnown("U", payload: [0x04, 0x61, 0xFF]), .characterEncoding, 2),
    (.wellKnown("U", payload: [0x04, 0x61, 0x62, 0xC3]), .characterEncoding, 3),
    (.wellKnown("U", payload: [0x04, 0xC0, 0xAF]), .characterEncoding, 1),
    (.wellKnown("U", payload: [0x04, 0xED, 0xA0, 0x80]), .characterEncoding, 1),
  ])
  func `malformed records are rejected with offset and reason`(record: NDEFRecord, code: NDEFError.Code, offset: Int) {
    let error = #expect(throws: NDEFError.self) { try URIRecord(record) }
    #expect(error?.code == code)
    #expect(error?.offset == offset)
  }
}
