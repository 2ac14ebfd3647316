import Bus
import Names
import ReaderProtocol
import TestKit
import Testing

@testable import DaemonTests

/// The real `tagrouted`: each tap arrives at the right agent.
@Suite(.timeLimit(.minutes(5))) struct DeliveryTests {
  @Test func `a tap that was not stored is sent again under the same id`() async throws {
    let (rig, agent) = try await DaemonRig.scanning()
    await agent.fail(with: BusError(name: Names.Errors.failed, message: "no room"))
    await rig.reader.tap(.message(Samples.message))
    let id = try #require(try await agent.taps.next()["id"])
    #expect(try await agent.taps.next()["id"] == id)
  }

  @Test func `a tag with a problem is logged once, and the next tag works`() async throws {
    let (rig, agent) = try await DaemonRig.scanning()
    await rig.reader.tap(.problem(reason: "the NDEF file is truncated"), number: 1)
    try await rig.daemon.line(containing: "the NDEF file is truncated")
    await rig.reader.tap(.message(Samples.message), number: 2)
    let tap = try await agent.taps.next()
    #expect(tap["message"]?.asBytes == Samples.message)
    #expect(tap["technology"]?.asString == "type-2")
    #expect(tap["uid"]?.asBytes == [4, 1, 2, 3, 4, 5, 6])
    #expect(tap["reader"]?.asObjectPath?.string == "\(Names.Daemon.readersPath)/0")
    #expect(tap["id"]?.asString?.utf8.count == 36)
    #expect(await rig.daemon.log().filter { $0.contains("truncated") }.count == 1)
    #expect(await rig.daemon.log().allSatisfy { !$0.contains("example.com") })
  }

  @Test func `only a local session can have an agent, and only one`() async throws {
    var remote = DaemonRig.session
    remote.isRemote = true
    let rig = try await DaemonRig(sessions: [remote])
    let agent = try await AgentDouble(on: rig.bus)
    #expect(await AgentDouble.errorName { try await agent.register() } == Names.Errors.notASession)
    #expect(await AgentDouble.errorName { try await agent.report(["locked": true]) } == Names.Errors.notAuthorized)
    var local = DaemonRig.session
    local.id = "3"
    try await rig.logind?.add(local)
    try await agent.register()
    try await agent.register()
    let second = try await AgentDouble(on: rig.bus)
    #expect(await AgentDouble.errorName { try await second.register() } == Names.Errors.alreadyRegistered)
  }

  @Test func `the daemon works again after a restart of the bus`() async throws {
    let (rig, agent) = try await DaemonRig.scanning()
    try await rig.bus.restart()
    try await rig.scanning(false)
    for await owner in try await agent.connection.owners(of: Names.Daemon.busName) where owner != nil { break }
    try await agent.register()
    try await rig.scanning(true)
    await rig.reader.tap(.message(Samples.message))
    #expect(try await agent.taps.nextMessage() == Samples.message)
  }
}
