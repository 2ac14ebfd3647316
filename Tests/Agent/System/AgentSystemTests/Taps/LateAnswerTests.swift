import Bus
import TestKit
import Testing

@testable import AgentTests

/// An app that does not answer in time, with the real agent.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct LateAnswerTests {
  private let rig: AgentRig
  private let server: NotificationServerStandIn

  init() async throws {
    rig = try await AgentRig()
    server = try await rig.startServerAndAgent()
    await rig.handler.set(.hangs)
    try await rig.daemon.give(tapValues(1, message: try uriMessage("https://menu.example.com/a")))
    try await server.click(try await server.next())
    _ = try await rig.handler.next()
  }

  @Test func `a late answer delivers the tap and closes the notification that offers a retry`() async throws {
    let signals = try await rig.signals()
    let failed = try await server.next()
    #expect(failed.summary == "May have been opened in Menu")
    #expect(failed.body == "menu.example.com/a · The app did not answer in time")
    #expect(try await rig.state(1) == "failed")
    #expect(try await rig.tap(1)["state-reason-code"] == .string("unanswered"))
    await rig.handler.answer()
    #expect(await signals.closed(1) == "failed")
    #expect(await signals.closed(1) == "delivered")
    while try await server.nextClosed() != failed.id {}
    #expect(try await rig.state(1) == "delivered")
    #expect(try await rig.tap(1)["state-reason-code"] == .string(""))
    #expect(await rig.handler.count == 1)
  }

  @Test func `an app that ends during a hand-over is detected at once, and gets the tap again on retry`() async throws {
    let signals = try await rig.signals()
    await rig.handler.leave()
    let failed = try await server.next()
    #expect(failed.summary == "May have been opened in Menu")
    #expect(failed.body == "menu.example.com/a · The app ended without an answer")
    let another = try await HandlerStandIn.start(on: try #require(rig.installation.sessionBus).address)
    try await server.click(failed, action: "retry")
    #expect(try await another.next().uri == "https://menu.example.com/a")
    #expect(await signals.closed(1) == "failed")
    #expect(await signals.closed(1) == "delivered")
  }
}
