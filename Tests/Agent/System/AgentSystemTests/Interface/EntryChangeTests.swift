import Bus
import Glibc
import Names
import TestKit
import Testing

@testable import AgentTests

/// A desktop entry that is updated or removed while it has a tap.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct EntryChangeTests {
  private let entry = "share/applications/\(HandlerStandIn.desktopID)"

  /// Replaces or removes the entry, and makes the agent read it.
  private func change(_ rig: AgentRig, to text: String?) async throws {
    if let text {
      try rig.installation.directory.write(text, to: entry)
    } else {
      unlink(rig.installation.directory.file(entry))
    }
    _ = try await rig.call("Reload")
  }

  @Test func `a tap on the screen survives an update, removal and reinstallation of its app`() async throws {
    let (rig, server) = try await AgentRig.withServerAndAgent()
    for number in 1...2 {
      try await rig.daemon.give(tapValues(number, message: try uriMessage("https://menu.example.com/\(number)")))
    }
    let (first, second) = (try await server.next(), try await server.next())
    #expect([first, second].map(\.summary) == ["Open in Menu", "Open in Menu"])
    try await change(rig, to: HandlerStandIn.desktopEntry.replacing("Icon=menu", with: "Icon=newer"))
    try await server.click(first)
    #expect(try await rig.handler.next().uri == "https://menu.example.com/1")

    try await change(rig, to: nil)
    try await server.click(second)
    #expect(try await server.next().summary == "No app opens this link")
    #expect(try await rig.state(2) == "shown")
    try await change(rig, to: HandlerStandIn.desktopEntry)
    _ = try await rig.call("Open", [.string(tapID(2)), .dictionary([:])])
    #expect(try await rig.handler.next().uri == "https://menu.example.com/2")
    #expect(try await rig.state(2) == "delivered")
  }

  @Test func `a tap that is being opened ends normally although its entry changes`() async throws {
    let (rig, server) = try await AgentRig.withServerAndAgent()
    let signals = try await rig.signals()
    await rig.handler.set(.hangs)
    try await rig.daemon.give(tapValues(1, message: try uriMessage("https://menu.example.com/1")))
    try await server.click(try await server.next())
    _ = try await rig.handler.next()
    for text in [HandlerStandIn.desktopEntry.replacing("/bin/true", with: "/bin/false"), nil] {
      try await change(rig, to: text)
      #expect(try await rig.state(1) == "opening")
    }
    await rig.handler.answer()
    #expect(await signals.closed(1) == "delivered")
    #expect(await rig.handler.count == 1)
    #expect(await server.all.count == 1)
  }
}
