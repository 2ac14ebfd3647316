import Bus
import Glibc
import Names
import TestKit
import Testing

@testable import AgentTests

@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct TapPathTests {
  @Test func `a tap is shown, clicked and handed over with its message, and signals contain only its id`() async throws
  {
    let (rig, server) = try await AgentRig.withServerAndAgent()
    let signals = try await rig.signals()
    let message = try uriMessage("https://menu.example.com/table/4")
    try await rig.daemon.give(tapValues(1, message: message))

    let shown = try await server.next()
    #expect(shown.applicationName == "Tagroute")
    #expect(shown.summary == "Open in Menu")
    #expect(shown.body == "menu.example.com/table/4")
    #expect(shown.icon == "menu")
    #expect(shown.actions == ["default", "Open", "open", "Open", "more", "More…", "dismiss", "Dismiss"])
    #expect(shown.hints["desktop-entry"] == nil)
    try await server.click(shown, token: "token-1")

    let handed = try await rig.handler.next()
    #expect(handed.uri == "https://menu.example.com/table/4")
    #expect(handed.message == message)
    #expect(handed.platformData[Names.Handler.activationTokenKey] == .string("token-1"))
    #expect(handed.platformData[Names.Handler.tapIDKey] == .string(tapID(1)))
    #expect(handed.platformData["uid"] == .bytes([4, 0, 0, 0, 0, 0, 1]))
    #expect(handed.platformData["technology"] == .string("type-2"))
    #expect(handed.platformData["reader"] == .string("/org/tagroute/Tagroute1/readers/0"))
    #expect(handed.platformData["time"] == .uint64(1_795_000_000_000_000))

    var seen: [ReceivedSignal] = []
    for await signal in signals {
      seen.append(signal)
      if signal.member == "TapClosed" { break }
    }
    #expect(seen.map(\.member) == ["TapReceived", "TapClosed"])
    #expect(seen.map(\.arguments) == [[.string(tapID(1))], [.string(tapID(1)), .string("delivered")]])
    let tap = try await rig.tap(1)
    #expect(tap["state"] == .string("delivered"))
    #expect(tap["message"] == .bytes(message))
    #expect(tap["uri"] == .string("https://menu.example.com/table/4"))
    #expect(tap["handler"] == .string("org.example.Menu.desktop"))
  }

  @Test func `a refused tag is not offered, is logged in one line, and the next tap works`()
    async throws
  {
    let (rig, server) = try await AgentRig.withServerAndAgent()
    let agent = try await rig.agent
    let bad = [
      [], [0xFF, 0xFF], [0xD1, 0x01, 0xFF, 0x55, 0x04], try uriMessage("javascript:alert(1)"),
      try uriMessage("https://secret@menu.example.com/"), try uriMessage("https://menu.example.com/\u{7}a"),
      try uriMessage("no uri at all"), [0xD0, 0x00, 0x00],
    ]
    for (number, message) in bad.enumerated() { try await rig.daemon.give(tapValues(number, message: message)) }
    try await rig.daemon.give(tapValues(99, message: try uriMessage("https://menu.example.com/good")))

    #expect(try await server.nextTap().body == "menu.example.com/good")
    #expect(await !server.all.contains { $0.body.contains("secret") || $0.body.contains("alert") })
    for number in bad.indices {
      // A tag without a message, and an empty record, are no failure.
      #expect(try await rig.state(number) == ([0, 7].contains(number) ? "dismissed" : "failed"))
      let line = try await agent.line(containing: "tap \(tapID(number)) is not offered: ")
      #expect(!line.contains("secret"))
      #expect(!line.contains("alert"))
      #expect(await agent.log().filter { $0.contains(tapID(number)) }.count == 1)
    }
  }

  @Test func `an id is accepted once, and a new tap of the same tag replaces the notification`() async throws {
    let (rig, server) = try await AgentRig.withServerAndAgent(firstID: 30)
    let message = try uriMessage("https://menu.example.com/a")
    try await rig.daemon.give(tapValues(1, message: message, uid: [1, 2, 3, 4]))
    #expect(try await server.next().replaces == 0)
    try await rig.daemon.give(tapValues(1, message: message, uid: [1, 2, 3, 4]))
    try await rig.daemon.give(tapValues(2, message: message, uid: [1, 2, 3, 4]))
    let second = try await server.next()
    #expect(second.replaces == 30)
    #expect(try await rig.state(1) == "dismissed")
    try await server.click(second)
    _ = try await rig.handler.next()
    #expect(await server.all.count == 2)
  }

  @Test func `a tap that a handler refuses is shown with the reason and can be tried again`() async throws {
    let (rig, server) = try await AgentRig.withServerAndAgent()
    let signals = try await rig.signals()
    await rig.handler.set(.refuses)
    try await rig.daemon.give(tapValues(1, message: try uriMessage("https://menu.example.com/a")))
    try await server.click(try await server.next())

    let failed = try await server.next()
    #expect(failed.summary == "Could not open in Menu")
    #expect(failed.body == "menu.example.com/a · The app did not take it: “the kitchen is closed”")
    #expect(failed.actions == ["default", "Try again", "retry", "Try again", "dismiss", "Dismiss"])
    #expect(try await rig.state(1) == "failed")
    // The handler knows the content of the tag, so its text is shown but not logged.
    let agent = try await rig.agent
    let line = try await agent.line(containing: "tap \(tapID(1)) was not handed to org.example.Menu: ")
    #expect(line.hasSuffix(BusError.Name.failed))
    #expect(await agent.log().allSatisfy { !$0.contains("kitchen") || $0.hasPrefix("<7>") })

    await rig.handler.set(.takes)
    try await server.click(failed, action: "retry")
    #expect(await signals.closed(1) == "failed")
    #expect(await signals.closed(1) == "delivered")
    #expect(await rig.handler.count == 2)
  }

  @Test func `a click does not open an app that was blocked after the tap was shown`() async throws {
    let (rig, server) = try await AgentRig.withServerAndAgent()
    try await rig.daemon.give(tapValues(1, message: try uriMessage("https://menu.example.com/a")))
    let shown = try await server.next()
    #expect(shown.summary == "Open in Menu")
    _ = try await rig.call("Block", [.string(HandlerStandIn.desktopID), .string("")])
    try await server.click(shown)
    // Waits for either event, so that a wrong hand-over fails the test instead of hanging it.
    let (events, seen) = AsyncStream.makeStream(of: String.self)
    Task { seen.yield(try await server.next().summary) }
    Task { seen.yield("\(try await rig.handler.next().uri) was handed over") }
    #expect(await events.first { _ in true } == "No app opens this link")
    #expect(await rig.handler.count == 0)
    #expect(try await rig.state(1) == "shown")
  }

  @Test(arguments: [nil, HandlerStandIn.desktopID])
  func `a call does not open an app that was blocked after the tap was shown`(handler: String?)
    async throws
  {
    let (rig, server) = try await AgentRig.withServerAndAgent()
    try await rig.daemon.give(tapValues(1, message: try uriMessage("https://menu.example.com/a")))
    #expect(try await server.next().summary == "Open in Menu")
    _ = try await rig.call("Block", [.string(HandlerStandIn.desktopID), .string("")])
    let options = handler.map { ["handler": Value.string($0)] } ?? [:]
    let error = await #expect(throws: BusError.self) {
      try await rig.call("Open", [.string(tapID(1)), .dictionary(options)])
    }
    // If the app was opened, the tap would not be shown again.
    #expect(try #require(error).name == Names.Errors.notPossible)
    if handler == nil { #expect(try await server.next().summary == "No app opens this link") }
    #expect(await rig.handler.count == 0)
  }

  @Test func `only the daemon may give taps`() async throws {
    let rig = try await AgentRig.withAgent()
    let stranger = try await Connection.open(BusAddress(rig.installation.systemBus.address), on: rig.client.loop)
    let agent = try #require(await rig.daemon.agent)
    let error = await #expect(throws: BusError.self) {
      try await stranger.call(
        agent, try ObjectPath(Names.Agent.tapReceiverPath), Names.Daemon.agentInterface, "TagRead",
        [.dictionary(tapValues(1, message: try uriMessage("https://menu.example.com/a")))])
    }
    #expect(error?.name == Names.Errors.notAuthorized)
  }

  @Test func `calls dismiss and open taps, and an invalid call is an error with its name`() async throws {
    let (rig, server) = try await AgentRig.withServerAndAgent()
    for number in 1...2 {
      try await rig.daemon.give(tapValues(number, message: try uriMessage("https://menu.example.com/\(number)")))
      _ = try await server.next()
    }
    _ = try await rig.call("Dismiss", [.string(tapID(1))])
    #expect(try await rig.state(1) == "dismissed")
    _ = try await rig.call("Open", [.string(tapID(2)), .dictionary(["activation-token": .string("t")])])
    #expect(try await rig.handler.next().platformData[Names.Handler.activationTokenKey] == .string("t"))
    #expect(try await rig.state(2) == "delivered")

    for (member, number, name) in [
      ("Dismiss", 2, Names.Errors.notPossible), ("Dismiss", 3, Names.Errors.noSuchTap),
      ("Open", 2, Names.Errors.alreadyDelivered), ("Open", 3, Names.Errors.noSuchTap),
    ] {
      let arguments: [Value] = [.string(tapID(number))] + (member == "Open" ? [.dictionary([:])] : [])
      let error = await #expect(throws: BusError.self) { try await rig.call(member, arguments) }
      #expect(error?.name == name, "\(member) \(number)")
    }
    await rig.handler.set(.refuses)
    let error = await #expect(throws: BusError.self) {
      try await rig.call("Open", [.string(tapID(1)), .dictionary([:])])
    }
    #expect(error?.name == Names.Errors.failed)
    #expect(error?.message.contains("the kitchen is closed") == true)
  }
}

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
