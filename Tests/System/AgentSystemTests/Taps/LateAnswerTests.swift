import Bus
import Names
import TestRig
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

  @Test(arguments: [UInt32(1), 2])
  func `a late answer after the notification closed delivers the tap`(reason: UInt32) async throws {
    let signals = try await rig.signals()
    let failed = try await server.next()
    #expect(await signals.closed(1) == "failed")
    try await server.close(failed, reason: reason)
    #expect(await signals.closed(1) == (reason == 1 ? "expired" : "dismissed"))
    await rig.handler.answer()
    #expect(await signals.closed(1) == "delivered")
    #expect(try await rig.state(1) == "delivered")
  }

  @Test func `a retry while the app is still working waits for it and does not hand the tap over twice`() async throws {
    let signals = try await rig.signals()
    let failed = try await server.next()
    #expect(await signals.closed(1) == "failed")
    let agent = try await rig.agent
    let lines = await agent.log().count
    try await server.emit("ActionInvoked", [.uint32(failed.id), .string(failed.sentKey("retry"))], to: failed.sender)
    while try await server.nextClosed() != failed.id {}
    try await agent.line(containing: "is opening", after: lines)
    await rig.handler.answer()
    #expect(await signals.closed(1) == "delivered")
    #expect(await rig.handler.count == 1)
    #expect(await server.all.count == 2)
  }

  @Test func `an app that is still working is not called again after another app failed`() async throws {
    let signals = try await rig.signals()
    _ = try await server.next()
    #expect(await signals.closed(1) == "failed")
    try rig.installation.directory.write(
      HandlerStandIn.desktopEntry.replacing("Name=Menu", with: "Name=Other")
        .replacing("Exec=/bin/true", with: "Exec=/nonexistent/other").replacing("DBusActivatable=true\n", with: ""),
      to: "home/share/applications/org.example.Other.desktop")
    _ = try await rig.call("Reload")
    let other = await #expect(throws: BusError.self) { try await open("org.example.Other") }
    #expect(other?.name == Names.Errors.failed)
    #expect(await signals.closed(1) == "failed")
    let agent = try await rig.agent
    let lines = await agent.log().count
    let again = Task { try await open("org.example.Menu") }
    try await agent.line(containing: "is opening", after: lines)
    await rig.handler.answer()
    try await again.value
    #expect(await signals.closed(1) == "delivered")
    #expect(await rig.handler.count == 1)
  }

  private func open(_ handler: String) async throws {
    _ = try await rig.client.call(
      Names.Agent.busName, try ObjectPath(Names.Agent.path), Names.Agent.interface, "Open",
      [.string(tapID(1)), .dictionary(["handler": .string(handler)])], timeout: .seconds(180))
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
