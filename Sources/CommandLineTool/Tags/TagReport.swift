import Bus
import Names
import TagrouteClient

/// What `read` and `info` print of a tag; its keys are what scripts depend on.
struct TagReport: Sendable {
  let tag: ReaderTag
  let status: ReaderTag.Status
  let capacity: UInt32
  /// Nil where the tag holds none.
  let message: [UInt8]?

  /// Asks a tag for its status and its message.
  static func of(_ tag: ReaderTag) async throws(Failure) -> TagReport {
    try await tag.attempt { tag throws(BusError) in try await asked(tag) }
  }

  /// The same, with the daemon's own error.
  static func asked(_ tag: ReaderTag) async throws(BusError) -> TagReport {
    let (status, capacity) = try await tag.queryNDEF()
    var message: [UInt8]?
    if status != .notSupported {
      do throws(BusError) {
        message = try await tag.readNDEF()
      } catch {
        guard TagFailure(error) == .noMessage else { throw error }
      }
    }
    return TagReport(tag: tag, status: status, capacity: capacity, message: message)
  }

  /// The first line for a person: which tag that is, and how full.
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

/// `read --json`.
struct ReadReport: Encodable {
  let report: TagReport

  enum CodingKeys: CodingKey {
    case technology
    case uid
    case status
    case capacity
    case message
    case records
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(report.tag.technology, forKey: .technology)
    try container.encode(Hexadecimal.text(report.tag.uid), forKey: .uid)
    try container.encode(report.status.rawValue, forKey: .status)
    try container.encode(report.capacity, forKey: .capacity)
    // Null where there is none: scripts look for the key.
    try container.encode(report.message.map(Hexadecimal.text), forKey: .message)
    try container.encode(report.records, forKey: .records)
  }
}
