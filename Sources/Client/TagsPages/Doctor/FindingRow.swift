package import Doctor
import Notifications

/// A finding of the doctor as a row of the window. Its texts are English in every language, like those of the commands
/// that they name.
package struct FindingRow: Sendable, Hashable {
  /// What was examined.
  package let title: String
  package let verdict: Finding.Verdict
  package let text: String
  /// The fix as a command for a shell, exactly as it is shown; empty if there is none.
  package let command: String
  /// The rest of the fix; may be empty.
  package let advice: String

  package init(title: String, verdict: Finding.Verdict, text: String, command: String = "", advice: String = "") {
    (self.title, self.verdict, self.text) = (title, verdict, text)
    (self.command, self.advice) = (command, advice)
  }

  package init(_ finding: Finding, title: String? = nil) {
    let command = finding.remedy?.command ?? ""
    let shown = DisplayText(command, limit: 1000)
    let advice = finding.remedy?.advice ?? ""
    // The user copies what is shown, or nothing.
    let isExact = shown.string == command
    self.init(
      title: title ?? Self.title(finding.subject), verdict: finding.verdict,
      text: DisplayText(finding.text, limit: 600, lines: 5).string, command: isExact ? command : "",
      advice: DisplayText(isExact ? advice : "\(command); \(advice)", limit: 600, lines: 5).string)
  }

  /// For assistive technology, and where the colour of an icon cannot be seen.
  package var verdictWord: String {
    switch verdict {
    // Translators: the result of a check.
    case .right: translated("Passed")
    // Translators: the result of a check.
    case .wrong: translated("Wrong")
    // Translators: the result of a check: worth knowing, and nothing to fix.
    case .note: translated("Note")
    }
  }

  /// The row as a screen reader reads it.
  package var spoken: String {
    let fix = [command, advice].filter { !$0.isEmpty }.joined(separator: "; ")
    return ["\(title): \(verdictWord)", text, fix].filter { !$0.isEmpty }.joined(separator: ". ")
  }

  private static func title(_ subject: Finding.Subject) -> String {
    switch subject {
    case .versions: translated("Versions")
    // Translators: the D-Bus of the whole computer.
    case .systemBus: translated("System bus")
    case .configuration: translated("Configuration of the daemon")
    case .policy: translated("Bus policy")
    case .daemonUnit: translated("Service of the daemon")
    // Translators: the program that drives the readers, tagrouted.
    case .daemon: translated("Daemon")
    case .polkit: "polkit"
    case .kernelModule: translated("Kernel module")
    case .pcscd: "pcscd"
    case .reader: translated("Reader")
    // Translators: the D-Bus of the user's session.
    case .sessionBus: translated("Session bus")
    case .agentConfiguration: translated("Preferences file")
    // Translators: a computer without a desktop that reads tags.
    case .station: translated("Station")
    case .agentUnit: translated("Service of the agent")
    // Translators: the program that shows the notifications, tagroute-agent.
    case .agent: translated("Agent")
    case .notifications: translated("Notifications")
    case .handlers: translated("Apps")
    case .rules: translated("Rules")
    case .mqtt: "MQTT"
    // Translators: the tags that wait to be sent to another computer.
    case .outbox: translated("Outbox")
    case .scanning: translated("Scanning")
    }
  }
}
