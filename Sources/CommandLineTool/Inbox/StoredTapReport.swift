import NDEF
import TagrouteClient

/// What `inbox show` and `inbox export --all` print of a tap; its keys are what scripts depend on.
struct StoredTapReport: Encodable {
  let tap: TapDescription
  /// Where its link would go now; nil where that is not asked for.
  let now: Resolution?

  init(_ tap: TapDescription, now: Resolution? = nil) {
    self.tap = tap
    self.now = now
  }

  private var message: [UInt8] { tap.message ?? [] }

  /// For a person: what it was, where it stands, where it goes, and what is on the tag.
  var lines: [String] {
    var lines = ["\(tap.id): \(tap.title)"]
    let tag = [tap.technology, Hexadecimal.text(tap.uid)].filter { !$0.isEmpty }.joined(separator: " ")
    let reader = tap.reader.isEmpty ? "" : ", by \(tap.reader)"
    lines.append("read: \(LocalTime.second(tap.time)), \(tag)\(reader)")
    if !tap.uri.isEmpty { lines.append("link: \(tap.uri)") }
    let since = tap.stateTime.map { " since \(LocalTime.second($0))" } ?? ""
    lines.append("state: \(tap.state)\(since)\(tap.stateReason.isEmpty ? "" : ": \(tap.stateReason)")")
    if let goal { lines.append(goal) }
    let records = RecordReport.all(in: message)
    let size = "\(message.count) byte\(message.count == 1 ? "" : "s")"
    lines.append("message: \(size)\(records.isEmpty ? ", which are no NDEF message" : "")")
    return lines + RecordReport.lines(records).map { "  \($0)" }
  }

  private var goal: String? {
    if let reason = tap.reason { return "goes to: \(tap.handler ?? "nobody"), \(reason)" }
    if let now { return "would go to: \(now.handler ?? "nobody"), \(now.reason)" }
    return tap.handler.map { "\(tap.state == "delivered" ? "was handed to" : "goes to"): \($0)" }
  }

  enum CodingKeys: CodingKey {
    case id
    case time
    case uri
    case title
    case state
    case stateTime
    case stateReason
    case stateReasonCode
    case handler
    case reason
    case now
    case technology
    case uid
    case reader
    case message
    case records
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(tap.id, forKey: .id)
    try container.encode(tap.time, forKey: .time)
    try container.encode(tap.uri, forKey: .uri)
    try container.encode(tap.title, forKey: .title)
    try container.encode(tap.state, forKey: .state)
    // Null where there is none: scripts look for the key.
    try container.encode(tap.stateTime, forKey: .stateTime)
    try container.encode(tap.stateReason, forKey: .stateReason)
    try container.encode(tap.stateReasonCode, forKey: .stateReasonCode)
    try container.encode(tap.handler, forKey: .handler)
    try container.encode(tap.reason, forKey: .reason)
    try container.encode(now.map(ResolutionReport.init), forKey: .now)
    try container.encode(tap.technology, forKey: .technology)
    try container.encode(Hexadecimal.text(tap.uid), forKey: .uid)
    try container.encode(tap.reader, forKey: .reader)
    try container.encode(Hexadecimal.text(message), forKey: .message)
    try container.encode(RecordReport.all(in: message), forKey: .records)
  }
}
