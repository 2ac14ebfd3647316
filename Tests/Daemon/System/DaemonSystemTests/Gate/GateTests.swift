import Bus
import Names
import ReaderProtocol
import TestKit
import Testing

/// The real `tagrouted`: when its reader has the goal to scan.
@Suite(.timeLimit(.minutes(5))) struct GateTests {
  @Test func `an agent reports conditions, also with its registration`() async throws {
    let (rig, agent) = try await DaemonRig.scanning()
    let changes = try await agent.connection.signals(
      MatchRule(sender: Names.Daemon.busName, path: ObjectPath(Names.Daemon.path), member: "PropertiesChanged"))
    try await agent.report(["locked": true])
    try await rig.scanning(false)
    #expect(try await agent.property("SuspendReasons")?.asStrings == ["session-locked"])
    // The property changes when the reader process has reached the goal.
    for await _ in changes where try await agent.property("Scanning")?.asBool == false { break }
    try await agent.report([:])
    try await rig.scanning(true)
    try await agent.register(reporting: .booleans(["camera": true]))
    try await rig.scanning(false)
    #expect(try await agent.property("SuspendReasons")?.asStrings == ["camera"])
    try await agent.register(reporting: .booleans([:]))
    try await rig.scanning(true)
    let error = await AgentDouble.errorName { try await agent.register(reporting: .string("locked")) }
    #expect(error == BusError.Name.invalidArguments)
    await agent.connection.close()
    try await rig.scanning(false)
  }

  @Test func `turning off takes effect even if it cannot be stored`() async throws {
    let (rig, agent) = try await DaemonRig.scanning()
    let polkit = try await PolkitStandIn.start(
      on: BusAddress(rig.bus.address), allowing: [Names.PolkitAction.configure])
    // A file takes the place of the state directory.
    try rig.directory.write("", to: "state")
    #expect(await AgentDouble.errorName { try await agent.setEnabled(false) } == Names.Errors.failed)
    try await rig.scanning(false)
    #expect(try await agent.property("Enabled")?.asBool == false)
    // The daemon turns on only if it can store that.
    #expect(await AgentDouble.errorName { try await agent.setEnabled(true) } == Names.Errors.failed)
    #expect(try await agent.property("SuspendReasons")?.asStrings == ["disabled"])
    await polkit.stop()
  }
}
