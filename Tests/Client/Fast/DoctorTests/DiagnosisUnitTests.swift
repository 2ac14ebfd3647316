import Bus
import Names
import Testing

@testable import Doctor
@testable import TagrouteClient

struct DiagnosisUnitTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let load: String
    let active: String
    var sub = "dead"
    var file = "disabled"
    var exitStatus: Int32?
    var restarts: UInt32 = 0
    let text: String
    let command: String
    var testDescription: String { "\(load) \(active) \(sub) \(file)" }

    var unit: Examination.Unit {
      var unit = Seen.unit(load: load, active: active, sub: sub, file: file, exitStatus: exitStatus)
      unit.restarts = restarts
      if load == "bad-setting" { unit.loadError = "Unit has a bad unit file setting." }
      return unit
    }
  }

  static let units: [Case] = [
    Case(
      load: "loaded", active: "inactive", text: "tagrouted.service is inactive",
      command: "sudo systemctl enable --now tagrouted.service"),
    Case(
      load: "masked", active: "inactive", text: "tagrouted.service is masked",
      command: "sudo systemctl unmask tagrouted.service && sudo systemctl enable --now tagrouted.service"),
    Case(
      load: "masked", active: "inactive", file: "masked-runtime", text: "tagrouted.service is masked",
      command: "sudo systemctl unmask --runtime tagrouted.service && sudo systemctl enable --now tagrouted.service"),
    Case(
      load: "not-found", active: "inactive", text: "tagrouted.service is not installed",
      command: "sudo apt-get install --reinstall tagroute"),
    Case(
      load: "bad-setting", active: "inactive",
      text: "systemd cannot read tagrouted.service (Unit has a bad unit file setting.)",
      command: "systemd-analyze verify tagrouted.service"),
    Case(
      load: "error", active: "inactive", text: "systemd cannot read tagrouted.service (error)",
      command: "systemd-analyze verify tagrouted.service"),
    Case(
      load: "loaded", active: "failed", sub: "failed", exitStatus: 78,
      text: "tagrouted.service failed: tagrouted reports an error in its configuration",
      command: "sudo systemctl reset-failed tagrouted.service && sudo systemctl restart tagrouted.service"),
    Case(
      load: "loaded", active: "activating", sub: "auto-restart", exitStatus: 1,
      text: "tagrouted.service keeps restarting: tagrouted ended with code 1",
      command: "sudo journalctl -u tagrouted.service -n 20"),
    Case(
      load: "loaded", active: "activating", sub: "start", exitStatus: 69, restarts: 4,
      text: "tagrouted.service keeps restarting: tagrouted reports that it cannot use the bus",
      command: "sudo journalctl -u tagrouted.service -n 20"),
  ]

  @Test(arguments: units)
  func `a unit that does not run is named with its remedy, and the absent daemon is only a note`(
    _ expected: Case
  ) {
    let findings = Seen.findings {
      $0.daemonUnit = .given(expected.unit)
      $0.daemon = .failed(Seen.absent)
    }
    let wrong = findings.filter { $0.verdict == .wrong }
    #expect(wrong.map(\.subject) == [.daemonUnit])
    #expect(wrong.first?.text == expected.text)
    #expect(wrong.first?.remedy?.command == expected.command)
    #expect(findings.first { $0.subject == .daemon } == .note(.daemon, "tagrouted is not running"))
  }

  @Test func `a unit that is starting is not reported as a crash loop`() {
    let findings = Seen.findings { $0.daemonUnit = .given(Seen.unit(active: "activating", sub: "start")) }
    #expect(findings.first { $0.subject == .daemonUnit } == .note(.daemonUnit, "tagrouted.service is starting"))
  }

  @Test func `a program that was started by hand needs no unit`() {
    #expect(Seen.wrong { $0.daemonUnit = .given(Seen.unit(active: "inactive", sub: "dead")) }.isEmpty)
    // The unit failed once, and the program was started by hand since.
    #expect(Seen.wrong { $0.daemonUnit = .given(Seen.unit(active: "failed", sub: "failed", exitStatus: 1)) }.isEmpty)
    for load in ["not-found", "masked", "bad-setting"] {
      #expect(Seen.wrong { $0.agentUnit = .given(Seen.unit(load: load, active: "inactive")) }.isEmpty)
    }
  }

  @Test func `a unit that runs but will not start the next time gets a note`() {
    func note(_ change: (inout Examination) -> Void) -> Finding? {
      Seen.findings(change).first { $0.verdict == .note && [.daemonUnit, .agentUnit].contains($0.subject) }
    }
    #expect(
      note { $0.daemonUnit = .given(Seen.unit(file: "disabled")) }?.remedy?.command
        == "sudo systemctl enable tagrouted.service")
    let sway = note { $0.graphicalSession = .given(Seen.unit(active: "inactive")) }
    #expect(sway?.subject == .agentUnit)
    #expect(sway?.remedy?.advice?.contains("\"exec /usr/libexec/tagroute-agent\"") == true)
  }

  @Test func `a desktop that does not start the agent is distinguished from a unit that is not enabled`() {
    func unit(file: String, session: String) -> [Finding] {
      Seen.wrong {
        $0.agentUnit = .given(Seen.unit(active: "inactive", sub: "dead", file: file))
        $0.graphicalSession = .given(Seen.unit(active: session))
        $0.agent = .given(nil)
      }
    }
    let sway = unit(file: "enabled", session: "inactive")
    #expect(sway.map(\.subject) == [.agentUnit])
    #expect(sway.first?.text.contains("graphical-session.target") == true)
    #expect(sway.first?.remedy?.command == "systemctl --user start tagroute-agent.service")
    let stopped = unit(file: "enabled", session: "active")
    #expect(stopped.first?.remedy == .run("systemctl --user enable --now tagroute-agent.service"))
    #expect(unit(file: "disabled", session: "inactive").first?.remedy == stopped.first?.remedy)
  }

  @Test func `a unit with an unmet condition is not started again`() {
    let findings = Seen.wrong {
      var unit = Seen.unit(active: "inactive", sub: "dead")
      unit.missesCondition = true
      $0.agentUnit = .given(unit)
      $0.agent = .given(nil)
      // The agent is also not started automatically here, but that is not the reason.
      $0.graphicalSession = .given(Seen.unit(active: "inactive"))
    }
    #expect(findings.map(\.text) == ["tagroute-agent.service is inactive, because a condition of the unit is not met"])
    #expect(findings.first?.remedy?.command == "systemctl --user status tagroute-agent.service")
  }

  @Test func `the user's unit is started without sudo`() {
    let findings = Seen.wrong {
      $0.agentUnit = .given(Seen.unit(active: "failed", sub: "failed", exitStatus: 1))
      $0.agent = .given(nil)
    }
    #expect(findings.map(\.subject) == [.agentUnit])
    #expect(findings.first?.remedy?.command == "systemctl --user restart tagroute-agent.service")
    #expect(findings.first?.remedy?.advice == "journalctl --user -u tagroute-agent.service -n 20 shows why")
  }

  @Test func `without systemd no remedy is a systemd command`() {
    let broken: [(inout Examination) -> Void] = [
      { $0.systemBus = .failed("no") },
      { $0.daemon = .failed(Seen.absent) },
      { $0.daemon = .failed(.failed("silent")) },
      { $0.daemon = .failed(BusError(name: "org.freedesktop.DBus.Error.AccessDenied", message: "no")) },
      { $0.agent = .given(nil) },
      { $0.agent = .failed(.failed("silent")) },
      { $0.configuration.mistake = Seen.mistake },
    ]
    for change in broken {
      let wrong = Seen.wrong {
        $0.setup.hasSystemd = false
        $0.daemonUnit = .failed(Seen.absent)
        $0.agentUnit = .failed(Seen.absent)
        $0.graphicalSession = .notAsked
        change(&$0)
      }
      #expect(wrong.count == 1)
      for finding in wrong { #expect(finding.remedy?.text.contains("ctl") == false, "\(finding.line)") }
    }
  }

  @Test func `the start command depends on the installation`() {
    var setup = Setup(folder: "/usr/bin", hasDaemon: true, release: "")
    #expect(setup.starting(.daemon).command == "sudo systemctl start tagrouted.service")
    #expect(setup.starting(.agent).command == "systemctl --user start tagroute-agent.service")
    #expect(setup.restarting(.agent).command == "systemctl --user restart tagroute-agent.service")
    #expect(setup.stopping(.agent).text == "systemctl --user stop tagroute-agent.service")
    setup.hasSystemd = false
    #expect(setup.stopping(.agent).text == "stop tagroute-agent")
    #expect(setup.starting(.agent).command == "/usr/libexec/tagroute-agent &")
    #expect(setup.restarting(.agent).command == nil)
    setup = Setup(folder: "/src/.build/debug", hasDaemon: false, release: "")
    #expect(setup.starting(.daemon).command == "sudo -u tagroute /src/.build/debug/tagrouted")
    // Without the daemon's user, the policy is missing as well.
    setup.hasUser = false
    #expect(setup.starting(.daemon).command == "sudo Packaging/install")
    #expect(setup.starting(.agent).command == "/src/.build/debug/tagroute-agent &")
    #expect(setup.restarting(.daemon).command == nil)
  }

  @Test func `the install command depends on the installation`() {
    func installing(_ folder: String?, hasDaemon: Bool = true, _ release: String) -> String? {
      Setup(folder: folder, hasDaemon: hasDaemon, release: release).installing.command
    }
    #expect(installing("/usr/bin", "ID=debian\n") == "sudo apt-get install --reinstall tagroute")
    #expect(
      installing("/usr/bin", "ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n") == "sudo apt-get install --reinstall tagroute"
    )
    #expect(installing("/usr/bin", "ID=fedora\n") == "sudo dnf reinstall tagroute")
    #expect(installing("/usr/bin", "ID=arch\n") == "sudo pacman --sync tagroute")
    #expect(installing("/usr/bin", "ID=nobodys\n") == nil)
    #expect(installing("/usr/local/bin", "ID=debian\n") == "sudo Packaging/install PREFIX=/usr/local")
    #expect(installing("/opt/t/bin", "ID=debian\n") == nil)
    #expect(installing("/src/.build/debug", hasDaemon: false, "ID=debian\n") == "sudo Packaging/install")
    #expect(
      Setup(folder: "/opt/t/bin", hasDaemon: true, release: "").program("tagrouted") == "/opt/t/libexec/tagrouted")
    #expect(
      Setup(folder: "/usr/bin", hasDaemon: true, release: "ID=fedora\n").installing(.polkit).command
        == "sudo dnf install polkit")
  }
}
