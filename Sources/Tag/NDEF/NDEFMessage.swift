/// A message: an ordered list of one or more records (NDEF 1.0, section 2.3.1).
public struct NDEFMessage: Sendable, Hashable {
  /// The records. A message without records cannot be encoded.
  public var records: [NDEFRecord]

  /// Makes a message.
  ///
  /// - Parameter records: The records, at least one.
  public init(records: [NDEFRecord]) {
    self.records = records
  }
}

extension NDEFMessage {
  /// The message of one empty record. A formatted tag holds it, and an app receives it if it was opened without a tag.
  public static let empty = NDEFMessage(records: [.empty])

  /// Makes a message of one URI record.
  ///
  /// - Parameter uri: The URI, such as `https://example.com/menu`.
  /// - Returns: The message.
  public static func uri(_ uri: String) -> NDEFMessage {
    NDEFMessage(records: [URIRecord(uri).record()])
  }
}

extension NDEFMessage {
  /// Decodes a message (NDEF 1.0, section 3).
  ///
  /// Chunked records are reassembled. A record with the reserved type name format is decoded as one of unknown type.
  /// The bytes have to be exactly one message.
  ///
  /// - Parameters:
  ///   - bytes: The encoded message.
  ///   - limits: The limits of the decoder.
  /// - Throws: ``NDEFError``. Its offset is the position in `bytes` of the invalid field.
  public init(decoding bytes: [UInt8], limits: NDEFLimits = .default) throws(NDEFError) {
    var decoder = MessageDecoder(bytes, limits: limits)
    self.init(records: try decoder.decode().map(\.record))
  }

  /// Encodes the message (NDEF 1.0, section 3) in as few bytes as possible, unless the options say otherwise.
  ///
  /// - Parameter options: The choices that the specification leaves to the encoder.
  /// - Returns: The encoded message.
  /// - Throws: ``NDEFError`` if there is no record, or if a record breaks the rules of its type name format.
  public func encoded(_ options: NDEFEncodingOptions = .default) throws(NDEFError) -> [UInt8] {
    var encoder = MessageEncoder(options: options)
    try encoder.encode(self)
    return encoder.output
  }
}

/// The choices that the specification leaves to the encoder.
public struct NDEFEncodingOptions: Sendable, Hashable {
  /// Whether payloads of less than 256 bytes are written as short records (NDEF 1.0, section 3.2.4).
  public var shortRecords: Bool
  /// The chunk size in bytes; nil for no chunks. A record with a longer payload is split into chunks of this size (NDEF
  /// 1.0, section 2.3.3). Many readers do not support chunks, and the specifications of most tag types forbid them.
  public var chunkSize: Int?

  /// Short records, no chunks.
  public static let `default` = NDEFEncodingOptions()

  /// Makes options.
  ///
  /// - Parameters:
  ///   - shortRecords: Whether short payloads are written as short records.
  ///   - chunkSize: The payload length in bytes above which a record is split; values below 1 are treated as 1.
  public init(shortRecords: Bool = true, chunkSize: Int? = nil) {
    self.shortRecords = shortRecords
    self.chunkSize = chunkSize
  }
}

/// The limits of a decoder.
///
/// Anyone can write a tag, so these limits bound the cost of decoding in advance.
public struct NDEFLimits: Sendable, Hashable {
  /// The maximum length of an encoded message, in bytes.
  public var messageSize: Int
  /// The maximum number of records in one message. All chunks of a record together are one record.
  public var recordCount: Int
  /// The maximum nesting of messages in payloads. 0 allows none, 1 a Smart Poster, 2 a Smart Poster within a Smart
  /// Poster.
  public var nesting: Int

  /// 1 MiB, 1,024 records, 4 levels.
  public static let `default` = NDEFLimits()

  /// Makes limits.
  ///
  /// - Parameters:
  ///   - messageSize: The maximum length of an encoded message, in bytes.
  ///   - recordCount: The maximum number of records in one message.
  ///   - nesting: The maximum nesting of messages in payloads.
  public init(messageSize: Int = 1 << 20, recordCount: Int = 1024, nesting: Int = 4) {
    self.messageSize = messageSize
    self.recordCount = recordCount
    self.nesting = nesting
  }
}

/// Encodes one message. Not reusable.
struct MessageEncoder {
  let options: NDEFEncodingOptions
  private(set) var output: [UInt8] = []

  init(options: NDEFEncodingOptions) { self.options = options }

  mutating func encode(_ message: NDEFMessage) throws(NDEFError) {
    guard let last = message.records.indices.last else {
      throw NDEFError(.noRecords, at: 0, "the message has no record")
    }
    for (index, record) in message.records.enumerated() {
      try check(record)
      var header: RecordHeader = []
      if index == message.records.startIndex { header.insert(.messageBegin) }
      if index == last { header.insert(.messageEnd) }
      append(record, header)
    }
  }

  private func check(_ record: NDEFRecord) throws(NDEFError) {
    let format = record.typeNameFormat
    func fail(_ code: NDEFError.Code, _ reason: String) -> NDEFError { NDEFError(code, at: output.count, reason) }
    guard format != .unchanged else { throw fail(.chunk, "a chunk continues a record that has not begun") }
    if let reason = format.typeViolation(length: record.type.count) { throw fail(.type, reason) }
    guard record.type.count <= 255 else { throw fail(.type, "the type is longer than 255 bytes") }
    guard record.id.count <= 255 else { throw fail(.id, "the id is longer than 255 bytes") }
    guard UInt32(exactly: record.payload.count) != nil else {
      throw fail(.payload, "the payload is longer than a record can hold")
    }
    if format == .empty {
      guard record.id.isEmpty else { throw fail(.id, "an empty record has an id") }
      guard record.payload.isEmpty else { throw fail(.payload, "an empty record has a payload") }
    }
  }

  /// Appends a record, in chunks if its payload is longer than the chunk size. `position` holds the record's MB and ME.
  private mutating func append(_ record: NDEFRecord, _ position: RecordHeader) {
    let size = options.chunkSize.map { max(1, $0) } ?? record.payload.count
    var header = position.subtracting(.messageEnd)
    var format = record.typeNameFormat
    var type = record.type
    var id = record.id
    var rest = record.payload[...]
    while rest.count > size {
      append(header.union(.chunk), format, type, id, rest.prefix(size))
      rest = rest.dropFirst(size)
      (header, format, type, id) = ([], .unchanged, [], [])
    }
    append(header.union(position.intersection(.messageEnd)), format, type, id, rest)
  }

  private mutating func append(
    _ flags: RecordHeader, _ format: TypeNameFormat, _ type: [UInt8], _ id: [UInt8], _ payload: ArraySlice<UInt8>
  ) {
    var header = flags
    let isShort = options.shortRecords && payload.count <= 255
    if isShort { header.insert(.shortRecord) }
    if !id.isEmpty { header.insert(.idLength) }
    output.append(header.rawValue | format.rawValue)
    output.append(UInt8(truncatingIfNeeded: type.count))
    let length = UInt32(truncatingIfNeeded: payload.count)
    for shift in isShort ? [0] : [24, 16, 8, 0] { output.append(UInt8(truncatingIfNeeded: length >> shift)) }
    if !id.isEmpty { output.append(UInt8(truncatingIfNeeded: id.count)) }
    output += type
    output += id
    output += payload
  }
}
