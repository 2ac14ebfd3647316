import Testing

@testable import CommandLineTool
@testable import TagrouteClient

/// What `tagroute doctor` reports about a station.
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
