import Bus
import Glibc
import TestRig
import Testing

/// `tagroute doctor` with units in a bad state, whether or not their programs run.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct DoctorUnitTests {
  private struct Case {
    let text: String
    let command: String
    let change: @Sendable (inout SystemdStandIn.UnitState) -> Void
  }

  private static func cases(
    _ unit: String, systemctl: String, verify: String, reinstalling: String, restart: String
  ) -> [Case] {
    [
      Case(text: "\(unit) is masked", command: "\(systemctl) unmask \(unit) && \(systemctl) enable --now \(unit)") {
        ($0.load, $0.active) = ("masked", "inactive")
      },
      Case(text: "\(unit) is not installed", command: reinstalling) {
        ($0.load, $0.active) = ("not-found", "inactive")
      },
      Case(text: "systemd cannot read \(unit) (it is bad)", command: "\(verify) \(unit)") {
        ($0.load, $0.active, $0.loadError) = ("bad-setting", "inactive", "it is bad")
      },
      Case(text: "\(unit) failed: ", command: restart) {
        ($0.active, $0.sub, $0.exitStatus) = ("failed", "failed", 69)
      },
      Case(text: "\(unit) keeps restarting: ", command: "") {
        ($0.active, $0.sub, $0.exitStatus) = ("activating", "auto-restart", 1)
      },
    ]
  }

  /// States of a unit that are only worth a note while its program runs.
  private static func passing(_ unit: String) -> [Case] {
    [
      Case(text: "\(unit) is inactive; \(unit.dropLast(8)) runs, but not from this unit", command: "") {
        $0.active = "inactive"
      },
      Case(text: "\(unit) is starting", command: "") { ($0.active, $0.sub) = ("activating", "start") },
      Case(text: "\(unit) is active, but will not start automatically the next time", command: "") {
        $0.file = "disabled"
      },
    ]
  }

  @Test func `a bad unit is wrong if its program does not run and a note if it does`() async throws {
    let (desktop, _, _) = try await Desktop.sound()
    let system = try await SystemdStandIn.start(on: desktop.systemBus.string)
    let user = try await SystemdStandIn.start(on: desktop.sessionBus.string)
    try await user.setUnit("graphical-session.target")
    let units = [
      (
        "daemon-unit", "tagrouted.service", system,
        Self.cases(
          "tagrouted.service", systemctl: "sudo systemctl", verify: "systemd-analyze verify",
          reinstalling: "sudo Packaging/install",
          restart: "sudo systemctl reset-failed tagrouted.service && sudo systemctl restart tagrouted.service")
      ),
      (
        "agent-unit", "tagroute-agent.service", user,
        Self.cases(
          "tagroute-agent.service", systemctl: "systemctl --user", verify: "systemd-analyze --user verify",
          reinstalling: "sudo Packaging/install", restart: "systemctl --user restart tagroute-agent.service")
      ),
    ]
    for (_, unit, systemd, _) in units { try await systemd.setUnit(unit) }
    for (subject, unit, systemd, cases) in units {
      for expected in cases.dropLast() {
        try await systemd.setUnit(unit, expected.change)
        let finding = try await desktop.findings().findings.first { $0.subject == subject }
        #expect(
          finding?.verdict == "note" && finding?.text.hasPrefix(expected.text) == true, "\(unit): \(expected.text)")
      }
      for expected in Self.passing(unit) {
        try await systemd.setUnit(unit, expected.change)
        let finding = try await desktop.findings().findings.first { $0.subject == subject }
        #expect(finding?.verdict == "note" && finding?.text == expected.text, "\(String(describing: finding))")
      }
      try await systemd.setUnit(unit)
    }
    try await user.setUnit("graphical-session.target") { $0.active = "inactive" }
    let sway = try await desktop.findings().findings.first { $0.subject == "agent-unit" }
    #expect(sway?.verdict == "note" && sway?.remedy?.contains("configuration of your compositor") == true)
    try await user.setUnit("graphical-session.target")

    for process in [try await desktop.daemon, try await desktop.agent] { try await process.exit(after: SIGKILL) }
    for (subject, unit, systemd, cases) in units {
      for expected in cases {
        try await systemd.setUnit(unit, expected.change)
        let finding = try await desktop.wrong()[subject]
        #expect(finding?.text.hasPrefix(expected.text) == true, "\(unit): \(expected.text)")
        if !expected.command.isEmpty { #expect(finding?.command == expected.command) }
      }
    }
  }
}
