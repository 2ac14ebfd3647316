import NDEF
import Rig
import Testing

@Suite struct MessageEncodingTests {
  @Test(arguments: [
    ("D0 00 00", NDEFMessage.empty), ("D1 01 0C 55 04 6578616D706C652E636F6D", .uri("https://example.com")),
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
    (1, "B9 01 01 01 78 69 61  36 00 01 62  56 00 01 63"), (2, "B9 01 02 01 78 69 6162  56 00 01 63"),
    (3, "D9 01 03 01 78 69 616263"), (0, "B9 01 01 01 78 69 61  36 00 01 62  56 00 01 63"),
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
    (NDEFRecord(typeNameFormat: .unknown, type: [0x78]), .type), (NDEFRecord(typeNameFormat: .wellKnown), .type),
    (NDEFRecord(typeNameFormat: .mediaType), .type), (NDEFRecord(typeNameFormat: .absoluteURI), .type),
    (NDEFRecord(typeNameFormat: .external), .type), (NDEFRecord(typeNameFormat: .unchanged), .chunk),
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

/// Properties of every message, tested with random messages. A failure names its seed.
@Suite struct RoundTripTests {
  static let seeds = UInt64(0)..<200

  @Test(arguments: seeds) func `a message is the same after encoding and decoding`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let message = randomMessage(using: &random)
    for options in [
      .default, NDEFEncodingOptions(shortRecords: false), NDEFEncodingOptions(chunkSize: 1 + Int(random.next() % 300)),
      NDEFEncodingOptions(shortRecords: false, chunkSize: 64),
    ] {
      #expect(try NDEFMessage(decoding: message.encoded(options)) == message)
    }
  }

  @Test(arguments: seeds) func `the default encoding is the shortest`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let message = randomMessage(using: &random)
    let shortest = try message.encoded().count
    #expect(try message.encoded(NDEFEncodingOptions(shortRecords: false)).count >= shortest)
    #expect(try message.encoded(NDEFEncodingOptions(chunkSize: 16)).count >= shortest)
  }

  /// Damaged bytes decode to a message that survives another round trip, or are rejected at an offset within them.
  @Test(arguments: seeds) func `damaged bytes are decoded or rejected`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let original = try randomMessage(using: &random).encoded()
    for _ in 0..<40 {
      let damaged = damage(original, using: &random)
      let message: NDEFMessage
      do {
        message = try NDEFMessage(decoding: damaged)
      } catch {
        #expect((0...damaged.count).contains(error.offset), "\(error) in \(damaged)")
        continue
      }
      #expect(try NDEFMessage(decoding: message.encoded()) == message)
      #expect(try message.encoded().count <= damaged.count)
      for record in message.records { try checkViews(of: record) }
    }
  }

  @Test(arguments: seeds) func `random payloads are decoded or rejected`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for type in ["U", "T", "Sp"] {
      try checkViews(of: .wellKnown(type, payload: randomBytes(Int(random.next() % 40), using: &random)))
    }
  }

  /// A view that is written as a record and read back is unchanged. A text without a language is not written.
  private func checkViews(of record: NDEFRecord) throws {
    if let uri = try? URIRecord(record) { #expect(try URIRecord(uri.record()) == uri) }
    if let text = try? TextRecord(record), !text.language.isEmpty { #expect(try TextRecord(text.record()) == text) }
    if let poster = try? SmartPosterRecord(record), poster.titles.allSatisfy({ !$0.language.isEmpty }) {
      #expect(try SmartPosterRecord(poster.record()) == poster)
    }
  }

  private func randomMessage(using random: inout SeededGenerator) -> NDEFMessage {
    NDEFMessage(records: (0...Int(random.next() % 5)).map { _ in randomRecord(using: &random) })
  }

  private func randomRecord(using random: inout SeededGenerator) -> NDEFRecord {
    let format = TypeNameFormat(rawValue: UInt8(random.next() % 6)) ?? .unknown
    guard format != .empty else { return .empty }
    let lengths = [0, 1, 2, 17, 254, 255, 256, 257, 3000]
    let payload = randomBytes(lengths[Int(random.next() % 9)], using: &random)
    let known = [URIRecord.type, TextRecord.type, SmartPosterRecord.type]
    if format == .wellKnown { return .wellKnown(known[Int(random.next() % 3)], payload: payload) }
    return NDEFRecord(
      typeNameFormat: format,
      type: format == .unknown ? [] : randomBytes(1 + Int(random.next() % 255), using: &random),
      id: random.next() % 2 == 0 ? [] : randomBytes(Int(random.next() % 256), using: &random),
      payload: payload)
  }

  private func randomBytes(_ count: Int, using random: inout SeededGenerator) -> [UInt8] {
    (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
  }

  private func damage(_ bytes: [UInt8], using random: inout SeededGenerator) -> [UInt8] {
    var damaged = bytes
    // Half of the damage is in the first bytes, because most rules are about the header.
    let reach = random.next() % 2 == 0 ? min(8, damaged.count) : damaged.count
    let place = Int(random.next() % UInt64(max(1, reach)))
    switch random.next() % 4 {
    case 0: damaged[place] ^= 1 << UInt8(random.next() % 8)
    case 1: damaged[place] = UInt8(truncatingIfNeeded: random.next())
    case 2: damaged.removeSubrange(place...)
    default: damaged.insert(UInt8(truncatingIfNeeded: random.next()), at: place)
    }
    return damaged
  }
}

/// Bytes from hexadecimal digits. Spaces and line breaks are ignored.
func bytes(_ hex: String) -> [UInt8] {
  let digits = hex.compactMap(\.hexDigitValue)
  precondition(digits.count % 2 == 0, "odd number of digits: \(hex)")
  return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

/// Bytes as hexadecimal digits.
func hex(_ bytes: [UInt8]) -> String {
  bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
}
