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
