import Bus
import EventLoop
import Glibc
import TestKit
import Testing

@testable import IntegrationTests

/// Another tag or another program interferes with a visible notification, on servers as packaged by Debian. Each test
/// prints a line for the table of `Packaging/try-notification-server`.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct RealServerMisuseTests {
  /// The tag changes its content while the user moves the pointer to the button.
  @Test(arguments: RealServer.tested)
  func `a click right after another link was read opens no link`(server: RealServer) async throws {
    let (desktop, screen, taps) = try await RealServerScreen.stage(server)
    try await desktop.place(try Tag(1))
    _ = try await taps.received()
    try await screen.point(server.opening, in: try await screen.shown())
    try await desktop.remove()
    let other = try Tag(1, uri: "https://menu.example.com/other")
    try await desktop.place(other)
    let second = try await taps.received()
    let agent = try await desktop.agent
    try await agent.line(containing: "tap \(second) is shown")
    try await screen.press(server.opening)
    guard server.showsAfterClosing else {
      // The agent handles a click before it shows the next tag.
      try await desktop.remove()
      try await desktop.place(try Tag(2))
      try await agent.line(containing: "tap \(try await taps.received()) is shown")
      #expect(await desktop.app.count == 0)
      print("another link, \(server.testDescription): a click opened nothing; what followed is only in its list")
      return
    }

    // A deliberate click opens the visible link, and the first click has opened no link.
    var (clicks, ended) = (0, "")
    while !ended.contains("is opening") && clicks < 5 {
      let box = try await screen.shown(for: .milliseconds(1500))
      #expect(await desktop.app.count == 0)
      let seen = await agent.log().count
      try await screen.click(server.opening, in: box)
      clicks += 1
      ended = try await agent.line(after: seen) {
        $0.contains("tap \(second) is opening") || $0.contains("tap \(second) is shown")
      }
    }
    #expect(try await desktop.handed().message == other.message)
    #expect(await desktop.app.count == 1)
    print(
      "another link, \(server.testDescription): the first click opened nothing, click \(clicks + 1) the link that was shown"
    )
  }

  /// Any program may call the server, guess the id, and use the action keys from the documentation.
  @Test(arguments: RealServer.tested)
  func `a program that takes over a question gets no permission`(server: RealServer) async throws {
    let (desktop, screen, taps) = try await RealServerScreen.stage(server, isSystems: false)
    try await desktop.place(try Tag(1))
    _ = try await taps.received()
    _ = try await screen.shown()
    let stranger = try await Connection.open(desktop.sessionBus, on: EventLoop(label: "stranger"))
    let agent = try await desktop.agent
    var isTaken = false
    for place in [server.opening, RealServer.Click(x: 60, y: -20), RealServer.Click(x: -60, y: -20)] {
      // The server assigns ids in order. If a click closed the question, it is shown again with another id.
      let own = try await notify(stranger, replacing: 0) ?? 0
      try await close(stranger, own)
      isTaken = try await notify(stranger, replacing: own - 1) == own - 1 || isTaken
      let seen = await agent.log().count
      try await screen.click(place, in: try await screen.shown())
      // The question is gone, or the click was on the other program's notification.
      let isGone = try await screen.isEmpty()
      let isShownAgain = await agent.log().dropFirst(seen).contains { $0.contains(" is shown") }
      if isGone || !isShownAgain { break }
    }
    // The agent handles every click before it shows the next tag.
    try await desktop.remove()
    let seen = await agent.log().count
    try await desktop.place(try Tag(2))
    try await agent.line(containing: "tap \(try await taps.received()) is shown", after: seen)
    #expect(await desktop.app.count == 0)
    #expect(access(desktop.installation.directory.file("config/tagroute/handlers.conf"), F_OK) != 0)
    print(
      "takeover, \(server.testDescription): the server \(isTaken ? "lets it" : "does not let it"), and no click gave a permission"
    )
  }

  /// - Returns: the id that the server assigned, or nil if it refused.
  private func notify(_ stranger: Connection, replacing number: UInt32) async throws -> UInt32? {
    let keys = ["default", "Later", "allow", "Later", "open", "Later", "candidate-0", "Later"]
    do throws(BusError) {
      let reply = try await stranger.call(
        "org.freedesktop.Notifications", "/org/freedesktop/Notifications", "org.freedesktop.Notifications", "Notify",
        [
          .string("Updates"), .uint32(number), .string(""), .string("Updates are ready"),
          .string("Install them later?"),
          .strings(keys), .dictionary([:]), .int32(0),
        ])
      return reply.first?.asUInt32
    } catch {
      return nil
    }
  }

  private func close(_ stranger: Connection, _ number: UInt32) async throws {
    _ = try await stranger.call(
      "org.freedesktop.Notifications", "/org/freedesktop/Notifications", "org.freedesktop.Notifications",
      "CloseNotification", [.uint32(number)])
  }
}
