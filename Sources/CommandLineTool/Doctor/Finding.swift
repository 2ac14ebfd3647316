/// What mends something, in a command where there is one.
struct Remedy: Hashable, Sendable {
  /// For a shell, as it stands; nil where no command does it.
  let command: String?
  /// What else there is to know or to do; nil where the command is all.
  let advice: String?

  static func run(_ command: String, _ advice: String? = nil) -> Remedy { Remedy(command: command, advice: advice) }

  static func advise(_ advice: String) -> Remedy { Remedy(command: nil, advice: advice) }

  /// As a person reads it.
  var text: String { [command, advice].compactMap { $0 }.joined(separator: "; ") }
}

/// One thing that was looked at, and what is to be said of it.
struct Finding: Encodable, Hashable, Sendable {
  enum Verdict: String, Encodable, Sendable {
    /// As it should be.
    case right
    /// As long as this is so no tag gets to its app, or what the text names does not work. It does not pass by itself.
    case wrong
    /// Worth knowing: it passes by itself, somebody wants it so, or another finding says what is to be done.
    case note
  }

  /// What was looked at; scripts depend on these names.
  enum Subject: String, Encodable, CaseIterable, Sendable {
    case versions
    case systemBus = "system-bus"
    case configuration
    case policy
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
  /// What mends it; nil where there is nothing to mend.
  let remedy: Remedy?

  static func right(_ subject: Subject, _ text: String) -> Finding {
    Finding(subject: subject, verdict: .right, text: text, remedy: nil)
  }

  static func wrong(_ subject: Subject, _ text: String, _ remedy: Remedy) -> Finding {
    Finding(subject: subject, verdict: .wrong, text: text, remedy: remedy)
  }

  static func note(_ subject: Subject, _ text: String, _ remedy: Remedy? = nil) -> Finding {
    Finding(subject: subject, verdict: .note, text: text, remedy: remedy)
  }

  /// As a person reads it, on one line.
  var line: String {
    let verdict = verdict.rawValue + String(repeating: " ", count: 5 - verdict.rawValue.count)
    return "\(verdict)  \(subject.rawValue): \(text)\(remedy.map { ": \($0.text)" } ?? "")"
  }

  /// The same with each path in a person's home beginning with `~`, so that what is sent with a report does not say who that is.
  ///
  /// - Parameter home: the directory; nil, or the root, changes nothing.
  /// - Returns: the finding to print.
  func shortened(_ home: String?) -> Finding {
    guard let home, home.hasPrefix("/"), home.count > 1 else { return self }
    let folder = home.hasSuffix("/") ? home : home + "/"
    func short(_ text: String) -> String { text.replacing(folder, with: "~/") }
    return Finding(
      subject: subject, verdict: verdict, text: short(text),
      remedy: remedy.map { Remedy(command: $0.command.map(short), advice: $0.advice.map(short)) })
  }

  enum CodingKeys: CodingKey {
    case subject
    case verdict
    case text
    case remedy
    case command
  }

  /// Written out because the synthesized one leaves a nil away, and scripts look for the key.
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(subject, forKey: .subject)
    try container.encode(verdict, forKey: .verdict)
    try container.encode(text, forKey: .text)
    try container.encode(remedy?.text, forKey: .remedy)
    try container.encode(remedy?.command, forKey: .command)
  }
}
