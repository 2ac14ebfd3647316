import Bus
import Names
import ReaderLink
import TestSupport
import Testing

/// The real `tagrouted`: each tap arrives at the right agent.
@Suite(.timeLimit(.minutes(5))) struct DeliveryTests {
  @Test func `a tap reaches the agent of the active session`() async throws {
    let rig = try await DaemonRig()
    let agent = try await rig.agent()
    try await rig.scanning(true)
    await rig.reader.tap(.message(Samples.message))
    for await tap in agent.taps {
      #expect(tap["message"]?.asBytes == Samples.message)
      #expect(tap["technology"]?.asString == "type-2")
      #expect(tap["uid"]?.asBytes == [4, 1, 2, 3, 4, 5, 6])
      #expect(tap["reader"]?.asObjectPath?.string == "\(Names.Daemon.readersPath)/0")
      #expect(tap["id"]?.asString?.utf8.count == 36)
      break
    }
  }

  @Test func `a tap that was not stored is sent again under the same id`() async throws {
    let rig = try await DaemonRig()
    let agent = try await rig.agent()
    try await rig.scanning(true)
    await agent.fail(with: BusError(name: Names.Errors.failed, message: "no room"))
    await rig.reader.tap(.message(Samples.message))
    var ids: [String?] = []
    for await tap in agent.taps {
      ids.append(tap["id"]?.asString)
      if ids.count == 2 { break }
    }
    #expect(ids[0] == ids[1])
  }

  @Test func `the next agent receives a tap that the previous one did not store`() async throws {
    let rig = try await DaemonRig()
    let first = try await rig.agent()
    try await rig.scanning(true)
    await first.fail(with: BusError(name: Names.Errors.failed, message: "about to die"))
    await rig.reader.tap(.message(Samples.message))
    var id: String?
    for await tap in first.taps {
      id = tap["id"]?.asString
      break
    }
    await first.connection.close()
    try await rig.daemon.line(containing: "is gone")
    let second = try await rig.agent()
    for await tap in second.taps {
      #expect(tap["id"]?.asString == id)
      #expect(id != nil)
      break
    }
  }

  @Test func `a tag with a problem is logged once, and the next tag works`() async throws {
    let rig = try await DaemonRig()
    let agent = try await rig.agent()
    try await rig.scanning(true)
    await rig.reader.tap(.problem(reason: "the NDEF file is truncated"), number: 1)
    try await rig.daemon.line(containing: "the NDEF file is truncated")
    await rig.reader.tap(.message(Samples.message), number: 2)
    for await tap in agent.taps {
      #expect(tap["message"]?.asBytes == Samples.message)
      break
    }
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

  @Test func `with Sessions=any an agent receives taps without logind`() async throws {
    let rig = try await DaemonRig(sessions: nil)
    let agent = try await rig.agent()
    try await rig.scanning(true)
    await rig.reader.tap(.message(Samples.message))
    for await tap in agent.taps {
      #expect(tap["message"]?.asBytes == Samples.message)
      break
    }
  }

  @Test func `the daemon works again after a restart of the bus`() async throws {
    let rig = try await DaemonRig()
    let agent = try await rig.agent()
    try await rig.scanning(true)
    try await rig.bus.restart()
    try await rig.scanning(false)
    for await owner in try await agent.connection.owners(of: Names.Daemon.busName) where owner != nil { break }
    try await agent.register()
    try await rig.scanning(true)
    await rig.reader.tap(.message(Samples.message))
    for await tap in agent.taps {
      #expect(tap["message"]?.asBytes == Samples.message)
      break
    }
  }
}
