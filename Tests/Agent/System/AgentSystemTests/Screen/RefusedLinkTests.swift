import Bus
import TestKit
import Testing

@testable import AgentTests

/// Tags that cannot be opened, with the real agent. The user sees why a link is refused, and other content is no
/// failure.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct RefusedLinkTests {
  private static let title = "This link may not be opened"
  private static let cases = [
    (
      "https://example.com/a\nb",
      "It holds a character that no link may hold, such as a line end or a backslash"
    ),
    (
      "https://example.com/a\\b",
      "It holds a character that no link may hold, such as a line end or a backslash"
    ),
    ("javascript:alert(1)", "Links of this kind are never opened from a tag"),
    ("https://bank.example@evil.example/", "It has a user name before the domain, as deceptive links do"),
    ("https://example.com/" + String(repeating: "a", count: 9000), "It is too long"),
    ("https:///a", "It is not written as a link has to be; write the tag again"),
  ]

  @Test func `the notification gives the reason, has no text from the tag and can only be closed`() async throws {
    let (rig, server) = try await AgentRig.withServerAndAgent()
    let agent = try await rig.agent
    for (number, (link, why)) in Self.cases.enumerated() {
      try await rig.tap(link, number + 1)
      let shown = try await server.next()
      #expect(shown.summary == Self.title && shown.body == why, "\(link.prefix(80))")
      #expect(shown.actions == ["default", "Close"])
      #expect(try await rig.state(number + 1) == "failed")
      #expect(try await rig.tap(number + 1)["state-reason-code"] == .string("refused"))
      // Only one notification at a time is on the screen.
      #expect(await server.onScreen.count == 1)
      if number == 2 { try await server.click(shown) }
    }
    // A damaged tag has its own words, in the same place.
    var damaged = tapValues(40, message: [0xD1, 0x01])
    damaged["damage"] = .string("damaged: it is cut off")
    try await rig.daemon.give(damaged)
    let shown = try await server.next()
    #expect(shown.summary == "This tag is damaged" && shown.body == "What is on it cannot be read; write the tag again")
    #expect(try await rig.tap(40)["state-reason-code"] == .string("damaged"))
    #expect(await server.onScreen.count == 1)
    #expect(await rig.handler.count == 0)
    try await agent.exit(after: 15)
    #expect(await server.onScreen.isEmpty)
  }
}
