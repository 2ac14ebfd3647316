import Bus
import Names
import TestKit
import Testing

/// The real `tagrouted`: who can inhibit scanning, and for how long.
@Suite(.timeLimit(.minutes(5))) struct InhibitorTests {
  @Test func `an inhibitor stops scanning while its pipe is open`() async throws {
    let rig = try await DaemonRig(allowing: DaemonRig.clientActions)
    let agent = try await rig.startScanning()
    do {
      let reply = try await agent.call("Inhibit", [.string("nfc-list"), .string("a look at the reader")])
      try await rig.scanning(false)
      #expect(reply.first?.asUnixFD != nil)
      let list = try await agent.call("ListInhibitors")
      let entry = try #require(list.first?.asArray?.first?.asStructure)
      #expect(entry[0].asString == "nfc-list")
      #expect(entry[1].asString == "a look at the reader")
      #expect(entry[2].asUInt32 == DaemonRig.session.uid)
      #expect(try await agent.property("SuspendReasons")?.asStrings == ["inhibited"])
    }
    try await rig.scanning(true)
    #expect(try await agent.call("ListInhibitors").first?.asArray?.isEmpty == true)
  }

  @Test func `an inhibitor needs the permission of polkit`() async throws {
    let (rig, agent) = try await DaemonRig.scanning()
    let inhibit: @Sendable () async throws -> Void = { try await agent.call("Inhibit", [.string("a"), .string("b")]) }
    #expect(await AgentDouble.errorName(inhibit) == Names.Errors.notAuthorized)
    let polkit = try await PolkitStandIn.start(
      on: BusAddress(rig.bus.address), allowing: [Names.PolkitAction.configure, Names.PolkitAction.writeTags])
    #expect(await AgentDouble.errorName(inhibit) == Names.Errors.notAuthorized)
    #expect(await polkit.questions.map(\.action) == [Names.PolkitAction.inhibit])
    #expect(await polkit.questions.map(\.subject) == [await agent.connection.uniqueName])
    #expect(try await agent.property("SuspendReasons")?.asStrings == [])
    #expect(try await agent.call("ListInhibitors").first?.asArray?.isEmpty == true)
    await polkit.stop()
  }

  @Test func `a caller cannot ask again while polkit has not replied`() async throws {
    let rig = try await DaemonRig(allowing: DaemonRig.clientActions)
    let polkit = try #require(rig.polkit)
    let agent = try await rig.agent()
    await polkit.fallSilent()
    async let first = agent.call("Inhibit", [.string("a"), .string("b")])
    for await _ in polkit.asked { break }
    let second = await AgentDouble.errorName { try await agent.call("Inhibit", [.string("a"), .string("b")]) }
    #expect(second == Names.Errors.tooMany)
    await polkit.fallSilent(false)
    #expect(try await first.first?.asUnixFD != nil)
  }
}
