/// A URI with a description (NFC Forum Smart Poster Record Type Definition 1.0, type `Sp`).
///
/// Its payload is itself a message.
public struct SmartPosterRecord: Sendable, Hashable {
  /// The URI (section 3.3.1).
  public var uri: String
  /// The titles, at most one per language (section 3.3.2).
  public var titles: [TextRecord]
  /// The action for the URI; nil if the poster does not specify one (section 3.3.3).
  public var action: Action?
  /// Icons: records of a media type `image/…` or `video/…`. A reader device shows one of them (section 3.3.4).
  public var icons: [NDEFRecord]
  /// The size of the URI's target, in bytes (section 3.3.5).
  public var size: UInt32?
  /// The media type of the URI's target (section 3.3.6).
  public var mediaType: String?
  /// Records that the definition does not specify, in order.
  public var others: [NDEFRecord]

  /// Makes a view of a Smart Poster.
  ///
  /// - Parameters:
  ///   - uri: The URI.
  ///   - titles: The titles, at most one per language.
  ///   - action: The action for the URI; nil to specify none.
  ///   - icons: Records of a media type `image/…` or `video/…`.
  ///   - size: The size of the URI's target, in bytes.
  ///   - mediaType: The media type of the URI's target.
  ///   - others: Records that the definition does not specify.
  public init(
    uri: String, titles: [TextRecord] = [], action: Action? = nil, icons: [NDEFRecord] = [], size: UInt32? = nil,
    mediaType: String? = nil, others: [NDEFRecord] = []
  ) {
    self.uri = uri
    self.titles = titles
    self.action = action
    self.icons = icons
    self.size = size
    self.mediaType = mediaType
    self.others = others
  }

  /// Reads a Smart Poster.
  ///
  /// - Parameters:
  ///   - record: A record of the well-known type `Sp`.
  ///   - limits: The limits of the decoder. Nested posters are decoded as well, at most ``NDEFLimits/nesting`` levels
  ///     deep. An
  ///     accepted poster is therefore well-formed at every level.
  /// - Throws: ``NDEFError`` if the record has another type, its payload is not a message, or it does not hold exactly
  ///   one URI. Also if a record that may occur once occurs twice, or a record has the wrong form. The offset is in the
  ///   payload. If the record was chunked, the offset is counted without the headers of the chunks.
  public init(_ record: NDEFRecord, limits: NDEFLimits = .default) throws(NDEFError) {
    guard record.isWellKnown(Self.type) else {
      throw NDEFError(.wrongType, at: 0, "the record is not a Smart Poster")
    }
    guard limits.nesting > 0 else { throw NDEFError(.limit, at: 0, "messages are nested deeper than is accepted") }
    var inner = limits
    inner.nesting -= 1
    var decoder = MessageDecoder(record.payload, limits: limits)
    var contents = SmartPosterContents(limits: inner)
    for located in try decoder.decode() {
      do { try contents.add(located.record) } catch { throw error.shifted(by: located.payloadOffset) }
    }
    guard let uri = contents.uri else {
      throw NDEFError(.nestedRecord, at: record.payload.count, "the Smart Poster has no URI")
    }
    self.init(
      uri: uri, titles: contents.titles, action: contents.action, icons: contents.icons, size: contents.size,
      mediaType: contents.mediaType, others: contents.others)
  }

  /// Makes a record from this view.
  ///
  /// - Parameter id: The record's identifier within its message; empty for none.
  /// - Returns: The record.
  /// - Throws: ``NDEFError`` if the record could not be read again. Examples are a title without a language, two titles
  ///   in the same language, and an icon that is not a picture. The offset is in the payload.
  public func record(id: [UInt8] = []) throws(NDEFError) -> NDEFRecord {
    var records = [URIRecord(uri).record()]
    for title in titles { records.append(try title.record()) }
    if let action { records.append(.wellKnown(Action.type, payload: [action.rawValue])) }
    records += icons
    if let size {
      let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: size >> $0) }
      records.append(.wellKnown(SmartPosterContents.sizeType, payload: bytes))
    }
    if let mediaType {
      records.append(.wellKnown(SmartPosterContents.mediaTypeType, payload: Array(mediaType.utf8)))
    }
    records += others
    let payload = try NDEFMessage(records: records).encoded()
    let record = NDEFRecord.wellKnown(Self.type, id: id, payload: payload)
    let readBack = try SmartPosterRecord(record, limits: NDEFLimits(messageSize: .max, recordCount: .max))
    guard readBack == self else {
      throw NDEFError(.nestedRecord, at: 0, "an icon or another record is not of the kind it is given as")
    }
    return record
  }
}

extension SmartPosterRecord {
  /// The well-known type of Smart Posters.
  public static let type = "Sp"

  /// The action that the poster requests for its URI (section 3.3.3). Other values are reserved.
  public struct Action: RawRepresentable, Sendable, Hashable {
    /// The byte on the tag.
    public let rawValue: UInt8

    /// Makes an action.
    ///
    /// - Parameter rawValue: The byte on the tag.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Perform the action: open the page, send the message, make the call.
    public static let open = Action(rawValue: 0)
    /// Save the URI for later: as a bookmark, in the inbox, in the address book.
    public static let save = Action(rawValue: 1)
    /// Open the URI for editing.
    public static let edit = Action(rawValue: 2)

    /// The well-known type of action records. It exists in Smart Posters only.
    static let type = "act"
  }

  /// The title in the most preferred available language. Languages are matched as in ``Swift/Sequence/preferred(in:)``.
  ///
  /// - Parameter languages: Language codes of RFC 4646, most preferred first; case-insensitive.
  /// - Returns: The matching title; the first title if none matches; nil if there is no title.
  public func title(inPreferred languages: [String]) -> TextRecord? { titles.preferred(in: languages) }
}

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
