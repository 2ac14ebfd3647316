import EventLoop

extension Command {
  static let doctor = Command(
    name: "doctor", usage: "doctor", summary: "what keeps tags from their apps, and the command that mends it",
    details: """
      Looks at the buses, the daemon and its unit, polkit, the kernel's modules, pcscd, the readers, the agent and its unit, the
      notification server, the apps that take tags, and both configurations. Prints a line for each: right, wrong or note,
      what it is about, what is so, and what mends it. Has the agent read its files again, and changes nothing
      else. A home is written as ~, so that the output can be sent to others.

      Exit code 0: nothing is wrong; 1: something is. JSON: a list of objects with subject, verdict, text, remedy, and command, which
      is what of the remedy a shell can run. tagroute(1) lists the subjects.
      """,
    words: 0...0
  ) { _, console throws(Failure) in
    let findings = Diagnosis(await Examination.make(on: EventLoop(label: "tagroute"))).findings
    try console.answer(findings, findings.map(\.line))
    return findings.contains { $0.verdict == .wrong } ? 1 : 0
  }
}
