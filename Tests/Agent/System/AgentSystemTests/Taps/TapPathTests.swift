import Bus
import Names
import TestKit
import Testing

@testable import AgentTests

/// A tap on its way through the real agent.
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
    #expect(
      shown.actions == [
        "default", "Open", "open", "Open", "always", "Always open this tag at once", "dismiss", "Dismiss",
      ])
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
    let line = try await agent.line(containing: "tap \(tapID(1)) was not handed to org.example.Menu.desktop: ")
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
