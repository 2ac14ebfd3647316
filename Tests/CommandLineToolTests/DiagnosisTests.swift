import Bus
import Testing

@testable import CommandLineTool
@testable import TagrouteClient

/// What `tagroute doctor` makes of what it has seen.
struct DiagnosisTests {
  private static let reader = ReaderStatus(
    path: "/r", name: "ACR122U", device: "acr122_usb:001", seat: "seat0", state: "scanning", stateReason: "")

  /// Everything there and in order.
  private static func sound() -> Examination {
    var seen = Examination()
    seen.daemonUnit = .given(.init(load: "loaded", active: "active", file: "enabled"))
    seen.daemon = .given(
      DaemonStatus(version: "0.1.0", enabled: true, scanning: true, suspendReasons: [], readers: [reader]))
    seen.polkitActions = .given(Set(Diagnosis.actions))
    seen.agentUnit = .given(.init(load: "loaded", active: "active", file: "enabled"))
    seen.agent = .given(AgentStatus(version: "0.1.0", registered: true))
    seen.notifications = .given(.init(name: "dunst", version: "1.9", capabilities: ["actions", "body"]))
    seen.handlers = .given([])
    return seen
  }

  private func wrong(_ change: (inout Examination) -> Void) -> [Finding] {
    var seen = Self.sound()
    change(&seen)
    return Diagnosis(seen).findings.filter { $0.verdict == .wrong }
  }

  @Test func `of what is in order nothing is wrong`() {
    #expect(wrong { _ in }.isEmpty)
  }

  static let units: [(load: String, active: String, text: String, remedy: String)] = [
    ("loaded", "inactive", "tagrouted.service is inactive", "sudo systemctl enable --now tagrouted.service"),
    (
      "loaded", "failed", "tagrouted.service has failed",
      "sudo journalctl -u tagrouted.service says why; then sudo systemctl restart tagrouted.service"
    ),
    ("masked", "inactive", "tagrouted.service is masked", "sudo systemctl unmask --now tagrouted.service"),
  ]

  @Test(arguments: units) func `a unit that does not run is named with what starts it`(
    load: String, active: String, text: String, remedy: String
  ) {
    let findings = wrong {
      $0.daemonUnit = .given(.init(load: load, active: active, file: "disabled"))
      $0.daemon = .failed(BusError(name: BusError.Name.serviceUnknown, message: "not there"))
    }
    #expect(findings.first == .wrong(.daemonUnit, text, remedy: remedy))
    #expect(findings.map(\.subject) == [.daemonUnit, .daemon])
  }

  @Test func `what was started by hand needs no unit`() {
    #expect(wrong { $0.daemonUnit = .given(.init(load: "loaded", active: "inactive", file: "disabled")) }.isEmpty)
    #expect(wrong { $0.agentUnit = .given(.init(load: "not-found", active: "inactive", file: "")) }.isEmpty)
  }

  @Test func `the user's unit is the user's to start`() {
    let findings = wrong {
      $0.agentUnit = .given(.init(load: "loaded", active: "failed", file: "enabled"))
      $0.agent = .given(nil)
    }
    #expect(findings.map(\.subject) == [.agentUnit, .agent])
    #expect(findings.first?.remedy?.hasPrefix("journalctl --user -u tagroute-agent.service") == true)
  }

  @Test func `a policy that keeps people from the daemon is no daemon that does not run`() {
    let findings = wrong { $0.daemon = .failed(BusError(name: BusError.Name.accessDenied, message: "no")) }
    #expect(findings.map(\.subject) == [.daemon])
    #expect(findings.first?.text.contains("policy") == true)
    #expect(findings.first?.remedy?.contains("org.tagroute.Tagroute1.conf") == true)
  }

  @Test func `programs of another version than this one are named`() {
    let daemon = wrong {
      $0.daemon = .given(
        DaemonStatus(version: "0.0.9", enabled: true, scanning: true, suspendReasons: [], readers: [Self.reader]))
    }
    #expect(daemon.map(\.text) == ["tagrouted is version 0.0.9, this is 0.1.0"])
    let agent = wrong { $0.agent = .given(AgentStatus(version: "0.2.0", registered: true)) }
    #expect(agent.map(\.text) == ["the agent is version 0.2.0, this is 0.1.0"])
  }

  @Test func `a reader that cannot be used comes with the daemon's own remedy`() {
    var failed = Self.reader
    (failed.state, failed.stateReason) = ("failed", "it is taken by the kernel module pn533_usb: modprobe -r pn533_usb")
    let findings = wrong {
      $0.daemon = .given(
        DaemonStatus(
          version: "0.1.0", enabled: true, scanning: false, suspendReasons: ["no-reader"], readers: [failed]))
    }
    #expect(findings == [.wrong(.reader, "ACR122U (acr122_usb:001) is failed", remedy: failed.stateReason)])
  }

  @Test func `scanning that is switched off is wrong, and a locked session is none of its faults`() {
    func scanning(_ reason: String) -> [Finding] {
      wrong {
        $0.daemon = .given(
          DaemonStatus(
            version: "0.1.0", enabled: reason != "disabled", scanning: false, suspendReasons: [reason],
            readers: [Self.reader]))
      }
    }
    #expect(scanning("disabled") == [.wrong(.scanning, "it is switched off", remedy: "tagroute on")])
    #expect(scanning("session-locked").isEmpty)
  }

  @Test func `a mistake in a configuration is named where it stands`() {
    let findings = wrong {
      $0.configuration = "/etc/tagroute.conf:3: no such key: Scann"
      $0.agentConfiguration = "/home/me/.config/tagroute/agent.conf:1: no such group"
    }
    #expect(findings.map(\.subject) == [.configuration, .agentConfiguration])
    #expect(findings.first?.line.hasPrefix("wrong  configuration: /etc/tagroute.conf:3: no such key") == true)
  }

  @Test func `an agent that is not let in, and one that waits for the daemon, are two things`() {
    let refused = wrong { $0.agent = .given(AgentStatus(version: "0.1.0", registered: false)) }
    #expect(refused.map(\.subject) == [.agent])
    let waiting = wrong {
      $0.agent = .given(AgentStatus(version: "0.1.0", registered: false))
      $0.daemon = .failed(BusError(name: BusError.Name.serviceUnknown, message: "not there"))
    }
    #expect(waiting.map(\.subject) == [.daemon])
  }
}
