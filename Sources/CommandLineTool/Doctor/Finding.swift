/// One thing that was looked at, and what is to be said of it.
struct Finding: Encodable, Hashable, Sendable {
  enum Verdict: String, Encodable, Sendable {
    /// As it should be.
    case right
    /// No tag gets to its app as long as this is so.
    case wrong
    /// Worth knowing, and nothing that keeps a tag from its app.
    case note
  }

  /// What was looked at; scripts depend on these names.
  enum Subject: String, Encodable, CaseIterable, Sendable {
    case systemBus = "system-bus"
    case configuration
    case daemonUnit = "daemon-unit"
    case daemon
    case polkit
    case kernelModule = "kernel-module"
    case pcscd
    case reader
    case sessionBus = "session-bus"
    case agentConfiguration = "agent-configuration"
    case agentUnit = "agent-unit"
    case agent
    case notifications
    case handlers
    case scanning
  }

  let subject: Subject
  let verdict: Verdict
  /// What is so, in words.
  let text: String
  /// What mends it, a command where there is one; nil where there is nothing to mend.
  let remedy: String?

  static func right(_ subject: Subject, _ text: String) -> Finding {
    Finding(subject: subject, verdict: .right, text: text, remedy: nil)
  }

  static func wrong(_ subject: Subject, _ text: String, remedy: String) -> Finding {
    Finding(subject: subject, verdict: .wrong, text: text, remedy: remedy)
  }

  static func note(_ subject: Subject, _ text: String, remedy: String? = nil) -> Finding {
    Finding(subject: subject, verdict: .note, text: text, remedy: remedy)
  }

  /// As a person reads it, on one line.
  var line: String {
    let verdict = verdict.rawValue + String(repeating: " ", count: 5 - verdict.rawValue.count)
    return "\(verdict)  \(subject.rawValue): \(text)\(remedy.map { ": \($0)" } ?? "")"
  }

  enum CodingKeys: CodingKey {
    case subject
    case verdict
    case text
    case remedy
  }

  /// Written out because the synthesized one leaves a nil away, and scripts look for the key.
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(subject, forKey: .subject)
    try container.encode(verdict, forKey: .verdict)
    try container.encode(text, forKey: .text)
    try container.encode(remedy, forKey: .remedy)
  }
}
