import Bus
import Names
import TestRig
import Testing
@testable import AgentTests

@testable import Agent

@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct RegistrationNoticeTests {
  private static func isShow(_ action: RegistrationNotice.Action?) -> Bool {
    if case .show = action { true } else { false }
  }

  @Test func `another agent is reported once per episode`() {
    var notice = RegistrationNotice()
    let other = BusError(name: Names.Errors.alreadyRegistered, message: ":1.5 serves the session")
    let noSession = BusError(name: Names.Errors.notASession, message: "no session")
    #expect(notice.handle(nil) == nil)
    #expect(notice.handle(noSession) == nil)
    #expect(Self.isShow(notice.handle(other)))
    #expect(notice.handle(BusError(name: Names.Errors.alreadyRegistered, message: ":1.6 serves the session")) == nil)
    #expect(notice.handle(nil) == .remove)
    #expect(notice.handle(nil) == nil)
    #expect(Self.isShow(notice.handle(other)))
  }

  @Test func `a refusal for another reason removes the notification for the rest of the episode`() {
    var notice = RegistrationNotice()
    let other = BusError(name: Names.Errors.alreadyRegistered, message: ":1.5 serves the session")
    let noSession = BusError(name: Names.Errors.notASession, message: "no session")
    #expect(Self.isShow(notice.handle(other)))
    #expect(notice.handle(noSession) == .remove)
    #expect(notice.handle(noSession) == nil)
    #expect(notice.handle(other) == nil)
    #expect(notice.handle(nil) == nil)
    #expect(Self.isShow(notice.handle(other)))
  }

  @Test func `the user sees that another program is the agent until the daemon accepts this one`() async throws {
    let rig = try await AgentRig()
    let server = try await rig.startServer()
    await rig.daemon.fail(registrations: [BusError(name: Names.Errors.alreadyRegistered, message: "taken")])
    try await rig.startAgent()
    let shown = try await server.next()
    #expect(shown.summary == "Another program receives your tags")
    #expect(try await server.nextClosed() == shown.id)
    // Taps are shown as usual.
    try await rig.daemon.give(tapValues(1, message: try uriMessage("https://menu.example.com/1")))
    #expect(try await server.next().summary == "Open in Menu")
  }
}
