import Bus
import Names
import Records
import TagrouteClient

extension Command {
  static let read = Command(
    name: "read", summary: "wait for a tag and print what is on it",
    details: """
      Links, texts, Wi-Fi networks, contacts, places and files are printed in words.
      The password of a network is not, but --json has the bytes of each record.

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
      // Without a message, the failure prints the summary.
      let fails = report.status == .notSupported && !isFollowing
      let lines = [report.summary] + RecordReport.lines(report.records).map { "  \($0)" }
      try await output.answer(ReadReport(report), fails ? [] : lines, onOneLine: isFollowing)
      guard fails else { return }
      throw Failure(message: report.summary, exitCode: Names.ExitCode.failure, sheet: SheetMessages.noMessage)
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
  /// Whether NDEF is not supported because the tag is not formatted. False if that is not known.
  let isBlank: Bool

  /// The daemon uses these words for the error of a write.
  static let blank = "blank: not formatted"

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
    let isBlank = status == .notSupported ? try await isBlank(tag) : false
    return TagStatusReport(tag: tag, status: status, capacity: capacity, message: message, isBlank: isBlank)
  }

  /// Asks for the place of the capability container, as a write does.
  private static func isBlank(_ tag: ReaderTag) async throws(BusError) -> Bool {
    do throws(BusError) {
      switch TagType(rawValue: tag.technology) {
      // READ of four pages.
      case .type2:
        let answer = try await tag.transceive([0x30, 0x03])
        return answer.count == 16 && answer.prefix(4).allSatisfy { $0 == 0 }
      // Read Single Block. The answer begins with flags, which are zero without an error.
      case .type5:
        let answer = try await tag.transceive([0x02, 0x20, 0x00])
        return answer.count > 4 && answer.allSatisfy { $0 == 0 }
      default: return false
      }
    } catch {
      if TagFailure(error) == .tagLost { throw error }
      return false
    }
  }

  /// The first line for a person: the tag, and how full it is.
  var summary: String {
    let size = message?.count ?? 0
    let holds =
      switch status {
      case .notSupported: isBlank ? Self.blank : "holds no NDEF message"
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
