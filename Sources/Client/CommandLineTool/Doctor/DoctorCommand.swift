import Doctor
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

extension Finding.Verdict {
  var colour: Colour {
    switch self {
    case .right: .green
    case .wrong: .red
    case .note: .yellow
    }
  }
}
