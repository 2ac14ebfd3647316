/// A URI with what is to be said about it (NFC Forum Smart Poster Record Type Definition 1.0, type `Sp`).
///
/// Its payload is a message of its own.
public struct SmartPosterRecord: Sendable, Hashable {
  /// The URI (section 3.3.1).
  public var uri: String
  /// What to call it, at most once a language (section 3.3.2).
  public var titles: [TextRecord]
  /// What to do with it; nil leaves that to the reader (section 3.3.3).
  public var action: Action?
  /// Pictures of it, records of a media type `image/…` or `video/…`; a reader shows one (section 3.3.4).
  public var icons: [NDEFRecord]
  /// How long what the URI refers to is, in bytes (section 3.3.5).
  public var size: UInt32?
  /// The media type of what the URI refers to (section 3.3.6).
  public var mediaType: String?
  /// Records that the definition does not know, in order.
  public var others: [NDEFRecord]

  /// Makes a view of a Smart Poster.
  ///
  /// - Parameters:
  ///   - uri: The URI.
  ///   - titles: What to call it, at most once a language.
  ///   - action: What to do with it; nil leaves that to the reader.
  ///   - icons: Pictures of it, records of a media type `image/…` or `video/…`.
  ///   - size: How long what the URI refers to is, in bytes.
  ///   - mediaType: The media type of what the URI refers to.
  ///   - others: Records that the definition does not know.
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
  ///   - limits: What to accept at most. Posters within the poster are read as well, so that what is accepted is well-formed all
  ///     the way down, and no deeper than ``NDEFLimits/nesting``.
  /// - Throws: ``NDEFError``: the record is of another type, its payload is not a message, there is not exactly one URI, or
  ///   there is a second record of a kind of which there may be one. The offset is in the payload; within a record that is
  ///   chunked, it is counted as if the chunks followed each other without headers.
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

  /// Makes a record of it.
  ///
  /// - Parameter id: The record's identifier within its message; empty for none.
  /// - Returns: The record.
  /// - Throws: ``NDEFError`` if the record could not be read again: a title without a language or two in the same one, an icon
  ///   that is not one, or another record that breaks the rules. The offset is in the payload.
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

  /// What the reader is asked to do with the URI (section 3.3.3). Values that are not named here are reserved.
  public struct Action: RawRepresentable, Sendable, Hashable {
    /// The byte on the tag.
    public let rawValue: UInt8

    /// Makes an action.
    ///
    /// - Parameter rawValue: The byte on the tag.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Do it: open the page, send the message, make the call.
    public static let open = Action(rawValue: 0)
    /// Save it for later: as a bookmark, in the inbox, in the address book.
    public static let save = Action(rawValue: 1)
    /// Open it for editing.
    public static let edit = Action(rawValue: 2)

    /// The well-known type of action records, which exist in Smart Posters only.
    static let type = "act"
  }

  /// The title in the first of the languages in which there is one, or in a variant of it, as ``Swift/Sequence/preferred(in:)`` matches them.
  ///
  /// - Parameter languages: Codes of RFC 4646, the preferred one first; case does not count.
  /// - Returns: The title; where there is none in these languages the first title; nil where there is no title.
  public func title(inPreferred languages: [String]) -> TextRecord? { titles.preferred(in: languages) }
}
