import Bus
import EventLoop
import Glibc
import Inbox
import Names
import TestKit
import Testing

@testable import Agent
@testable import AgentTests

/// Processes and buses that end around a tap, and the state of the tap afterwards.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct RecoveryTests {
  @Test func `after a crash shown taps are shown again, and a tap that was being opened has failed`() async throws {
    let (rig, server) = try await AgentRig.withServerAndAgent()
    let agent = try await rig.agent
    await rig.handler.set(.hangs)
    for number in 1...2 {
      try await rig.daemon.give(tapValues(number, message: try uriMessage("https://menu.example.com/\(number)")))
    }
    let first = try await server.next()
    _ = try await server.next()
    try await server.click(first)
    _ = try await rig.handler.next()
    try await agent.line(containing: "tap \(tapID(2)) is shown")
    #expect(try await rig.state(1) == "opening")

    try await rig.restartAgent()
    let again = [try await server.next(), try await server.next()]
    #expect(again.map(\.summary) == ["May have been opened in Menu", "Open in Menu"])
    #expect(again[0].actions == ["default", "Try again", "retry", "Try again", "dismiss", "Dismiss"])
    // The first notification was closed by the click. The second one is left from the killed agent: it is closed and
    // shown again with new keys.
    #expect(again.map(\.id) == [3, 4])
    #expect(await server.onScreen.count == 2)
    #expect(try await rig.state(1) == "failed")
    #expect(try await rig.state(2) == "shown")
    #expect(await rig.handler.count == 1)
  }

  @Test func `a failed tap that can be tried again is shown after a restart, with the chosen app`()
    async throws
  {
    let rig = try await AgentRig()
    // Its name comes first, so that the existing handler is the second choice.
    try rig.installation.directory.write(
      HandlerStandIn.desktopEntry.replacing("Name=Menu", with: "Name=First"),
      to: "share/applications/org.example.First.desktop")
    let server = try await rig.startServerAndAgent()
    await rig.handler.set(.refuses)
    try await rig.daemon.give(tapValues(1, message: try uriMessage("https://menu.example.com/1")))
    try await rig.daemon.give(tapValues(2, message: try uriMessage("javascript:1")))
    #expect(try await server.next().summary == "Which app opens these links?")
    await #expect(throws: BusError.self) {
      try await rig.call("Open", [.string(tapID(1)), .dictionary(["handler": .string(HandlerStandIn.desktopID)])])
    }
    #expect(try await rig.tap(1)["handler"] == .string(HandlerStandIn.desktopID))
    #expect(try await server.nextTap().summary == "Could not open in Menu")

    try await rig.restartAgent()
    let again = try await server.next()
    #expect(again.summary == "Could not open in Menu")
    #expect(again.body.contains("the kitchen is closed"))
    await rig.handler.set(.takes)
    let refused = try await rig.handler.next().platformData
    try await server.click(again, action: "retry")
    let taken = try await rig.handler.next()
    #expect(taken.uri == "https://menu.example.com/1")
    for key in ["uid", "technology", "reader", "time", "tap-id"] {
      #expect(refused[key] != nil && taken.platformData[key] == refused[key], "\(key)")
    }
    #expect(await server.all.count(where: \.isTap) == 3)
  }

  @Test(.enabled(if: geteuid() == 0, "only root can write a system-wide entry"))
  func `an app that was fixed by an update gets the link on retry`() async throws {
    let rig = try await AgentRig()
    let entry = HandlerStandIn.desktopEntry.replacing("DBusActivatable=true", with: "").replacing(
      "Name=Menu", with: "Name=Mended")
    let file = "share/applications/org.example.Mended.desktop"
    try rig.installation.directory.write(
      entry.replacing("/bin/true", with: "/nowhere %u").replacing("menu.example.com", with: "mended.example"), to: file)
    let server = try await rig.startServerAndAgent()
    let signals = try await rig.signals()
    try await rig.daemon.give(tapValues(1, message: try uriMessage("https://mended.example/1")))
    try await server.click(try await server.next())
    let failed = try await server.next()
    #expect(failed.summary == "Could not open in Mended")
    #expect(await signals.closed(1) == "failed")
    try rig.installation.directory.write(
      entry.replacing("/bin/true", with: "/bin/true %u").replacing("menu.example.com", with: "mended.example"), to: file
    )
    _ = try await rig.call("Reload")
    try await server.click(failed, action: "retry")
    #expect(await signals.closed(1) == "delivered")
  }

  @Test func `without action support the notification says that the tap is kept, and a call opens it`() async throws {
    let (rig, server) = try await AgentRig.withServerAndAgent(capabilities: ["body"])
    try await rig.daemon.give(tapValues(1, message: try uriMessage("https://menu.example.com/1")))
    let shown = try await server.next()
    #expect(shown.actions.isEmpty)
    #expect(shown.body.hasPrefix("menu.example.com/1\nThe desktop shows no buttons now"))
    #expect(shown.body.hasSuffix(": tagroute inbox open 01234567"), "\(shown.body)")
    _ = try await rig.call("Open", [.string(tapID(1)), .dictionary([:])])
    #expect(try await rig.state(1) == "delivered")
  }

  @Test func `the agent registers again after the daemon and its bus restart`() async throws {
    let (rig, server) = try await AgentRig.withServerAndAgent()
    let agent = await rig.daemon.registration()

    await rig.daemon.stop()
    let second = try await FakeDaemon.start(on: rig.installation.systemBus.address)
    #expect(await second.registration() == agent)
    try await second.give(tapValues(1, message: try uriMessage("https://menu.example.com/1")))
    #expect(try await server.next().body == "menu.example.com/1")

    await second.stop()
    try await rig.installation.systemBus.restart()
    let third = try await FakeDaemon.start(on: rig.installation.systemBus.address)
    _ = await third.registration()
    try await third.give(tapValues(2, message: try uriMessage("https://menu.example.com/2")))
    #expect(try await server.next().body == "menu.example.com/2")
  }

  @Test func `the reason of a refused registration can be read until the daemon accepts the agent`() async throws {
    let rig = try await AgentRig()
    let refusal = BusError(name: Names.Errors.notASession, message: "not from here")
    await rig.daemon.fail(registrations: Array(repeating: refusal, count: 100))
    try await rig.installation.startAgent()
    try await rig.agent.line(containing: "does not accept this agent: not from here")
    let changes = try await rig.client.signals(
      MatchRule(sender: Names.Agent.busName, interface: "org.freedesktop.DBus.Properties"))
    func error(is name: String, _ message: String) async throws {
      let value = Value.structure([.string(name), .string(message)])
      if try await rig.property("RegistrationError") == value { return }
      for await _ in changes {
        if try await rig.property("RegistrationError") == value { return }
      }
    }
    try await error(is: refusal.name, refusal.message)
    #expect(try await rig.property("Registered") == .boolean(false))
    await rig.daemon.fail(registrations: [])
    try await error(is: "", "")
    #expect(try await rig.property("Registered") == .boolean(true))
  }

  @Test func `a lock command before the system bus exists is sent with the registration`() async throws {
    let rig = try await AgentRig()
    await rig.daemon.stop()
    try await rig.installation.systemBus.stop()
    try await rig.installation.startAgent()
    try await rig.agent.line(containing: "cannot use the system bus")
    _ = try await rig.call("SetLocked", [.boolean(false)])
    try await rig.installation.systemBus.restart()
    let daemon = try await FakeDaemon.start(on: rig.installation.systemBus.address)
    var reports = daemon.reports.makeAsyncIterator()
    #expect(await reports.next() == ["locked": false, "unlocked-by-user": true])
  }

  @Test func `after a restart of the session bus shown taps are shown again`() async throws {
    let (rig, server) = try await AgentRig.withServerAndAgent()
    try await rig.daemon.give(tapValues(1, message: try uriMessage("https://menu.example.com/1")))
    _ = try await server.next()

    await server.stop()
    try await #require(rig.installation.sessionBus).restart()
    let second = try await rig.startServer()
    let shown = try await second.next()
    #expect(shown.body == "menu.example.com/1")
    try await second.click(shown)
    #expect(try await rig.handler.next().uri == "https://menu.example.com/1")
  }
}

/// Notifications that a killed agent leaves on the screen, and how the next agent handles them.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct LeftOnScreenTests {
  private func give(_ numbers: ClosedRange<Int>, _ rig: AgentRig) async throws {
    for number in numbers {
      try await rig.daemon.give(tapValues(number, message: try uriMessage("https://menu.example.com/\(number)")))
    }
  }

  private func shown(_ number: Int, by rig: AgentRig, after index: Int = 0) async throws {
    try await rig.agent.line(containing: "tap \(tapID(number)) is shown", after: index)
  }

  @Test func `the notification of a finished tap is closed after a crash`() async throws {
    let (rig, server) = try await AgentRig.withServerAndAgent(firstID: 40)
    try await give(1...2, rig)
    for number in 1...2 { try await shown(number, by: rig) }
    let left = try #require(await server.onScreen.values.first { $0.body == "menu.example.com/1" })
    try await rig.killAgent()
    // As if the agent was killed after it stored the decision and before it closed the notification.
    let inbox = Inbox(
      .file(directory: rig.installation.directory.file("state/tagroute"), name: "inbox.sqlite"),
      now: { sampleTime }, report: { Issue.record("\($0)") })
    try await inbox.move(tapID(1), to: .dismissed)
    await inbox.close()
    try await rig.startAgent()
    #expect(try await server.nextClosed() == left.id)
    try await shown(2, by: rig)
    #expect(await server.onScreen.values.map(\.body) == ["menu.example.com/2"])
    #expect(try await rig.state(1) == "dismissed")
  }

  @Test func `the sheets of sessions that end at once are closed`() async throws {
    let (rig, server) = try await AgentRig.withServerAndAgent()
    for _ in 1...20 { try await rig.daemon.flashSessions(8) }
    try await rig.daemon.give(tapValues(1, message: try uriMessage("https://menu.example.com/1")))
    let tap = try await server.nextTap()
    // All sheets were sent before.
    var sheets = Set(await server.all.filter { !$0.isTap }.map(\.id))
    while !sheets.isEmpty { sheets.remove(try await server.nextClosed()) }
    #expect(await Array(server.onScreen.keys) == [tap.id])
  }

  @Test func `after a crash a sheet and a tap that is not kept are removed from the screen`() async throws {
    let rig = try await AgentRig()
    try rig.installation.directory.write("[Inbox]\nInbox=off\n", to: "agent.conf")
    let server = try await rig.startServer(firstID: 40)
    let agent = try await rig.startAgent()
    try await rig.daemon.showSession(["message": .string("Hold your card"), "app": .string("transit")])
    try await agent.line(containing: "the sheet of a reader session is shown")
    let sheet = try await server.next()
    try await give(1...1, rig)
    try await shown(1, by: rig)
    let tap = try await server.next()
    try await rig.killAgent()
    #expect(await Set(server.onScreen.keys) == [sheet.id, tap.id])
    try await rig.startAgent()
    #expect(try await Set([server.nextClosed(), server.nextClosed()]) == [sheet.id, tap.id])
    #expect(await server.onScreen.isEmpty)
    // The run after that does not handle them again.
    try await rig.restartAgent()
    #expect(await server.onScreen.isEmpty)
  }

  @Test func `a notification is not shown again if the server answers late`() async throws {
    let (rig, server) = try await AgentRig.withServerAndAgent()
    await server.hold()
    try await give(1...1, rig)
    _ = try await server.next()
    // This call times out after the agent's own call would have timed out.
    let never = try await Connection.open(
      BusAddress(try #require(rig.installation.sessionBus).address), on: EventLoop(label: "never"))
    let method = ExportedMethod("Never") { _, _ in
      try await hang()
      return []
    }
    try await never.export([ExportedInterface("org.example.Never", methods: [method])], at: "/never")
    try await never.standIn(for: "org.example.Never")
    let error = await #expect(throws: BusError.self) {
      try await rig.client.call("org.example.Never", "/never", "org.example.Never", "Never")
    }
    #expect(error?.name == BusError.Name.timeout)
    await server.answer()
    try await shown(1, by: rig)
    #expect(await server.all.count == 1)
  }

  @Test func `a request about taps before they are loaded is answered afterwards`() async throws {
    let rig = try await ServiceRig()
    try await rig.receive(1...1, handler: "x.desktop")
    try await rig.inbox.move(tapID(1), to: .opening)
    let service = rig.service
    let asked = Task { try await service.interface.listInbox([:]).compactMap { $0["state"]?.asString } }
    // This call takes one hop longer than the request. A request that is answered at once would say that the tap is
    // being opened.
    _ = await service.interface.listHandlers()
    await service.start()
    #expect(try await asked.value == ["failed"])
    try await rig.bus.stop()
  }
}
