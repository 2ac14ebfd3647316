import NDEF
import Testing

/// The rules of NDEF 1.0. A comment names the section that the arguments below it are about.
@Suite struct MessageDecodingTests {
  @Test(arguments: [
    // 3.2.4: the payload length has one byte in a short record, and otherwise four, most significant first.
    ("D1 01 02 55 04 61", [NDEFRecord.wellKnown("U", payload: [0x04, 0x61])]),
    ("C1 01 00000002 55 04 61", [.wellKnown("U", payload: [0x04, 0x61])]),
    // 3.2.5, 3.2.8: an id, and an empty id.
    ("D9 01 01 02 55 6964 04", [.wellKnown("U", id: [0x69, 0x64], payload: [0x04])]),
    ("D9 01 01 00 55 04", [.wellKnown("U", payload: [0x04])]),
    ("C9 01 00000001 01 55 69 04", [.wellKnown("U", id: [0x69], payload: [0x04])]),
    // 3.2.6: every type name format.
    ("D0 00 00", [.empty]), ("D8 00 00 00", [.empty]), ("D1 01 00 78", [.wellKnown("x", payload: [])]),
    ("D2 03 01 612F62 FF", [NDEFRecord(typeNameFormat: .mediaType, type: bytes("612F62"), payload: [0xFF])]),
    ("D3 03 00 613A62", [NDEFRecord(typeNameFormat: .absoluteURI, type: bytes("613A62"))]),
    ("D4 03 00 613A62", [NDEFRecord(typeNameFormat: .external, type: bytes("613A62"))]),
    ("D5 00 01 FF", [NDEFRecord(typeNameFormat: .unknown, payload: [0xFF])]),
    ("DD 00 01 01 69 FF", [NDEFRecord(typeNameFormat: .unknown, id: [0x69], payload: [0xFF])]),
    // 3.2.6: the reserved format is treated as unknown.
    ("D7 00 01 FF", [NDEFRecord(typeNameFormat: .unknown, payload: [0xFF])]),
    // 3.2.10: a type need not be ASCII to be stored.
    ("D1 01 00 FF", [NDEFRecord(typeNameFormat: .wellKnown, type: [0xFF])]),
    // 2.3.1: several records.
    ("90 00 00  10 00 00  50 00 00", [.empty, .empty, .empty]),
    // 2.3.3: a chunked record among others, with long, short and empty chunks.
    (
      "91 01 00 78  39 01 01 01 79 69 61  36 00 00  26 00 00000002 6263  16 00 01 64  51 01 00 7A",
      [
        .wellKnown("x", payload: []), .wellKnown("y", id: [0x69], payload: bytes("61626364")),
        .wellKnown("z", payload: []),
      ]
    ),
    ("B5 00 01 61  56 00 01 62", [NDEFRecord(typeNameFormat: .unknown, payload: [0x61, 0x62])]),
    ("B0 00 00  56 00 00", [.empty]),
  ])
  func `well-formed messages are decoded`(hex: String, records: [NDEFRecord]) throws {
    #expect(try NDEFMessage(decoding: bytes(hex)).records == records)
  }

  @Test(arguments: [
    // 2.3.1: at least one record. Only the first has MB, only the last has ME, and no bytes follow.
    ("", NDEFError.Code.noRecords, 0), ("50 00 00", .messageBegin, 0), ("10 00 00", .messageBegin, 0),
    ("90 00 00  D0 00 00", .messageBegin, 3), ("90 00 00", .messageEnd, 3), ("90 00 00  10 00 00", .messageEnd, 6),
    ("D0 00 00  00", .trailingBytes, 3), ("D0 00 00  D0 00 00", .trailingBytes, 3),
    // 3.2.7 to 3.2.12: fields that do not fit.
    ("D1", .truncated, 1), ("D1 01", .truncated, 2), ("C1 01 00 00 00", .truncated, 2), ("D9 01 01", .truncated, 3),
    ("D1 01 00", .truncated, 3), ("D1 02 00 55", .truncated, 3), ("D9 01 00 02 55 69", .truncated, 5),
    ("D1 01 02 55 04", .truncated, 4), ("C1 01 FFFFFFFF 55 04", .truncated, 7), ("C1 01 80000000 55 04", .truncated, 7),
    // 3.2.6: the rules of each type name format for the type, the id and the payload.
    ("D0 01 00 78", .type, 1), ("D0 00 01 78", .payload, 2), ("C0 00 00000100", .payload, 2),
    ("D8 00 00 01 69", .id, 3), ("D1 00 00", .type, 1), ("D2 00 00", .type, 1), ("D3 00 00", .type, 1),
    ("D4 00 01 61", .type, 1), ("D5 01 00 78", .type, 1), ("D7 01 00 78", .type, 1),
    // 2.3.3, 3.2.3: chunks.
    ("D6 00 00", .chunk, 0), ("91 01 00 78  56 00 00", .chunk, 4), ("B1 01 00 78  51 01 00 78", .chunk, 4),
    ("B1 01 00 78  56 01 00 78", .type, 5), ("B1 01 00 78  5E 00 00 01 69", .id, 4),
    ("B1 01 00 78  5E 00 00 00", .id, 4), ("B1 01 00 78  D6 00 00", .messageBegin, 4),
    ("B1 01 00 78  76 00 00", .messageEnd, 4), ("F1 01 00 78", .messageEnd, 0), ("B1 01 00 78", .messageEnd, 4),
    ("B1 01 00 78  36 00 01 61", .messageEnd, 8), ("B1 01 00 78  56 00 02 61", .truncated, 7),
    ("B0 00 00  56 00 01 61", .payload, 5),
  ])
  func `malformed messages are rejected with offset and reason`(hex: String, code: NDEFError.Code, offset: Int) {
    let error = #expect(throws: NDEFError.self) { try NDEFMessage(decoding: bytes(hex)) }
    #expect(error?.code == code, "\(String(describing: error))")
    #expect(error?.offset == offset, "\(String(describing: error))")
  }

  @Test func `a message that is cut off anywhere is rejected`() throws {
    let whole = bytes("99 01 01 01 55 69 04  21 01 00000002 54 0265  16 00 02 6E78  55 00 03 010203")
    #expect(try NDEFMessage(decoding: whole).records.count == 3)
    for length in whole.indices {
      let error = #expect(throws: NDEFError.self) { try NDEFMessage(decoding: Array(whole[..<length])) }
      #expect((error?.offset ?? .max) <= length)
    }
  }

  @Test func `the size of a message is limited`() throws {
    let message = bytes("D5 00 02 0102")
    #expect(try NDEFMessage(decoding: message, limits: NDEFLimits(messageSize: 5)).records.count == 1)
    let error = #expect(throws: NDEFError.self) {
      try NDEFMessage(decoding: message, limits: NDEFLimits(messageSize: 4))
    }
    #expect(error?.code == .limit)
    #expect(error?.offset == 4)
  }

  @Test func `the default size limit is one mebibyte`() throws {
    let header = bytes("C5 00 000FFFFA")
    let message = header + [UInt8](repeating: 0, count: 0xFFFFA)
    #expect(message.count == 1 << 20)
    #expect(try NDEFMessage(decoding: message).records.first?.payload.count == 0xFFFFA)
    let error = #expect(throws: NDEFError.self) { try NDEFMessage(decoding: message + [0]) }
    #expect(error?.code == .limit)
  }

  @Test func `the number of records is limited, and chunks are not counted`() throws {
    let record = bytes("B5 00 00  36 00 00  16 00 00  55 00 00")
    #expect(try NDEFMessage(decoding: record, limits: NDEFLimits(recordCount: 2)).records.count == 2)
    let error = #expect(throws: NDEFError.self) {
      try NDEFMessage(decoding: record, limits: NDEFLimits(recordCount: 1))
    }
    #expect(error?.code == .limit)
    #expect(error?.offset == 9)

    let most = bytes("90 00 00") + Array(repeating: bytes("10 00 00"), count: 1022).joined()
    #expect(try NDEFMessage(decoding: most + bytes("50 00 00")).records.count == 1024)
    #expect(throws: NDEFError.self) { try NDEFMessage(decoding: most + bytes("10 00 00  50 00 00")) }
  }

  /// A mebibyte in chunks of one byte. A copy for each chunk would move a hundred gigabytes.
  @Test(.timeLimit(.minutes(5))) func `many small chunks are decoded in linear time`() throws {
    let chunks = 260_000
    let message = bytes("B5 00 00") + Array(repeating: bytes("36 00 01 AB"), count: chunks).joined() + bytes("56 00 00")
    #expect(try NDEFMessage(decoding: message).records.first?.payload.count == chunks)
  }

  @Test func `an error names the offset and the reason, but not the contents`() {
    let error = #expect(throws: NDEFError.self) { try NDEFMessage(decoding: bytes("D1 01 02 55 04")) }
    #expect(error.map(String.init(describing:)) == "at byte 4: the payload is longer than what is left of the message")
    #expect(error?.code.description == "truncated")
  }
}

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
