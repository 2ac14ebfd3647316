import EventLoop

extension Command {
  static let doctor = Command(
    name: "doctor", summary: "find problems and show how to fix them",
    details: """
      Checks the buses, the daemon and its unit, polkit, kernel modules, pcscd, the
      readers, the agent and its unit, the notification server, the apps that take
      tags, the rules, and both configurations. Prints what is wrong first, then what
      is worth knowing, each with its fix. The last line counts the checks that found
      nothing wrong. Makes the agent read its files again, and changes no other state.
      Paths in your home directory begin with ~, so you can attach the output of
      tagroute doctor --verbose to a report.

      With --watch, follows you while you plug a reader in and hold a tag to it, and
      says each step and each problem with its fix. Ends when a tag was read and
      nothing is wrong, or by Ctrl-C. Of the tag, it prints only the kind and the
      link's domain.

      Exit code 0: no problem found; 1: at least one line is wrong.
      tagroute-doctor(1) lists the subjects and the keys of --json.
      """,
    options: [
      Option("verbose", "also list what is right"),
      Option("watch", "say each step until a tag was read and nothing is wrong"),
    ]
  ) { arguments, console throws(Failure) in
    if arguments.has("watch") {
      for other in ["json", "verbose"] where arguments.has(other) {
        throw .usage("use only one of --watch and --\(other)")
      }
      return try await DoctorWatch.run(console)
    }
    let findings = Diagnosis(await Examination.make(on: EventLoop(label: "tagroute"))).findings
    let reports = findings.map { finding -> JSON in
      [
        "subject": finding.subject, "verdict": finding.verdict, "text": finding.text, "remedy": finding.remedy?.text,
        "command": finding.remedy?.command,
      ]
    }
    try console.answer(
      reports, ReportLine.report(findings, isVerbose: arguments.has("verbose")).map(\.description),
      verdicts: Finding.Verdict.allCases.map { ($0.rawValue, $0.colour) })
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
  enum Verdict: String, CaseIterable, Encodable, Sendable {
    /// As it should be.
    case right
    /// Keeps tags from all apps, or breaks the thing that the text names. It does not pass by itself.
    case wrong
    /// Worth knowing: it passes by itself, is intended, or has its fix in another finding.
    case note

    var colour: Colour {
      switch self {
      case .right: .green
      case .wrong: .red
      case .note: .yellow
      }
    }
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
    case rules
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

/// A line of the report for a person.
struct ReportLine: Hashable, Sendable, CustomStringConvertible {
  /// The word at the beginning; nil for a line that belongs to the one above.
  let verdict: Finding.Verdict?
  let text: String

  var description: String {
    let word = verdict?.rawValue ?? ""
    return word + String(repeating: " ", count: 7 - word.count) + text
  }

  /// What is wrong, then the notes, then what is right, or only its number.
  static func report(_ findings: [Finding], isVerbose: Bool) -> [ReportLine] {
    let right = findings.filter { $0.verdict == .right }
    let others = [.wrong, .note].flatMap { verdict in findings.filter { $0.verdict == verdict } }
    if isVerbose { return (others + right).flatMap(\.lines) }
    let count = right.count == 1 ? "1 check" : "\(right.count) checks"
    return others.flatMap(\.lines)
      + [ReportLine(verdict: .right, text: "\(count) passed; tagroute doctor --verbose lists them")]
  }
}
