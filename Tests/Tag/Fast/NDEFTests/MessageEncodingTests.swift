import NDEF
import Testing

@Suite struct MessageEncodingTests {
  @Test(arguments: [
    ("D0 00 00", NDEFMessage.empty),
    ("D1 01 0C 55 04 6578616D706C652E636F6D", .uri("https://example.com")),
    (
      "99 01 00 01 78 69  12 01 01 6D FF  55 00 00",
      NDEFMessage(records: [
        .wellKnown("x", id: [0x69], payload: []),
        NDEFRecord(typeNameFormat: .mediaType, type: [0x6D], payload: [0xFF]),
        NDEFRecord(typeNameFormat: .unknown),
      ])
    ),
  ])
  func `messages are encoded in the fewest bytes`(hex: String, message: NDEFMessage) throws {
    #expect(try message.encoded() == bytes(hex))
  }

  @Test(arguments: [(255, "D5 00 FF"), (256, "C5 00 00000100"), (65_536, "C5 00 00010000")])
  func `a payload of up to 255 bytes is encoded as a short record`(length: Int, header: String) throws {
    let payload = [UInt8](repeating: 0xAB, count: length)
    let message = NDEFMessage(records: [NDEFRecord(typeNameFormat: .unknown, payload: payload)])
    #expect(try message.encoded() == bytes(header) + payload)
  }

  @Test func `short records can be turned off`() throws {
    let encoded = try NDEFMessage.uri("tel:1").encoded(NDEFEncodingOptions(shortRecords: false))
    #expect(encoded == bytes("C1 01 00000002 55 05 31"))
  }

  @Test(arguments: [
    (1, "B9 01 01 01 78 69 61  36 00 01 62  56 00 01 63"),
    (2, "B9 01 02 01 78 69 6162  56 00 01 63"),
    (3, "D9 01 03 01 78 69 616263"),
    (0, "B9 01 01 01 78 69 61  36 00 01 62  56 00 01 63"),
    (-1, "B9 01 01 01 78 69 61  36 00 01 62  56 00 01 63"),
  ])
  func `a long record is split into chunks`(size: Int, hex: String) throws {
    let message = NDEFMessage(records: [.wellKnown("x", id: [0x69], payload: bytes("616263"))])
    #expect(try message.encoded(NDEFEncodingOptions(chunkSize: size)) == bytes(hex))
  }

  @Test func `only the last chunk of the last record ends the message`() throws {
    let record = NDEFRecord(typeNameFormat: .unknown, payload: [0x61, 0x62])
    let encoded = try NDEFMessage(records: [record, record]).encoded(NDEFEncodingOptions(chunkSize: 1))
    #expect(encoded == bytes("B5 00 01 61  16 00 01 62  35 00 01 61  56 00 01 62"))
  }

  @Test(arguments: [
    (NDEFRecord(typeNameFormat: .empty, type: [0x78]), NDEFError.Code.type),
    (NDEFRecord(typeNameFormat: .empty, id: [0x69]), .id),
    (NDEFRecord(typeNameFormat: .empty, payload: [0x00]), .payload),
    (NDEFRecord(typeNameFormat: .unknown, type: [0x78]), .type),
    (NDEFRecord(typeNameFormat: .wellKnown), .type),
    (NDEFRecord(typeNameFormat: .mediaType), .type),
    (NDEFRecord(typeNameFormat: .absoluteURI), .type),
    (NDEFRecord(typeNameFormat: .external), .type),
    (NDEFRecord(typeNameFormat: .unchanged), .chunk),
    (NDEFRecord(typeNameFormat: .wellKnown, type: [UInt8](repeating: 0x78, count: 256)), .type),
    (NDEFRecord(typeNameFormat: .unknown, id: [UInt8](repeating: 0x69, count: 256)), .id),
  ])
  func `an invalid record is not encoded`(record: NDEFRecord, code: NDEFError.Code) {
    let error = #expect(throws: NDEFError.self) { try NDEFMessage(records: [.empty, record]).encoded() }
    #expect(error?.code == code)
    #expect(error?.offset == 3)
  }

  @Test func `a message without records is not encoded`() {
    let error = #expect(throws: NDEFError.self) { try NDEFMessage(records: []).encoded() }
    #expect(error?.code == .noRecords)
  }

  @Test func `the longest type and id can be encoded`() throws {
    let longest = [UInt8](repeating: 0x78, count: 255)
    let message = NDEFMessage(records: [NDEFRecord(typeNameFormat: .external, type: longest, id: longest)])
    #expect(try NDEFMessage(decoding: message.encoded()) == message)
  }
}
