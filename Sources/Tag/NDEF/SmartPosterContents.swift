/// The records of a Smart Poster, sorted by kind as they are read (Smart Poster RTD 1.0, section 3.3).
struct SmartPosterContents {
  /// The well-known type of the size record: the size of the URI's target. It exists in Smart Posters only.
  static let sizeType = "s"
  /// The well-known type of the type record: the media type of the URI's target. It exists in Smart Posters only.
  static let mediaTypeType = "t"

  let limits: NDEFLimits
  private(set) var uri: String?
  private(set) var titles: [TextRecord] = []
  private(set) var action: SmartPosterRecord.Action?
  private(set) var icons: [NDEFRecord] = []
  private(set) var size: UInt32?
  private(set) var mediaType: String?
  private(set) var others: [NDEFRecord] = []
  private var languages: Set<String> = []

  init(limits: NDEFLimits) { self.limits = limits }

  /// Adds the next record. The offset of an error is in this record's payload.
  mutating func add(_ record: NDEFRecord) throws(NDEFError) {
    if record.isWellKnown(URIRecord.type) {
      try requireFirst(uri, "URI")
      uri = try URIRecord(record).uri
    } else if record.isWellKnown(TextRecord.type) {
      let title = try TextRecord(record)
      guard languages.insert(title.language.lowercased()).inserted else {
        throw NDEFError(.nestedRecord, at: 0, "the Smart Poster has two titles in the same language")
      }
      titles.append(title)
    } else if record.isWellKnown(SmartPosterRecord.Action.type) {
      try requireFirst(action, "action")
      try requireLength(1, of: record, "the action does not have 1 byte")
      action = record.payload.first.map(SmartPosterRecord.Action.init(rawValue:))
    } else if record.isWellKnown(Self.sizeType) {
      try requireFirst(size, "size")
      try requireLength(4, of: record, "the size does not have 4 bytes")
      size = record.payload.reduce(0) { $0 << 8 | UInt32($1) }
    } else if record.isWellKnown(Self.mediaTypeType) {
      try requireFirst(mediaType, "media type")
      mediaType = try String(utf8: record.payload, from: 0)
    } else if record.isPicture {
      icons.append(record)
    } else {
      if record.isWellKnown(SmartPosterRecord.type) { _ = try SmartPosterRecord(record, limits: limits) }
      others.append(record)
    }
  }

  private func requireFirst<Value>(_ present: Value?, _ what: StaticString) throws(NDEFError) {
    guard present == nil else {
      throw NDEFError(.nestedRecord, at: 0, "the Smart Poster has a second \(what)")
    }
  }

  private func requireLength(_ length: Int, of record: NDEFRecord, _ reason: String) throws(NDEFError) {
    guard record.payload.count == length else { throw NDEFError(.nestedRecord, at: 0, reason) }
  }
}

extension NDEFRecord {
  /// Whether the record is a still or moving picture. Media types ignore case (RFC 2045, section 5.1).
  fileprivate var isPicture: Bool {
    guard typeNameFormat == .mediaType else { return false }
    let kind = String(decoding: type.prefix(6), as: UTF8.self).lowercased()
    return kind == "image/" || kind == "video/"
  }
}
