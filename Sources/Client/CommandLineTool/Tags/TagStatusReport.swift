import Bus
import Names
import TagrouteClient

/// The status and message of a tag, for `read` and `info`.
struct TagStatusReport: Sendable {
  let tag: ReaderTag
  let status: ReaderTag.Status
  let capacity: UInt32
  /// Nil if the tag has no message.
  let message: [UInt8]?

  /// Asks a tag for its status and its message.
  static func of(_ tag: ReaderTag) async throws(Failure) -> TagStatusReport {
    try await tag.attempt { tag throws(BusError) in try await asked(tag) }
  }

  /// The same, with the daemon's own error.
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
