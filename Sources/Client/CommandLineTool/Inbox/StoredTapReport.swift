import NDEF
import TagrouteClient

/// The tap that `inbox show` and `inbox export --all` print. Scripts depend on its keys.
struct StoredTapReport: Encodable {
  let tap: TapDescription
  private let message: [UInt8]
  /// The current decision about its link; nil if the agent was not asked.
  let now: Resolution?

  init(_ tap: TapDescription, now: Resolution? = nil) {
    message = tap.message ?? []
    var whole = tap
    whole.message = message
    self.tap = whole
    self.now = now
  }

  /// The tap for a person: tag, link, state, app and records.
  var lines: [String] {
    var lines = ["\(tap.id): \(tap.title)"]
    let tag = [tap.technology, Hexadecimal.text(tap.uid)].filter { !$0.isEmpty }.joined(separator: " ")
    let reader = tap.reader.isEmpty ? "" : ", by \(tap.reader)"
    lines.append("read: \(LocalTime.second(tap.time)), \(tag)\(reader)")
    if !tap.uri.isEmpty { lines.append("link: \(tap.uri)") }
    let since = tap.stateTime.map { " since \(LocalTime.second($0))" } ?? ""
    lines.append("state: \(tap.state)\(since)\(tap.stateReason.isEmpty ? "" : ": \(tap.stateReason)")")
    if let goal { lines.append(goal) }
    guard !message.isEmpty else { return lines + ["message: none"] }
    let records = RecordReport.all(in: message)
    let size = "\(message.count) byte\(message.count == 1 ? "" : "s")"
    lines.append("message: \(size)\(records.isEmpty ? ", not an NDEF message" : "")")
    return lines + RecordReport.lines(records).map { "  \($0)" }
  }

  private var goal: String? {
    if let reason = tap.reason { return "goes to: \(tap.handler ?? "no app"), \(reason)" }
    if let now { return "would go to: \(now.handler ?? "no app"), \(now.reason)" }
    return tap.handler.map { "\(tap.state == "delivered" ? "was handed to" : "goes to"): \($0)" }
  }

  func encode(to encoder: any Encoder) throws {
    try tap.encode(to: encoder)
    var container = encoder.container(keyedBy: JSONKey.self)
    try container.encode(now, forKey: JSONKey(stringValue: "now"))
    try container.encode(RecordReport.all(in: message), forKey: JSONKey(stringValue: "records"))
  }
}
