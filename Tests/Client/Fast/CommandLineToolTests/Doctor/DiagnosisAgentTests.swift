import Bus
import Names
import Testing

@testable import CommandLineTool
@testable import TagrouteClient

/// What `tagroute doctor` reports about an agent that the daemon has not registered.
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
