/// Decodes one message. Not reusable.
struct MessageDecoder {
  /// A record, and the offset in the message at which its payload begins (for a chunked record: that of its first
  /// chunk).
  struct LocatedRecord {
    var record: NDEFRecord
    let payloadOffset: Int
  }

  private let limits: NDEFLimits
  private var reader: ByteReader
  private var records: [LocatedRecord] = []

  init(_ bytes: [UInt8], limits: NDEFLimits) {
    self.limits = limits
    reader = ByteReader(bytes)
  }

  mutating func decode() throws(NDEFError) -> [LocatedRecord] {
    guard reader.remaining <= limits.messageSize else {
      throw NDEFError(.limit, at: max(0, limits.messageSize), "the message is longer than is accepted")
    }
    guard reader.remaining > 0 else { throw NDEFError(.noRecords, at: 0, "the message has no record") }
    var ended = false
    while !ended { ended = try decodeRecord() }
    guard reader.remaining == 0 else {
      throw NDEFError(.trailingBytes, at: reader.position, "bytes follow the last record of the message")
    }
    return records
  }

  /// Decodes a record with all its chunks. Returns true if the record ends the message.
  private mutating func decodeRecord() throws(NDEFError) -> Bool {
    let start = reader.position
    var header = try readHeader(isFirst: records.isEmpty)
    guard records.count < limits.recordCount else {
      throw NDEFError(.limit, at: start, "the message has more records than are accepted")
    }
    let format = header.typeNameFormat
    guard format != .unchanged else {
      throw NDEFError(.chunk, at: start, "a chunk continues a record that has not begun")
    }
    let typeLength = try readTypeLength(of: format)
    let payloadLength = try readPayloadLength(header, of: format)
    let idLength = header.contains(.idLength) ? try readIDLength(of: format) : 0
    let type = try reader.read(typeLength, "the type")
    let id = try reader.read(idLength, "the id")
    let payloadOffset = reader.position
    var record = NDEFRecord(typeNameFormat: format, type: Array(type), id: Array(id))
    record.payload = Array(try reader.read(payloadLength, "the payload"))
    while header.contains(.chunk) {
      header = try decodeChunk(of: &record)
    }
    records.append(LocatedRecord(record: record, payloadOffset: payloadOffset))
    return header.contains(.messageEnd)
  }

  /// Decodes a middle or terminating chunk (section 2.3.3).
  private mutating func decodeChunk(of record: inout NDEFRecord) throws(NDEFError) -> RecordHeader {
    let start = reader.position
    let header = try readHeader(isFirst: false)
    guard header.typeNameFormat == .unchanged else {
      throw NDEFError(.chunk, at: start, "another record begins before the chunked one has ended")
    }
    guard !header.contains(.idLength) else {
      throw NDEFError(.id, at: start, "a chunk that continues a record has an id of its own")
    }
    _ = try readTypeLength(of: .unchanged)
    let payloadLength = try readPayloadLength(header, of: record.typeNameFormat)
    record.payload += try reader.read(payloadLength, "the payload")
    return header
  }

  private mutating func readHeader(isFirst: Bool) throws(NDEFError) -> RecordHeader {
    let start = reader.position
    guard reader.remaining > 0 else {
      throw NDEFError(.messageEnd, at: start, "no record is marked as the last one of the message")
    }
    let header = RecordHeader(rawValue: try reader.readByte("a record"))
    guard header.contains(.messageBegin) == isFirst else {
      let reason: StaticString =
        isFirst
        ? "the first record is not marked as the beginning of the message"
        : "a record within the message is marked as its beginning"
      throw NDEFError(.messageBegin, at: start, "\(reason)")
    }
    guard !header.isSuperset(of: [.messageEnd, .chunk]) else {
      throw NDEFError(.messageEnd, at: start, "the message ends within a chunked record")
    }
    return header
  }

  private mutating func readTypeLength(of format: TypeNameFormat) throws(NDEFError) -> UInt32 {
    let start = reader.position
    let length = try reader.readByte("the length of the type")
    if let reason = format.typeViolation(length: Int(length)) { throw NDEFError(.type, at: start, reason) }
    return UInt32(length)
  }

  private mutating func readPayloadLength(
    _ header: RecordHeader, of format: TypeNameFormat
  ) throws(NDEFError) -> UInt32 {
    let start = reader.position
    let what: StaticString = "the length of the payload"
    let length = header.contains(.shortRecord) ? UInt32(try reader.readByte(what)) : try reader.readUInt32(what)
    guard format != .empty || length == 0 else {
      throw NDEFError(.payload, at: start, "an empty record has a payload")
    }
    return length
  }

  private mutating func readIDLength(of format: TypeNameFormat) throws(NDEFError) -> UInt32 {
    let start = reader.position
    let length = try reader.readByte("the length of the id")
    guard format != .empty || length == 0 else { throw NDEFError(.id, at: start, "an empty record has an id") }
    return UInt32(length)
  }
}

extension TypeNameFormat {
  /// Why a type must not have this length; nil if it may (section 3.2.6).
  func typeViolation(length: Int) -> String? {
    switch self {
    case .empty: length == 0 ? nil : "an empty record has a type"
    case .unknown: length == 0 ? nil : "a record of unknown type has a type"
    case .unchanged: length == 0 ? nil : "a chunk that continues a record has a type of its own"
    case .wellKnown, .mediaType, .absoluteURI, .external: length > 0 ? nil : "the record has no type"
    }
  }
}

/// The first byte of a record: five flags and the type name format (NDEF 1.0, section 3.2).
struct RecordHeader: OptionSet {
  let rawValue: UInt8

  /// MB: the record is the first of its message.
  static let messageBegin = RecordHeader(rawValue: 0x80)
  /// ME: the record is the last of its message.
  static let messageEnd = RecordHeader(rawValue: 0x40)
  /// CF: the payload continues in the next record.
  static let chunk = RecordHeader(rawValue: 0x20)
  /// SR: the payload length field has one byte instead of four.
  static let shortRecord = RecordHeader(rawValue: 0x10)
  /// IL: the record has an id and an id length field.
  static let idLength = RecordHeader(rawValue: 0x08)

  /// The low three bits. The reserved value 7 means ``TypeNameFormat/unknown`` (section 3.2.6).
  var typeNameFormat: TypeNameFormat { TypeNameFormat(rawValue: rawValue & 0x07) ?? .unknown }
}

/// A read position in a byte array. It never moves past the end.
struct ByteReader {
  let bytes: [UInt8]
  private(set) var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var remaining: Int { bytes.count - position }

  mutating func readByte(_ what: StaticString) throws(NDEFError) -> UInt8 {
    guard position < bytes.count else {
      throw NDEFError(.truncated, at: position, "the message ends where \(what) should be")
    }
    defer { position += 1 }
    return bytes[position]
  }

  /// Four bytes, most significant first.
  mutating func readUInt32(_ what: StaticString) throws(NDEFError) -> UInt32 {
    guard remaining >= 4 else {
      throw NDEFError(.truncated, at: position, "the message ends where \(what) should be")
    }
    defer { position += 4 }
    return bytes[position..<position + 4].reduce(0) { $0 << 8 | UInt32($1) }
  }

  mutating func read(_ count: UInt32, _ what: StaticString) throws(NDEFError) -> ArraySlice<UInt8> {
    // Compared as UInt32, because the length may not fit into an Int on every platform.
    guard count <= UInt32(clamping: remaining) else {
      throw NDEFError(.truncated, at: position, "\(what) is longer than what is left of the message")
    }
    let end = position + Int(count)
    defer { position = end }
    return bytes[position..<end]
  }
}
