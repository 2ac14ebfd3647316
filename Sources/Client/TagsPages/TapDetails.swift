import NDEF
import Names
import Notifications
import Records
package import TagrouteClient

/// What the window shows of one tap. All texts are safe to show, and of bounded length.
package struct TapDetails: Sendable, Hashable {
  package struct Row: Sendable, Hashable {
    package let title: String
    package let text: String
    /// Whether the text is in columns.
    package var isBytes = false
  }

  package struct Group: Sendable, Hashable {
    package let title: String
    package let rows: [Row]
  }

  /// An app that could open the tap.
  package struct Candidate: Sendable, Hashable {
    package let id: String
    package let name: String
  }

  package let id: String
  package let title: String
  package let groups: [Group]
  package let candidates: [Candidate]
  package let canOpen: Bool
  package let canDismiss: Bool
  /// The message, for a file.
  package let message: [UInt8]
  /// For a rule; nil for a tag without a UID.
  package let tag: PickedTag?

  /// `now` is what the tag would do now; nil if the agent does not say. `name` gives the name of an app; `time` writes a
  /// time for a person.
  package init(
    _ tap: TapDescription, now: Resolution?, name: (_ handler: String) -> String?,
    time: (_ microseconds: UInt64) -> String
  ) {
    let row = TapRow(tap)
    id = tap.id
    title = DisplayText(tap.title, limit: 1000, lines: 20).string
    (canOpen, canDismiss) = (row.canOpen, row.canDismiss)
    message = tap.message ?? []
    tag = tap.uid.isEmpty ? nil : PickedTag(uid: tap.uid, technology: tap.technology, message: tap.message)
    func appName(_ id: String) -> String { DisplayText(name(id) ?? AppID.text(id), limit: 60).string }
    candidates = (now?.candidates ?? []).prefix(Self.mostCandidates).map { Candidate(id: $0, name: appName($0)) }
    groups = [
      Group(title: translated("On the Tag"), rows: Self.records(message, tap)),
      Group(title: translated("Decision"), rows: Self.decision(tap, now, appName, time)),
      Group(title: translated("Tag"), rows: Self.tag(tap, time)),
      Group(title: translated("Bytes"), rows: Self.bytes(message)),
    ].filter { !$0.rows.isEmpty }
  }

  private static let mostCandidates = 20
  private static let mostRecords = 100

  private static func records(_ message: [UInt8], _ tap: TapDescription) -> [Row] {
    guard !message.isEmpty else { return [Row(title: translated("No message"), text: "")] }
    let records = RecordReport.all(in: message)
    guard !records.isEmpty else {
      return [Row(title: translated("Damaged"), text: DisplayText(tap.stateReason, limit: 500).string)]
    }
    let rows = records.prefix(mostRecords).enumerated().map { number, record in
      // Translators: above one of the records on a tag, counted from 1.
      Row(
        title: translated("Record {number}", ["number": "\(number + 1)"]),
        text: DisplayText(record.line, limit: 1000).string)
    }
    let rest = records.count - rows.count
    return rest > 0 ? rows + [Row(title: translated("{number} more records", ["number": "\(rest)"]), text: "")] : rows
  }

  private static func decision(
    _ tap: TapDescription, _ now: Resolution?, _ name: (String) -> String, _ time: (UInt64) -> String
  ) -> [Row] {
    var rows = [
      Row(
        title: translated("State"),
        text: [TapWords.state(tap.state), tap.stateTime.map(time), DisplayText(tap.stateReason, limit: 500).string]
          .compactMap(\.self).filter { !$0.isEmpty }.joined(separator: " – "))
    ]
    if let handler = tap.handler { rows.append(Row(title: translated("App"), text: name(handler))) }
    if let rule = tap.rule { rows.append(Row(title: translated("Rule"), text: DisplayText(rule).string)) }
    if let reason = tap.reason {
      rows.append(Row(title: translated("Reason"), text: DisplayText(reason, limit: 500).string))
    }
    guard let now else { return rows }
    // Translators: what would happen with the same tag at this moment.
    rows.append(Row(title: translated("If tapped now"), text: DisplayText(now.reason, limit: 500).string))
    if let rule = now.rule, rule != tap.rule {
      rows.append(Row(title: translated("Rule that matches now"), text: DisplayText(rule).string))
    }
    return rows
  }

  private static func tag(_ tap: TapDescription, _ time: (UInt64) -> String) -> [Row] {
    [
      Row(title: translated("Read"), text: time(tap.time)),
      Row(title: translated("Kind of tag"), text: DisplayText(TapWords.technology(tap.technology)).string),
      Row(title: "UID", text: UIDText.text(tap.uid)),
      Row(
        title: translated("Reader"),
        text: tap.reader.split(separator: "/").last.map { DisplayText(String($0)).string } ?? ""),
    ].filter { !$0.text.isEmpty }
  }

  private static func bytes(_ message: [UInt8]) -> [Row] {
    guard !message.isEmpty else { return [] }
    return [
      Row(
        title: translated("{number} bytes", ["number": "\(message.count)"]), text: ByteColumns.text(message),
        isBytes: true)
    ]
  }
}

/// Bytes in columns, as hexadecimal digits and as ASCII.
package enum ByteColumns {
  /// More are not shown.
  package static let limit = 1024
  private static let perLine = 8

  package static func text(_ bytes: [UInt8]) -> String {
    let shown = bytes.prefix(limit)
    let lines = stride(from: 0, to: shown.count, by: perLine).map { start in
      let line = shown[start..<min(start + perLine, shown.count)]
      let digits = line.map { Hexadecimal.text($0) }.joined(separator: " ")
      let letters = line.map { (0x20...0x7E).contains($0) ? Character(Unicode.Scalar($0)) : "." }
      return digits + String(repeating: " ", count: 3 * perLine - 1 - digits.count + 2) + String(letters)
    }
    return (lines + (bytes.count > limit ? ["…"] : [])).joined(separator: "\n")
  }
}
