import Glibc
import TestKit
import Testing

@testable import IntegrationTests

/// Notification servers as packaged by Debian, on virtual screens, with real taps and real mouse clicks.
///
/// `Packaging/try-notification-server` tests the servers that need a desktop, and makes the pictures for the
/// documentation.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct RealServerTests {
  @Test(arguments: RealServer.tested)
  func `taps are opened and dismissed, and one outlives the server`(server: RealServer) async throws {
    let desktop = try await Desktop(environment: RealServerScreen.language)
    let screen = try await RealServerScreen(server, on: desktop)
    try desktop.installation.directory.write("[Notifications]\nTimeout=never\n", to: "agent.conf")
    try await screen.start()
    try await desktop.start()
    let agent = try await desktop.agent
    let taps = try await Taps(on: desktop.sessionBus)
    if !server.isActivated { try await agent.line(containing: "notifications go to \(server.ownName)") }
    try await screen.remember()

    try await desktop.place(try Tag(1))
    let opened = try await taps.received()
    let first = try await screen.shown()
    try await screen.click(server.opening, in: first)
    let handed = try await desktop.handed()
    #expect(handed.message == (try Tag(1).message))
    #expect((handed.platformData["activation-token"] != nil) == server.givesToken)
    #expect(await taps.end(of: opened) == "delivered")
    try await screen.empty()

    try await desktop.place(try Tag(2))
    let dismissed = try await taps.received()
    try await screen.click(server.closing, in: try await screen.shown())
    #expect(await taps.end(of: dismissed) == server.closedState)
    try await screen.empty()

    try await desktop.place(try Tag(3))
    let kept = try await taps.received()
    _ = try await screen.shown()
    let seen = await agent.log().count
    try await screen.kill()
    try await screen.start()
    // The agent asks again for the server's name and capabilities, until the server replies.
    try await agent.line(containing: "notifications go to \(server.ownName)", after: seen)
    if server.showsAgain {
      let again = try await screen.shown()
      // The tap is shown once, not twice.
      #expect((again.width, again.height) == (first.width, first.height))
      try await screen.click(server.opening, in: again)
      #expect(try await desktop.handed().message == (try Tag(3).message))
      #expect(await taps.end(of: kept) == "delivered")
    }
    #expect(await desktop.app.count == (server.showsAgain ? 2 : 1))
  }

  // MARK: Do-not-disturb, timeouts and repeated tags

  @Test(arguments: RealServer.quietable)
  func `a tap during do-not-disturb is shown afterwards`(server: RealServer) async throws {
    let (desktop, screen, taps) = try await RealServerScreen.stage(server)
    try await screen.setQuiet(true)
    try await desktop.place(try Tag(1))
    let id = try await taps.received()
    try await desktop.agent.line(containing: "tap \(id) is shown")
    #expect(try await screen.isEmpty())
    try await screen.setQuiet(false)
    try await screen.click(server.opening, in: try await screen.shown())
    #expect(try await desktop.handed().message == (try Tag(1).message))
    #expect(await taps.end(of: id) == "delivered")
    try await screen.empty()
  }

  @Test(arguments: RealServer.expiring)
  func `a notification without an answer expires`(server: RealServer) async throws {
    let (desktop, screen, taps) = try await RealServerScreen.stage(server, timeout: "server")
    try await desktop.place(try Tag(1))
    let id = try await taps.received()
    #expect(await taps.end(of: id) == "expired")
    try await screen.empty()
    #expect(await desktop.app.count == 0)
  }

  @Test(arguments: RealServer.staying)
  func `a repeated tap replaces its notification`(server: RealServer) async throws {
    let (desktop, screen, taps) = try await RealServerScreen.stage(server)
    try await desktop.place(try Tag(1))
    let first = try await taps.received()
    let box = try await screen.shown()
    try await desktop.remove()
    try await desktop.place(try Tag(1))
    let second = try await taps.received()
    #expect(second != first)
    try await desktop.agent.line(containing: "tap \(second) is shown")
    let again = try await screen.shown()
    #expect((again.width, again.height) == (box.width, box.height))
    try await screen.click(server.opening, in: again)
    #expect(try await desktop.handed().message == (try Tag(1).message))
    try await screen.empty()
    #expect(await desktop.app.count == 1)
  }
}
