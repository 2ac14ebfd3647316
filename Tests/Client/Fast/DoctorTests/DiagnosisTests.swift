import Bus
import Settings
import Testing

@testable import Doctor
@testable import TagrouteClient

struct DiagnosisTests {
  @Test func `a working system has no wrong finding`() {
    #expect(Seen.wrong { _ in }.isEmpty)
    #expect(!Diagnosis(Seen.sound()).findings.contains { $0.verdict == .note && $0.subject != .handlers })
  }

  @Test func `a missing policy is named for either of its two symptoms`() {
    func findings(_ file: String?, _ change: (inout Examination) -> Void) -> [Finding] {
      Seen.wrong {
        $0.policyFile = file
        change(&$0)
      }
    }
    let reinstall = Remedy.run(
      "sudo apt-get install --reinstall tagroute", "or reinstall the package file that it came from")
    let refused = findings(nil) { $0.daemon = .failed(BusError(name: BusError.Name.accessDenied, message: "no")) }
    #expect(refused.map(\.subject) == [.policy])
    #expect(refused.first?.text.contains("does not let you talk to tagrouted: its policy") == true)
    #expect(refused.first?.remedy == reinstall)

    // Without the policy, the bus refuses the daemon's name. The daemon exits with 77 whenever systemd starts it.
    let nameless = { (seen: inout Examination) in
      seen.daemonUnit = .given(Seen.unit(active: "activating", sub: "auto-restart", exitStatus: 77))
      seen.daemon = .failed(Seen.absent)
    }
    #expect(findings(nil, nameless).map(\.subject) == [.policy, .daemonUnit])
    #expect(findings(nil, nameless).first?.remedy == reinstall)
    let unread = findings("/usr/share/dbus-1/system.d/org.tagroute.Tagroute1.conf", nameless)
    #expect(unread.first?.remedy?.command == "sudo systemctl reload dbus && sudo systemctl restart tagrouted.service")
    // If the unit was stopped since, the exit code gives no information.
    #expect(
      findings(nil) {
        $0.daemonUnit = .given(Seen.unit(active: "inactive", sub: "dead", exitStatus: 77))
        $0.daemon = .failed(Seen.absent)
      }.map(\.subject) == [.daemonUnit])
  }

  @Test func `programs of another version are named without a wrong finding`() {
    func notes(_ change: (inout Examination) -> Void) -> [Finding] {
      Seen.findings(change).filter { $0.verdict == .note && [.daemon, .agent].contains($0.subject) }
    }
    let daemon = notes {
      $0.daemon = .given(
        DaemonStatus(version: "0.0.9", enabled: true, scanning: true, suspendReasons: [], readers: [Seen.reader]))
    }
    #expect(daemon.map(\.text) == ["tagrouted is version 0.0.9, this is 0.1.0; tags are still shown"])
    let agent = notes { $0.agent = .given(AgentStatus(version: "0.2.0", registered: true)) }
    #expect(agent.map(\.text) == ["tagroute-agent is version 0.2.0, this is 0.1.0; tags are still shown"])
    #expect(daemon.first?.remedy?.command == "sudo systemctl restart tagrouted.service")
    // Restarting a newer program does not help.
    let older = "is older: update it, or remove it if a newer tagroute is installed"
    #expect(agent.first?.remedy == .advise("/usr/bin/tagroute \(older)"))
    let left = notes {
      $0.setup = Setup(folder: "/usr/local/bin", hasDaemon: true, release: "")
      $0.daemon = .given(
        DaemonStatus(version: "0.1.1", enabled: true, scanning: true, suspendReasons: [], readers: [Seen.reader]))
    }
    #expect(left.first?.remedy == .advise("/usr/local/bin/tagroute \(older)"))
    let strange = notes { $0.agent = .given(AgentStatus(version: "nightly", registered: true)) }
    #expect(strange.map(\.remedy) == [nil])
    // An agent that the daemon refuses is a wrong finding in any version.
    let stranger = Seen.wrong { $0.agent = .given(AgentStatus(version: "0.2.0", registered: false)) }
    #expect(stranger.first?.text.contains("not registered") == true)
  }

  @Test func `a mistake in a configuration is named with its file and line`() {
    let findings = Seen.wrong {
      $0.configuration.mistake = Seen.mistake
      $0.agentConfiguration?.mistake = KeyFileError(
        file: "/home/me/.config/tagroute/agent.conf", line: nil, problem: "is not a file", remedy: "name a text file")
    }
    #expect(findings.map(\.subject) == [.configuration, .agentConfiguration])
    #expect(findings.first?.line.hasPrefix("wrong  configuration: /etc/tagroute.conf:3: no such key") == true)
    let meanwhile = "; until then tagroute-agent uses the previous configuration"
    #expect(findings.last?.text == "~/.config/tagroute/agent.conf: is not a file" + meanwhile)
    #expect(findings.first?.line.contains("sudo systemctl reload tagrouted.service") == true)
    // A daemon that is not running has no previous configuration.
    let absent = Seen.wrong {
      $0.configuration.mistake = Seen.mistake
      $0.daemon = .failed(Seen.absent)
    }
    #expect(absent.first?.line.contains("restart") == true && absent.first?.line.contains("previous") == false)
    // An error of the file as a whole has no line number. Without a unit, another finding says how to start the daemon.
    #expect(findings.last?.remedy == .advise("name a text file, then systemctl --user reload tagroute-agent.service"))
    let unitless = Seen.wrong {
      $0.configuration.mistake = Seen.mistake
      $0.daemon = .failed(Seen.absent)
      $0.daemonUnit = .failed(Seen.absent)
    }
    #expect(unitless.first?.remedy == .advise("fix that line"))
  }

  @Test func `for a configuration that only the daemon may read, the daemon's own result is reported`() {
    func finding(_ change: (inout Examination) -> Void) -> Finding? {
      Seen.findings {
        $0.configuration.mistake = KeyFileError(
          file: "/etc/tagroute.conf", line: nil, problem: "cannot be read (Permission denied)", remedy: "")
        $0.configuration.isForbidden = true
        change(&$0)
      }.first { $0.subject == .configuration }
    }
    let content = finding { _ in }
    #expect(
      content
        == .right(.configuration, "you may not read /etc/tagroute.conf; tagrouted has read it without errors"))
    // The file changed, but the daemon has not read it: a failed reload does not reach the daemon.
    func changed(at time: UInt64) -> Finding? {
      finding {
        $0.configuration.changed = time
        guard var status = $0.daemon.value else { return }
        status.configurationTime = 7
        $0.daemon = .given(status)
      }
    }
    #expect(changed(at: 7) == content)
    #expect(changed(at: 8)?.verdict == .note)
    #expect(
      changed(at: 8)?.text
        == "you may not read /etc/tagroute.conf; /etc/tagroute.conf or a drop-in changed after "
        + "tagrouted read it")
    #expect(
      changed(at: 8)?.remedy
        == .run(
          "sudo -u tagroute /usr/libexec/tagrouted --check",
          "shows its errors; if there are none, sudo systemctl reload tagrouted.service"))
    let refused = finding {
      $0.configuration.changed = 8
      guard var status = $0.daemon.value else { return }
      (status.configurationError, status.configurationTime) = ("/etc/tagroute.conf:3: no", 7)
      $0.daemon = .given(status)
    }
    #expect(refused?.verdict == .wrong && refused?.text.contains("has an error: /etc/tagroute.conf:3: no") == true)
    let absent = finding { $0.daemon = .failed(Seen.absent) }
    #expect(absent?.verdict == .note)
    // The check runs as the daemon's user, because root may read files that this user may not.
    #expect(absent?.remedy?.command == "sudo -u tagroute /usr/libexec/tagrouted --check")
    let userless = finding {
      $0.setup.hasUser = false
      $0.configuration.isNamed = true
      $0.daemon = .failed(Seen.absent)
    }
    #expect(userless?.remedy?.command == "sudo /usr/libexec/tagrouted --check --config /etc/tagroute.conf")
  }

  @Test func `a system bus that does not answer is not started again`() {
    let hanging = Seen.wrong { $0.systemBus = .timedOut("the bus at unix:path=/x did not answer in time") }
    #expect(hanging.first?.text == "the bus at unix:path=/x did not answer in time")
    #expect(hanging.first?.remedy?.command == nil)
    let absent = Seen.wrong { $0.systemBus = BusError(name: BusError.Name.noServer, message: "no") }
    #expect(absent.first?.remedy?.command == "sudo systemctl start dbus.socket")
  }

  @Test func `polkit is restarted if it does not answer`() {
    func command(_ error: BusError) -> String? {
      Seen.wrong { $0.polkitActions = .failed(error) }.first?.remedy?.command
    }
    #expect(command(Seen.absent) == "sudo apt-get install polkitd")
    #expect(command(.timedOut()) == "sudo systemctl restart polkit.service")
    // systemd does not start a masked unit. A masked unit also shows that polkit is installed.
    for (file, unmask) in [("masked", "unmask"), ("masked-runtime", "unmask --runtime")] {
      let refused = BusError(name: "org.freedesktop.systemd1.UnitMasked", message: "it is masked")
      for error in [.timedOut(), Seen.absent, refused] {
        let masked = Seen.wrong {
          $0.polkitActions = .failed(error)
          $0.polkitUnit = .given(Seen.unit(load: "masked", active: "inactive", file: file))
        }
        #expect(
          masked.first?.remedy?.command
            == "sudo systemctl \(unmask) polkit.service && sudo systemctl restart polkit.service")
      }
    }
  }

  @Test func `a configuration that the daemon rejected or has not read is reported`() {
    func finding(error: String = "", read: UInt64, changed: UInt64) -> Finding? {
      Seen.findings {
        $0.configuration.changed = changed
        guard var status = $0.daemon.value else { return }
        (status.configurationError, status.configurationTime) = (error, read)
        $0.daemon = .given(status)
      }.first { $0.subject == .configuration }
    }
    #expect(finding(read: 7, changed: 7)?.verdict == .right)
    let older = finding(read: 7, changed: 8)
    #expect(older?.verdict == .note)
    #expect(older?.line.contains("sudo systemctl reload tagrouted.service") == true)
    let refused = finding(error: "/etc/tagroute.conf:3: no such key: Scann", read: 7, changed: 8)
    #expect(refused?.verdict == .wrong)
    #expect(
      refused?.text.contains(
        "uses the previous configuration, because the new one has an error: /etc/tagroute.conf:3: no") == true)
  }

  @Test func `a file that may have been removed gets a note`() {
    func finding(_ change: (inout Examination.Settings) -> Void) -> Finding? {
      Seen.findings {
        change(&$0.configuration)
        guard var status = $0.daemon.value else { return }
        status.configurationTime = 7
        $0.daemon = .given(status)
      }.first { $0.subject == .configuration }
    }
    #expect(finding { $0.removed = 7 }?.verdict == .right)
    #expect(
      finding { $0.removed = 8 }
        == .note(
          .configuration, "there is no /etc/tagroute.conf; if it was removed, tagrouted still uses it",
          .run("sudo systemctl reload tagrouted.service")))
    #expect(
      finding { $0 = .init(file: "/tmp/x", isThere: true, isNamed: true, changed: 8) }?.text
        == "/tmp/x changed after tagrouted read it")
  }

  @Test func `a configuration that the agent rejected or has not read is reported`() {
    func finding(error: String = "", read: UInt64?, changed: UInt64) -> Finding? {
      Seen.findings {
        $0.agentConfiguration?.changed = changed
        $0.agent = .given(
          AgentStatus(version: "0.1.0", registered: true, configurationError: error, configurationTime: read))
      }.first { $0.subject == .agentConfiguration }
    }
    #expect(finding(read: 7, changed: 7)?.verdict == .right)
    #expect(finding(read: nil, changed: 8)?.verdict == .right)
    let older = finding(read: 7, changed: 8)
    #expect(older?.verdict == .note)
    #expect(older?.text.hasPrefix("~/.config/tagroute/agent.conf changed after tagroute-agent read it") == true)
    #expect(older?.line.contains("systemctl --user reload tagroute-agent.service") == true)
    let refused = finding(error: "agent.conf: cannot take effect (no)", read: 7, changed: 7)
    #expect(refused?.verdict == .wrong)
    #expect(
      refused?.text.contains(
        "uses the previous configuration, because the new one has an error: agent.conf: cannot take") == true)
  }

  @Test func `a configuration finding names the file in use and says whether it exists`() {
    func texts(_ change: (inout Examination) -> Void) -> [String] {
      Seen.findings(change).filter { $0.subject == .configuration }.map(\.text)
    }
    #expect(texts { _ in } == ["there is no /etc/tagroute.conf: the defaults apply"])
    #expect(texts { $0.configuration.isThere = true } == ["/etc/tagroute.conf has no errors"])
    #expect(
      texts { $0.configuration = .init(file: "/tmp/x", isThere: true, isNamed: true) } == [
        "/tmp/x has no errors; tagrouted was started with it"
      ])
    // The file is also checked without a bus on which the daemon could be asked.
    #expect(
      texts {
        $0.systemBus = .failed("no")
        $0.configuration.mistake = Seen.mistake
      } == ["/etc/tagroute.conf:3: no such key: Scann"])
  }

  static let reasons: [(reason: String, verdict: Finding.Verdict, command: String?)] = [
    ("disabled", .note, "tagroute on"), ("lock-unknown", .wrong, "tagroute session unlock"),
    ("airplane-mode", .wrong, "sudo rfkill unblock all"), ("session-locked", .note, "tagroute session unlock"),
    ("inhibited", .note, nil), ("sleeping", .note, nil), ("no-session", .note, nil), ("of-tomorrow", .note, nil),
  ]

  @Test(arguments: reasons) func `a suspend reason is wrong only if it does not end by itself`(
    reason: String, verdict: Finding.Verdict, command: String?
  ) {
    let scanning = Seen.findings {
      $0.daemon = .given(
        DaemonStatus(
          version: "0.1.0", enabled: reason != "disabled", scanning: false, suspendReasons: [reason],
          readers: [Seen.reader]))
      $0.inhibitors = [.init(who: "tagroute run", why: "nfc-list has it", process: 77)]
    }.filter { $0.subject == .scanning }
    #expect(scanning.map(\.verdict) == [verdict])
    #expect(scanning.first?.remedy?.command == command)
    if reason == "inhibited" {
      #expect(scanning.first?.text == "paused by tagroute run (nfc-list has it)")
      #expect(scanning.first?.remedy?.advice == "scanning continues when process 77 ends")
    }
  }

  @Test func `the home folder is shortened to a tilde only as a whole path component`() {
    let finding = Finding.wrong(.handlers, "/home/me/x and /home/mean/x", .run("rm /home/me/x", "in /home/me/y"))
    #expect(finding.shortened("/home/me").text == "~/x and /home/mean/x")
    #expect(finding.shortened("/home/me").remedy == .run("rm ~/x", "in ~/y"))
    for home in [nil, "", "/"] { #expect(finding.shortened(home) == finding) }
  }
}

/// A system that works, and the findings after a change to it.
enum Seen {
  static let reader = ReaderStatus(
    path: "/r", name: "ACR122U", device: "acr122_usb:001:004", seat: "seat0", state: "scanning", stateReason: "")
  static let mistake = KeyFileError(file: "/etc/tagroute.conf", line: 3, problem: "no such key", remedy: "Scann")
  static let absent = BusError(name: BusError.Name.serviceUnknown, message: "not there")

  static func unit(
    load: String = "loaded", active: String = "active", sub: String = "running", file: String = "enabled",
    exitStatus: Int32? = nil
  ) -> Examination.Unit {
    Examination.Unit(load: load, active: active, sub: sub, file: file, exitStatus: exitStatus)
  }

  static func sound() -> Examination {
    var seen = Examination()
    seen.setup = Setup(folder: "/usr/bin", hasDaemon: true, release: "ID=debian\n")
    seen.home = "/home/me"
    seen.configuration.file = "/etc/tagroute.conf"
    seen.daemonUnit = .given(unit())
    seen.daemon = .given(
      DaemonStatus(version: "0.1.0", enabled: true, scanning: true, suspendReasons: [], readers: [reader]))
    seen.polkitActions = .given(Set(Diagnosis.actions))
    seen.agentConfiguration = .init(file: "/home/me/.config/tagroute/agent.conf", isThere: false)
    seen.agentUnit = .given(unit())
    seen.graphicalSession = .given(unit(sub: "active", file: "static"))
    seen.agent = .given(AgentStatus(version: "0.1.0", registered: true))
    seen.notifications = .given(.init(name: "dunst", version: "1.9", capabilities: ["actions", "body"]))
    seen.handlers = .given([])
    return seen
  }

  static func findings(_ change: (inout Examination) -> Void) -> [Finding] {
    var seen = sound()
    change(&seen)
    return Diagnosis(seen).findings
  }

  static func wrong(_ change: (inout Examination) -> Void) -> [Finding] {
    findings(change).filter { $0.verdict == .wrong }
  }
}

extension Finding {
  var line: String { lines.map(\.description).joined(separator: "\n") }
}

@Suite struct DoctorReportTests {
  private let findings = [
    Finding.right(.systemBus, "answers"), .note(.handlers, "no app"), .right(.daemon, "answers"),
    .wrong(.agent, "no agent runs", .run("start it", "now")),
  ]

  @Test func `what is wrong comes first, and what is right is a number`() {
    #expect(
      ReportLine.report(findings, isVerbose: false).map(\.description) == [
        "wrong  agent: no agent runs", "       fix: start it; now", "note   handlers: no app",
        "right  2 checks passed; tagroute doctor --verbose lists them",
      ])
    #expect(
      ReportLine.report([.right(.daemon, "answers")], isVerbose: false).map(\.description) == [
        "right  1 check passed; tagroute doctor --verbose lists them"
      ])
  }

  @Test func `a verbose report lists what is right after the rest`() {
    let lines = ReportLine.report(findings, isVerbose: true).map(\.description)
    #expect(lines.prefix(3) == ReportLine.report(findings, isVerbose: false).map(\.description).prefix(3))
    #expect(lines.dropFirst(3) == ["right  system-bus: answers", "right  daemon: answers"])
  }
}
