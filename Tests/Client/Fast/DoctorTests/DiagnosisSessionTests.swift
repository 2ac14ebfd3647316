import Bus
import Names
import Settings
import Testing

@testable import Doctor
@testable import TagrouteClient

@Suite struct DiagnosisAgentTests {
  @Test func `an agent that the daemon refuses is wrong, and one that waits for the daemon is not`() {
    let refused = Seen.wrong { $0.agent = .given(AgentStatus(version: "0.1.0", registered: false)) }
    #expect(refused.map(\.subject) == [.agent])
    #expect(refused.first?.remedy?.command == "journalctl --user -u tagroute-agent.service -n 20")
    let waiting = Seen.wrong {
      $0.agent = .given(AgentStatus(version: "0.1.0", registered: false))
      $0.daemon = .failed(Seen.absent)
    }
    #expect(waiting.map(\.subject) == [.daemon])
  }

  @Test(arguments: [
    (Names.Errors.notASession, "loginctl session-status"),
    (Names.Errors.alreadyRegistered, "pgrep --list-full --exact --euid \"$(id --user)\" tagroute-agent"),
    (Names.Errors.tooMany, "sudo journalctl -u tagrouted.service -n 20"),
    (BusError.Name.timeout, "sudo journalctl -u tagrouted.service -n 20"),
  ])
  func `the reason why the daemon refuses an agent is quoted, with its own remedy`(name: String, command: String) {
    func findings(_ error: AgentStatus.RegistrationError) -> [Finding] {
      Seen.findings {
        $0.agent = .given(AgentStatus(version: "0.1.0", registered: false, registrationError: error))
      }.filter { $0.subject == .agent }
    }
    let refused = findings(.init(name: name, message: "the daemon's words"))
    #expect(refused.map(\.text) == ["the agent is not registered with tagrouted (the daemon's words)"])
    #expect(refused.map(\.verdict) == [.wrong])
    #expect(refused.first?.remedy?.command == command)
    // Without an error yet, the registration is still in progress.
    let asked = findings(.init(name: "", message: ""))
    #expect(asked == [.note(.agent, "the agent is being registered with tagrouted")])
  }
}

/// A user with two sessions has one agent, which serves one of them.
@Suite struct DiagnosisTwoSessionsTests {
  private func scanning(_ reasons: [String], registered: Bool = true) -> [Finding] {
    Seen.findings {
      $0.daemon = .given(
        DaemonStatus(
          version: "0.1.0", enabled: true, scanning: false, suspendReasons: reasons, readers: [Seen.reader]))
      $0.agent = .given(AgentStatus(version: "0.1.0", registered: registered))
    }.filter { $0.subject == .scanning }
  }

  @Test func `an active session without the agent of its user is wrong, and the command moves the agent`() {
    let findings = scanning(["no-agent"])
    #expect(findings.map(\.verdict) == [.wrong])
    #expect(findings.first?.remedy?.command == "systemctl --user restart tagroute-agent.service")
  }

  @Test(arguments: ["session-not-graphical", "session-class", "session-locked", "no-session"])
  func `another session in front that passes by itself is a note`(reason: String) {
    #expect(Set(scanning(["no-agent", reason]).map(\.verdict)) == [.note])
  }

  @Test func `an agent that is not registered is no such problem`() {
    #expect(scanning(["no-agent"], registered: false).map(\.verdict) == [.note])
  }
}

@Suite struct DiagnosisStationTests {
  private static func daemon(isActive: Bool = true, _ reasons: [String] = []) -> DaemonStatus {
    DaemonStatus(
      version: "0.1.0", enabled: true, scanning: reasons.isEmpty, suspendReasons: reasons, readers: [Seen.reader],
      stationUser: "tagroute-station", stationActive: isActive)
  }

  @Test func `an administrator without a session finds nothing wrong with a station`() {
    let findings = Seen.findings {
      $0.daemon = .given(Self.daemon())
      $0.sessionBus = Seen.absent
      $0.agent = .notAsked
    }
    #expect(!findings.contains { $0.verdict == .wrong })
    #expect(
      findings.first { $0.subject == .station }?.text == "this machine is a station: taps go to user tagroute-station")
    let agent = findings.first { $0.subject == .agent }
    #expect(agent?.remedy?.command?.hasPrefix("sudo -u tagroute-station ") == true)
  }

  @Test func `the station's own user needs no notification server and no unit of a desktop`() {
    let findings = Seen.findings {
      $0.daemon = .given(Self.daemon())
      $0.agent = .given(AgentStatus(version: "0.1.0", headless: true, registered: true))
      $0.agentUnit = .given(Seen.unit(active: "inactive", sub: "dead"))
      $0.notifications = .failed(Seen.absent)
    }
    #expect(!findings.contains { $0.verdict == .wrong })
    #expect(findings.contains { $0.subject == .station && $0.verdict == .right })
    #expect(!findings.contains { [.notifications, .agentUnit].contains($0.subject) })
    #expect(findings.first { $0.subject == .agent }?.verdict == .right)
    #expect(
      findings.first { $0.subject == .handlers }?.text == "no app is registered for tags; only rules act")
  }

  @Test func `a user at the machine is named as the reason why the station gets no taps`() {
    let findings = Seen.findings {
      $0.daemon = .given(Self.daemon(isActive: false, ["no-agent", "session-not-graphical"]))
      $0.agent = .given(nil)
    }
    let station = findings.first { $0.subject == .station }
    #expect(station?.verdict == .note && station?.remedy?.text.hasPrefix("log out at the machine") == true)
    #expect(!findings.contains { $0.verdict == .wrong })
  }

  @Test func `a station whose agent is not registered is wrong, and the command starts it`() {
    let wrong = Seen.wrong {
      $0.daemon = .given(Self.daemon(["no-agent"]))
      $0.agent = .given(nil)
    }
    #expect(wrong.map(\.subject) == [.scanning])
    #expect(
      wrong.first?.remedy?.command
        == "sudo loginctl enable-linger tagroute-station && "
        + "sudo systemctl --user --machine=tagroute-station@ restart tagroute-station.service")
  }

  @Test func `a user with a desktop on a station has the usual findings`() {
    let findings = Seen.findings { $0.daemon = .given(Self.daemon(isActive: false)) }
    #expect(!findings.contains { $0.subject == .station })
    #expect(findings.contains { $0.subject == .notifications && $0.verdict == .right })
  }
}

@Suite struct DiagnosisRulesTests {
  private static let check = Remedy.run("tagroute rules --check", "checks again after the change")

  private func findings(_ rules: Examination.Rules) -> [Finding] {
    Seen.findings { $0.rules = rules }.filter { $0.subject == .rules }
  }

  @Test(arguments: [(0, "there are no rules"), (1, "1 rule is in force"), (2, "2 rules are in force")])
  func `rules without a mistake are counted`(count: Int, text: String) {
    #expect(findings(.init(count: count)) == [.right(.rules, text)])
  }

  @Test func `a rule with a mistake and a file that is ignored are wrong, and a warning is a note`() {
    func error(_ file: String, _ line: Int?) -> KeyFileError {
      KeyFileError(file: "/home/me/.config/tagroute/rules.d/\(file)", line: line, problem: "no", remedy: "do it")
    }
    let found = findings(
      .init(count: 1, mistakes: [error("a.conf", 3), error("b.conf", nil)], warnings: [error("c.conf", 1)]))
    #expect(
      found == [
        .right(.rules, "1 rule is in force"),
        .wrong(.rules, "~/.config/tagroute/rules.d/a.conf:3: no: do it", Self.check),
        .wrong(.rules, "~/.config/tagroute/rules.d/b.conf: no: do it", Self.check),
        .note(.rules, "~/.config/tagroute/rules.d/c.conf:1: no: do it", Self.check),
      ])
  }
}

@Suite struct DiagnosisOutboxTests {
  private static let minute: UInt64 = 60_000_000

  private func findings(
    on: Bool = true, minutes: UInt64? = nil, dropped: UInt64 = 0, mqtt state: String? = "connected",
    change: (inout Examination) -> Void = { _ in }
  ) -> [Finding] {
    Seen.findings { seen in
      seen.now = 1000 * Self.minute
      var outgoing = AgentStatus.Outgoing()
      outgoing.on = on
      outgoing.dropped = dropped
      if let minutes {
        outgoing.waiting = 4
        outgoing.oldest = seen.now - minutes * Self.minute
      }
      seen.agent = .given(AgentStatus(version: "0.1.0", registered: true, outgoing: outgoing))
      var mqtt = MqttStatus()
      (mqtt.broker, mqtt.station, mqtt.state) = ("mqtts://b.example.com", "door", state ?? "")
      mqtt.stateReason = state == "waiting" ? "no route to it" : ""
      seen.mqtt = .given(state == nil ? nil : mqtt)
      seen.mqttUnit = .given(Seen.unit())
      change(&seen)
    }.filter { [.mqtt, .outbox].contains($0.subject) }
  }

  @Test func `an outbox that is off, and an older agent, have no finding`() {
    #expect(findings(on: false).isEmpty)
    #expect(Seen.findings { _ in }.allSatisfy { ![.mqtt, .outbox].contains($0.subject) })
  }

  @Test func `a station's own user hears of its outbox`() {
    let found = findings(minutes: 20, mqtt: "waiting") { seen in
      seen.daemon = .given(
        DaemonStatus(
          version: "0.1.0", enabled: true, scanning: true, suspendReasons: [], readers: [Seen.reader],
          stationUser: "tagroute-station", stationActive: true))
      let outgoing = seen.agent.value.flatMap { $0 }?.outgoing
      seen.agent = .given(AgentStatus(version: "0.1.0", headless: true, registered: true, outgoing: outgoing))
    }
    #expect(found.contains { $0.subject == .mqtt && $0.verdict == .wrong })
    #expect(found.contains { $0.subject == .outbox })
  }

  /// It may have crashed so often that systemd refuses each start.
  @Test func `a program that has failed is reset before it is started`() {
    let found = findings(minutes: 1, mqtt: nil) { $0.mqttUnit = .given(Seen.unit(active: "failed", sub: "failed")) }
    #expect(
      found.first?.remedy
        == Self.check(
          then: "systemctl --user reset-failed tagroute-mqtt.service && "
            + "systemctl --user enable --now tagroute-mqtt.service"))
  }

  @Test func `taps that wait for less than ten minutes are right`() {
    #expect(
      findings(minutes: 9) == [
        .right(.mqtt, "tagroute-mqtt is connected to mqtts://b.example.com as door"),
        .right(.outbox, "taps that wait to be sent: 4"),
      ])
    #expect(findings().map(\.text).last == "no tap waits to be sent")
    // A broker that restarts.
    #expect(findings(minutes: 9, mqtt: "waiting").map(\.verdict) == [.note, .right])
  }

  @Test func `taps that wait for longer are wrong, and the connection explains it`() {
    let connected = findings(minutes: 10)
    #expect(connected.map(\.verdict) == [.right, .wrong])
    #expect(connected.last?.text == "taps that wait to be sent: 4, the oldest for 10 minutes")
    #expect(connected.last?.remedy?.command == "journalctl --user -u tagroute-mqtt.service -n 20")
    let waiting = findings(minutes: 70, mqtt: "waiting")
    #expect(waiting.map(\.verdict) == [.wrong, .note])
    #expect(
      waiting.first?.text
        == "tagroute-mqtt is waiting, and not connected to mqtts://b.example.com as door (no route to it)")
    // Most reasons name the broker.
    let unreachable = findings(minutes: 1, mqtt: "waiting") { seen in
      var mqtt = seen.mqtt.value.flatMap { $0 } ?? MqttStatus()
      mqtt.stateReason = "cannot connect to mqtts://b.example.com: check Broker="
      seen.mqtt = .given(mqtt)
    }
    #expect(
      unreachable.first
        == .note(.mqtt, "tagroute-mqtt is waiting as door: cannot connect to mqtts://b.example.com: check Broker="))
    let hanging = findings(minutes: 70) { $0.mqtt = .failed(.init(name: BusError.Name.timeout, message: "no reply")) }
    #expect(hanging.map(\.verdict) == [.wrong, .note])
    #expect(hanging.first?.remedy?.command == "systemctl --user restart tagroute-mqtt.service")
  }

  @Test func `a program that does not run is wrong if there is an mqtt conf`() {
    let missing = findings(mqtt: nil)
    #expect(missing.map(\.verdict) == [.wrong, .right])
    // The program also ends if its file has an error, and then every start fails.
    #expect(missing.first?.remedy == Self.check(then: "systemctl --user enable --now tagroute-mqtt.service"))
    #expect(findings(on: false, minutes: 1, mqtt: nil).map(\.verdict) == [.note, .right])
    let uninstalled = findings(mqtt: nil) { $0.mqttUnit = .given(Seen.unit(load: "not-found", active: "inactive")) }
    #expect(uninstalled.first?.remedy?.command == "sudo apt-get install --reinstall tagroute")
  }

  private static func check(then command: String) -> Remedy {
    .run("/usr/libexec/tagroute-mqtt --check", "shows its errors; if there are none, \(command)")
  }

  @Test func `dropped taps are a note, and a clock that went back is no wait`() {
    #expect(findings(dropped: 2).last == .note(.outbox, "no tap waits to be sent; dropped before they were sent: 2"))
    #expect(findings(minutes: 70) { $0.now = 0 }.map(\.verdict) == [.right, .right])
  }
}
