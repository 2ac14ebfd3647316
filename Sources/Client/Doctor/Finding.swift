/// The result of one check.
package struct Finding: Hashable, Sendable {
  package enum Verdict: String, CaseIterable, Encodable, Sendable {
    /// As it should be.
    case right
    /// Keeps tags from all apps, or breaks the thing that the text names. It does not pass by itself.
    case wrong
    /// Worth knowing: it passes by itself, is intended, or has its fix in another finding.
    case note
  }

  /// Scripts depend on these names.
  package enum Subject: String, Encodable, Sendable {
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
    case station
    case agentUnit = "agent-unit"
    case agent
    case notifications
    case handlers
    case rules
    case mqtt
    case outbox
    case scanning
  }

  package let subject: Subject
  package let verdict: Verdict
  package let text: String
  /// The fix; nil if none is needed.
  package let remedy: Remedy?

  static func right(_ subject: Subject, _ text: String) -> Finding {
    Finding(subject: subject, verdict: .right, text: text, remedy: nil)
  }

  static func wrong(_ subject: Subject, _ text: String, _ remedy: Remedy) -> Finding {
    Finding(subject: subject, verdict: .wrong, text: text, remedy: remedy)
  }

  static func note(_ subject: Subject, _ text: String, _ remedy: Remedy? = nil) -> Finding {
    Finding(subject: subject, verdict: .note, text: text, remedy: remedy)
  }

  /// The finding, and its fix on a line of its own, so that a command can be copied.
  var lines: [ReportLine] {
    [ReportLine(verdict: verdict, text: "\(subject.rawValue): \(text)")]
      + (remedy.map { [ReportLine(verdict: nil, text: "fix: \($0.text)")] } ?? [])
  }

  /// Replaces the home directory in paths by `~`, so that a report does not contain the user's name. The directories
  /// nil and `/` have no effect.
  func shortened(_ home: String?) -> Finding {
    guard let home, home.hasPrefix("/"), home.count > 1 else { return self }
    let folder = home.hasSuffix("/") ? home : home + "/"
    func short(_ text: String) -> String { text.replacing(folder, with: "~/") }
    return Finding(
      subject: subject, verdict: verdict, text: short(text),
      remedy: remedy.map { Remedy(command: $0.command.map(short), advice: $0.advice.map(short)) })
  }
}

/// A fix: a command, if there is one, and advice.
package struct Remedy: Hashable, Sendable {
  /// For a shell, as it is; nil if there is no such command.
  package let command: String?
  /// What else to know or to do; nil if the command is enough.
  package let advice: String?

  static func run(_ command: String, _ advice: String? = nil) -> Remedy { Remedy(command: command, advice: advice) }

  static func advise(_ advice: String) -> Remedy { Remedy(command: nil, advice: advice) }

  /// For a person.
  package var text: String { [command, advice].compactMap { $0 }.joined(separator: "; ") }
}

/// A line of the report for a person.
package struct ReportLine: Hashable, Sendable, CustomStringConvertible {
  /// The word at the beginning; nil for a line that belongs to the one above.
  let verdict: Finding.Verdict?
  let text: String

  package var description: String {
    let word = verdict?.rawValue ?? ""
    return word + String(repeating: " ", count: 7 - word.count) + text
  }

  /// What is wrong, then the notes, then what is right, or only its number.
  package static func report(_ findings: [Finding], isVerbose: Bool) -> [ReportLine] {
    let right = findings.filter { $0.verdict == .right }
    let others = [.wrong, .note].flatMap { verdict in findings.filter { $0.verdict == verdict } }
    if isVerbose { return (others + right).flatMap(\.lines) }
    let count = right.count == 1 ? "1 check" : "\(right.count) checks"
    return others.flatMap(\.lines)
      + [ReportLine(verdict: .right, text: "\(count) passed; tagroute doctor --verbose lists them")]
  }
}
