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

      Exit code 0: no problem found; 1: at least one line is wrong. tagroute(1) lists
      the subjects and the keys of --json.
      """,
    words: 0...0
  ) { _, console throws(Failure) in
    let findings = await Finding.all(on: EventLoop(label: "tagroute"))
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
