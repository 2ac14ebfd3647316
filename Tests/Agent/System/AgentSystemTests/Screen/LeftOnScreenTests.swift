import Bus
import EventLoop
import Glibc
import Inbox
import TestKit
import Testing

@testable import AgentTests

@testable import Agent

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
    let asked = Task { try await service.listInbox([:]).compactMap { $0["state"]?.asString } }
    // This call takes one hop longer than the request. A request that is answered at once would say that the tap is
    // being opened.
    _ = await service.listHandlers()
    await service.start()
    #expect(try await asked.value == ["failed"])
    try await rig.bus.stop()
  }
}
