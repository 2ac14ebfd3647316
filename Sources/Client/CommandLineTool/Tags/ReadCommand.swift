import Bus
import NDEF
import Names
import TagrouteClient

extension Command {
  static let read = Command(
    name: "read", summary: "wait for a tag and print the records of its message",
    details: """
      Fails with 1 if the tag cannot hold a message. An empty tag is printed without
      records.

      \(TagCommand.exitHelp)
      """,
    options: [.init("follow", "read one tag after the other, until interrupted or the time is over")]
      + TagCommand.options
  ) { arguments, console throws(Failure) in
    let isFollowing = arguments.has("follow")
    let options = ReaderSessionOptions(message: SheetMessages.read)
    return try await TagCommand(options, arguments, console, isFollowing: isFollowing) { tag, output throws(Failure) in
      let report = try await TagStatusReport.of(tag)
      let records = RecordReport.lines(report.records).map { "  \($0)" }
      try await output.answer(ReadReport(report), [report.summary] + records, onOneLine: isFollowing)
      guard report.status == .notSupported, !isFollowing else { return }
      throw Failure(
        message: "the tag holds no NDEF message", exitCode: Names.ExitCode.failure, sheet: SheetMessages.noMessage)
    }.run()
  }
}

/// The status and message of a tag, for `read` and `info`.
struct TagStatusReport: Sendable {
  let tag: ReaderTag
  let status: ReaderTag.Status
  let capacity: UInt32
  /// Nil if the tag has no message.
  let message: [UInt8]?

  static func of(_ tag: ReaderTag) async throws(Failure) -> TagStatusReport {
    try await tag.attempt { tag throws(BusError) in try await asked(tag) }
  }

  /// Like `of`, but fails with the daemon's own error.
  static func asked(_ tag: ReaderTag) async throws(BusError) -> TagStatusReport {
    let (status, capacity) = try await tag.queryNDEF()
    var message: [UInt8]?
    if status != .notSupported {
      do throws(BusError) {
        message = try await tag.readNDEF()
      } catch {
        guard TagFailure(error) == .noMessage else { throw error }
      }
    }
    return TagStatusReport(tag: tag, status: status, capacity: capacity, message: message)
  }

  /// The first line for a person: the tag, and how full it is.
  var summary: String {
    let size = message?.count ?? 0
    let holds =
      switch status {
      case .notSupported: "holds no NDEF message"
      case .readWrite: "read-write, \(size) of \(capacity) bytes"
      case .readOnly: "read-only, \(size) of \(capacity) bytes"
      }
    return "\(tag.technology) \(Hexadecimal.text(tag.uid)): \(holds)"
  }

  var records: [RecordReport] { message.map(RecordReport.all) ?? [] }
}

/// What `read --json` prints. Scripts depend on its keys.
struct ReadReport: Encodable {
  let technology: String
  let uid: String
  let status: String
  let capacity: UInt32
  @OrNull private(set) var message: String?
  let records: [RecordReport]

  init(_ report: TagStatusReport) {
    technology = report.tag.technology
    uid = Hexadecimal.text(report.tag.uid)
    status = report.status.rawValue
    capacity = report.capacity
    message = report.message.map(Hexadecimal.text)
    records = report.records
  }
}

/// A record as it is printed. Scripts depend on its keys.
struct RecordReport: Encodable, Equatable {
  /// `empty`, `well-known`, `media`, `uri`, `external` or `unknown` (NDEF 1.0, section 3.2.6).
  let format: String
  /// As text; bytes that are not UTF-8 are replaced.
  let type: String
  @OrNull private(set) var id: String?
  /// Hexadecimal.
  let payload: String
  /// Of a URI record or a Smart Poster.
  @OrNull private(set) var uri: String? = nil
  /// Of a text record, and the title of a Smart Poster.
  @OrNull private(set) var text: String? = nil
  @OrNull private(set) var language: String? = nil

  init(_ record: NDEFRecord) {
    format =
      switch record.typeNameFormat {
      case .empty: "empty"
      case .wellKnown: "well-known"
      case .mediaType: "media"
      case .absoluteURI: "uri"
      case .external: "external"
      case .unknown, .unchanged: "unknown"
      }
    type = String(decoding: record.type, as: UTF8.self)
    id = record.id.isEmpty ? nil : String(decoding: record.id, as: UTF8.self)
    payload = Hexadecimal.text(record.payload)
    if let view = try? URIRecord(record) {
      uri = view.uri
    } else if let view = try? TextRecord(record) {
      (text, language) = (view.text, view.language)
    } else if let view = try? SmartPosterRecord(record) {
      uri = view.uri
      (text, language) = (view.titles.first?.text, view.titles.first?.language)
    }
  }

  /// The records of a message; empty if the bytes are not a message.
  static func all(in message: [UInt8]) -> [RecordReport] {
    ((try? NDEFMessage(decoding: message))?.records ?? []).map(RecordReport.init)
  }

  /// A line for a person, with only the beginning of a long text. JSON has the whole text.
  var line: String {
    let type = Self.beginning(self.type)
    switch (uri.map(Self.beginning), text.map(Self.beginning)) {
    case (let uri?, let title?): return "smart poster: \(uri) (\(title))"
    case (let uri?, nil): return type == SmartPosterRecord.type ? "smart poster: \(uri)" : "link: \(uri)"
    case (nil, let text?): return "text (\(language ?? "")): \(text)"
    case (nil, nil):
      let size = payload.count / 2
      return
        ([format == "empty" ? "an empty record" : "\(format) \(type)".trimmed] + (size > 0 ? ["\(size) bytes"] : []))
        .joined(separator: ", ")
    }
  }
}

extension RecordReport {
  /// A line for each record. Beyond a limit, records are only counted.
  static func lines(_ records: [RecordReport]) -> [String] {
    let rest = records.count - listedAtMost
    return records.prefix(listedAtMost).map(\.line) + (rest > 0 ? ["and \(rest) more records"] : [])
  }

  private static let listedAtMost = 100

  /// The limit is in scalars, because a single character can have any number of them.
  private static func beginning(_ text: String) -> String {
    let scalars = text.unicodeScalars
    guard let end = scalars.index(scalars.startIndex, offsetBy: shownAtMost, limitedBy: scalars.endIndex),
      end < scalars.endIndex
    else { return text }
    return "\(String(scalars[..<end]))… (\(text.utf8.count) bytes)"
  }

  /// In scalars.
  private static let shownAtMost = 1000
}

extension String {
  fileprivate var trimmed: String { hasSuffix(" ") ? String(dropLast()) : self }
}
