import NDEF

/// What is stored on a tag, as an NDEF message.
enum MessageRedaction {
  /// The fewest characters of a link or text that are searched for.
  private static let shortestText = 4

  /// A message of the same form: the same records, and in their payloads the same punctuation. Undecodable bytes become
  /// zeros.
  static func redact(_ bytes: [UInt8]) -> [UInt8] {
    guard let message = try? NDEFMessage(decoding: bytes) else { return [UInt8](repeating: 0, count: bytes.count) }
    var redacted = message
    for index in message.records.indices {
      let record = message.records[index]
      redacted.records[index].id = record.id.map(masked)
      if record.typeNameFormat == .external { redacted.records[index].type = record.type.map(masked) }
      redacted.records[index].payload = payload(of: record)
    }
    let encoded = try? redacted.encoded()
    return encoded.flatMap { $0.count == bytes.count ? $0 : nil } ?? [UInt8](repeating: 0, count: bytes.count)
  }

  private static func payload(of record: NDEFRecord) -> [UInt8] {
    // The code of a link's beginning, and the status byte with the language of a text (NFC Forum URI 3.2.2, Text 3.2.1).
    let kept: Int
    switch (record.typeNameFormat, record.type) {
    case (.wellKnown, Array("U".utf8)): kept = 1
    case (.wellKnown, Array("T".utf8)): kept = 1 + Int((record.payload.first ?? 0) & 0x3F)
    case (.wellKnown, Array("Sp".utf8)): return redact(record.payload)
    default: return [UInt8](repeating: 0x78, count: record.payload.count)
    }
    return record.payload.prefix(kept) + record.payload.dropFirst(kept).map(masked)
  }

  /// A letter becomes x and a digit 0. Punctuation of ASCII stays.
  private static func masked(_ byte: UInt8) -> UInt8 {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt8(ascii: "0")
    case 0x20...0x2F, 0x3A...0x40, 0x5B...0x60, 0x7B...0x7E: byte
    default: UInt8(ascii: "x")
    }
  }

  /// The links and the lines of the texts. A link is without the beginning that its code stands for.
  static func texts(in bytes: [UInt8]) -> [String] {
    guard let message = try? NDEFMessage(decoding: bytes) else { return [] }
    return message.records.flatMap { record -> [String] in
      guard record.typeNameFormat == .wellKnown else { return [] }
      return switch record.type {
      case Array("U".utf8): [String(decoding: record.payload.dropFirst(), as: UTF8.self)]
      case Array("T".utf8): (try? TextRecord(record))?.text.split(whereSeparator: \.isNewline).map(String.init) ?? []
      case Array("Sp".utf8): texts(in: record.payload)
      default: []
      }
    }.filter { $0.count >= shortestText }
  }
}
