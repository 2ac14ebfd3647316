import EventLoop

extension Command {
  static let doctor = Command(
    name: "doctor", summary: "find problems and show how to fix them",
    details: """
      Checks the buses, the daemon and its unit, polkit, kernel modules, pcscd, the
      readers, the agent and its unit, the notification server, the apps that take
      tags, and both configurations. Each line has a verdict (right, wrong or note),
      a subject, the finding and the fix. Makes the agent read its files again, and
      changes no other state. Paths in your home directory begin with ~, so you can
      attach the output to a report.

      Exit code 0: no problem found; 1: at least one line is wrong. tagroute-doctor(1) lists
      the subjects and the keys of --json.
      """
  ) { _, console throws(Failure) in
    let findings = Diagnosis(await Examination.make(on: EventLoop(label: "tagroute"))).findings
    let reports = findings.map { finding -> JSON in
      [
        "subject": finding.subject, "verdict": finding.verdict, "text": finding.text, "remedy": finding.remedy?.text,
        "command": finding.remedy?.command,
      ]
    }
    try console.answer(reports, findings.map(\.line))
    return findings.contains { $0.verdict == .wrong } ? 1 : 0
  }
}

/// A fix: a command, if there is one, and advice.
package struct Remedy: Hashable, Sendable {
  /// For a shell, as it is; nil if there is no such command.
  let command: String?
  /// What else to know or to do; nil if the command is enough.
  let advice: String?

  static func run(_ command: String, _ advice: String? = nil) -> Remedy { Remedy(command: command, advice: advice) }

  static func advise(_ advice: String) -> Remedy { Remedy(command: nil, advice: advice) }

  /// For a person.
  package var text: String { [command, advice].compactMap { $0 }.joined(separator: "; ") }
}

/// The result of one check.
struct Finding: Hashable, Sendable {
  enum Verdict: String, Encodable, Sendable {
    /// As it should be.
    case right
    /// Keeps tags from all apps, or breaks the thing that the text names. It does not pass by itself.
    case wrong
    /// Worth knowing: it passes by itself, is intended, or has its fix in another finding.
    case note
  }

  /// Scripts depend on these names.
  enum Subject: String, Encodable, Sendable {
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
    case mqtt
    case outbox
    case scanning
  }

  let subject: Subject
  let verdict: Verdict
  let text: String
  /// The fix; nil if none is needed.
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

  var line: String {
    let verdict = verdict.rawValue + String(repeating: " ", count: 5 - verdict.rawValue.count)
    return "\(verdict)  \(subject.rawValue): \(text)\(remedy.map { ": \($0.text)" } ?? "")"
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
