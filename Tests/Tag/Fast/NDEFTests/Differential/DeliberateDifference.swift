import NDEF

/// An intended difference from ndeflib.
struct DeliberateDifference: Sendable {
  let name: String
  let reason: String
  let explains: @Sendable (Disagreement) -> Bool

  static let all = messages + types + views + posters

  private static let messages = [
    DeliberateDifference(
      name: "no records",
      reason: "A message has at least one record (NDEF 1.0, 2.3.1). ndeflib decodes no bytes as no records."
    ) {
      guard case .refusedByUs(let bytes, let error, let theirs) = $0 else { return false }
      return error.code == .noRecords && bytes.isEmpty && theirs.isEmpty
    },
    DeliberateDifference(
      name: "trailing bytes",
      reason: "ndeflib reads from streams and stops at ME. A tag states the length of its message. We use all of it."
    ) {
      switch $0 {
      case .refusedByUs(let bytes, let error, let theirs):
        guard error.code == .trailingBytes else { return false }
        let whole = try? NDEFMessage(decoding: Array(bytes[..<error.offset]))
        return whole.map { $0.records.count <= theirs.count } ?? false
      case .viewRefusedByUs(_, let error): return error.code == .trailingBytes
      default: return false
      }
    },
    DeliberateDifference(
      name: "chunks reassembled", reason: "ndeflib returns each chunk as a separate record. We reassemble them (2.3.3)."
    ) {
      guard case .records(let ours, let theirs) = $0 else { return false }
      var payloads: [[UInt8]] = []
      for record in theirs {
        if record.type == "unchanged", let last = payloads.indices.last {
          payloads[last] += record.payload.bytes
        } else {
          payloads.append(record.payload.bytes)
        }
      }
      return theirs.contains { $0.type == "unchanged" } && ours.records.map(\.payload) == payloads
    },
    DeliberateDifference(
      name: "chunks in order",
      reason:
        "ndeflib does not enforce the rules for chunks: none without a first, none missing, none with an id (2.3.3)."
    ) {
      guard case .refusedByUs(_, let error, let theirs) = $0 else { return false }
      return error.code == .chunk || theirs.contains { $0.type == "unchanged" }
    },
    DeliberateDifference(
      name: "reserved type name format",
      reason: "The value 7 is treated as unknown, as the specification advises (3.2.6). ndeflib rejects it."
    ) {
      switch $0 {
      case .refusedByThem(let ours, let error):
        error.contains("TNF field value") && ours.records.contains { $0.typeNameFormat == .unknown }
      case .viewRefusedByThem(_, let error): error.contains("TNF field value")
      default: false
      }
    },
  ]

  private static let types = [
    DeliberateDifference(
      name: "type in ASCII",
      reason: "ndeflib stores types as strings. We store bytes, and interpret only types that we know."
    ) {
      switch $0 {
      case .refusedByThem(let ours, let error):
        error.contains("'ascii' codec") && ours.records.contains { $0.type.contains { $0 > 0x7F } }
      case .viewRefusedByThem(let record, let error):
        error.contains("'ascii' codec") && record.payload.contains { $0 > 0x7F }
      default: false
      }
    },
    DeliberateDifference(
      name: "grammar of types",
      reason:
        "ndeflib requires a slash in media types and an authority in absolute URIs. We read messages without them too."
    ) {
      switch $0 {
      case .refusedByThem(let ours, let error):
        error.contains("can not convert the record type string") && ours.records.contains { $0.hasURIOrMediaType }
      case .viewRefusedByThem(_, let error): error.contains("can not convert the record type string")
      default: false
      }
    },
    DeliberateDifference(
      name: "type name format kept",
      reason: "ndeflib derives the type name format from the type, so a URI that looks like a media type changes it."
    ) {
      guard case .encoding(let ours, let theirs) = $0 else { return false }
      let again = try? NDEFMessage(decoding: theirs)
      let formats = again?.records.map(\.typeNameFormat)
      return formats != ours.records.map(\.typeNameFormat) && ours.records.contains { $0.hasURIOrMediaType }
    },
  ]

  private static let views = [
    DeliberateDifference(
      name: "reserved identifier code",
      reason: "A reserved code of a URI record adds no prefix (RTD-URI 1.0, 3.2.2). ndeflib rejects it."
    ) {
      guard case .viewRefusedByThem(_, let error) = $0 else { return false }
      return error.contains("decoding of URI identifier")
    },
    DeliberateDifference(
      name: "control characters in URIs",
      reason:
        "The codec returns the URI unchanged. The code that opens a URI parses it strictly and rejects them."
    ) {
      guard case .viewRefusedByThem(_, let error) = $0 else { return false }
      return error.contains("URI field contains invalid characters")
    },
    DeliberateDifference(
      name: "UTF-16 without byte order mark",
      reason: "It is big-endian (RTD-Text 1.0, 3.4). ndeflib uses the byte order of the machine."
    ) {
      switch $0 {
      case .view(let record, _), .viewRefusedByThem(let record, _), .viewRefusedByUs(let record, _):
        record.hasUTF16WithoutMark
      default: false
      }
    },
    DeliberateDifference(
      name: "UTF-16 written big-endian", reason: "ndeflib writes in the byte order of the machine. Both write a mark."
    ) {
      guard case .viewEncoding(let record, let theirs) = $0 else { return false }
      let again = NDEFRecord(typeNameFormat: .wellKnown, type: record.type, payload: theirs)
      let isUTF16 = record.texts.contains { $0.payload.first.map { $0 & 0x80 != 0 } ?? false }
      let isSameText = (try? TextRecord(again)).map { (try? TextRecord(record)) == $0 }
      let isSamePoster = (try? SmartPosterRecord(again)).map { (try? SmartPosterRecord(record)) == $0 }
      return isUTF16 && (isSameText ?? isSamePoster ?? false)
    },
  ]

  private static let posters = [
    DeliberateDifference(
      name: "Smart Poster with two of a kind",
      reason:
        "A poster has one action, size and media type, and a title per language (3.3). ndeflib uses the first or last."
    ) {
      guard case .viewRefusedByUs(let record, let error) = $0 else { return false }
      return record.isWellKnown(SmartPosterRecord.type) && error.code == .nestedRecord
        && (error.reason.contains("a second") || error.reason.contains("two titles"))
    },
    DeliberateDifference(
      name: "reserved action",
      reason: "A Smart Poster with an action from a later version still has a URI. ndeflib rejects it."
    ) {
      guard case .viewRefusedByThem(_, let error) = $0 else { return false }
      return error.contains("decoding of ACTION value")
    },
    DeliberateDifference(
      name: "Smart Poster in a Smart Poster",
      reason: "A nested poster must be valid too, so that the depth is limited. ndeflib does not decode it."
    ) {
      guard case .viewRefusedByUs(let record, _) = $0 else { return false }
      return record.nested.contains { $0.isWellKnown(SmartPosterRecord.type) }
    },
    DeliberateDifference(
      name: "chunks in a Smart Poster", reason: "We reassemble them there too. ndeflib drops all but the first."
    ) {
      switch $0 {
      case .view(let record, _), .viewRefusedByUs(let record, _), .viewRefusedByThem(let record, _):
        record.isWellKnown(SmartPosterRecord.type) && record.hasChunks
      default: false
      }
    },
    DeliberateDifference(
      name: "other records of a Smart Poster kept", reason: "ndeflib drops unknown records when it writes a poster."
    ) {
      guard case .viewEncoding(let record, _) = $0 else { return false }
      return ((try? SmartPosterRecord(record))?.others.isEmpty).map { !$0 } ?? false
    },
    DeliberateDifference(
      name: "case of media types",
      reason: "Media types ignore case (RFC 2045, 5.1), so Image/png is an icon. For ndeflib it is not."
    ) {
      guard case .view(let record, let theirs) = $0, let poster = try? SmartPosterRecord(record) else { return false }
      return poster.icons.count > (theirs.icons?.count ?? 0)
        && poster.icons.contains { $0.ndeflibType != $0.ndeflibType.lowercased() }
    },
  ]
}

extension NDEFRecord {
  fileprivate var hasURIOrMediaType: Bool { typeNameFormat == .mediaType || typeNameFormat == .absoluteURI }

  /// The records in a Smart Poster.
  fileprivate var nested: [NDEFRecord] {
    guard isWellKnown(SmartPosterRecord.type) else { return [] }
    return (try? NDEFMessage(decoding: payload).records) ?? []
  }

  /// The record itself if it is a text, and the texts in it.
  fileprivate var texts: [NDEFRecord] { ([self] + nested).filter { $0.isWellKnown(TextRecord.type) } }

  fileprivate var hasUTF16WithoutMark: Bool {
    texts.contains { record in
      guard let status = record.payload.first, status & 0x80 != 0 else { return false }
      let mark = record.payload.dropFirst(1 + Int(status & 0x3F)).prefix(2)
      return !mark.elementsEqual([0xFE, 0xFF]) && !mark.elementsEqual([0xFF, 0xFE])
    }
  }

  /// Whether the payload is a message that is longer than its encoding without chunks.
  fileprivate var hasChunks: Bool {
    guard let whole = try? NDEFMessage(decoding: payload) else { return false }
    return ((try? whole.encoded().count).map { $0 + 3 <= payload.count }) ?? false
  }
}
