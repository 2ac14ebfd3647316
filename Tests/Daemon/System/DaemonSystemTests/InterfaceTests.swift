import Bus
import EventLoop
import Names
import ReaderProtocol
import TestKit
import Testing

/// The introspection data of the running daemon has to match the files in `Config/dbus/interfaces`.
@Suite(.timeLimit(.minutes(5))) struct IntrospectionTests {
  @Test func `the running daemon has the documented interfaces`() async throws {
    let rig = try await DaemonRig()
    let agent = try await AgentDouble(on: rig.bus)
    for (path, name) in [
      (Names.Daemon.path, Names.Daemon.managerInterface),
      ("\(Names.Daemon.readersPath)/0", Names.Daemon.readerInterface),
    ] {
      let reply = try await agent.connection.call(
        Names.Daemon.busName, ObjectPath(path), "org.freedesktop.DBus.Introspectable", "Introspect")
      let running = InterfaceDescription(of: name, in: try #require(reply.first?.asString))
      let documented = try InterfaceDescription(documented: name)
      #expect(!documented.members.isEmpty)
      #expect(running == documented)
    }
  }

  @Test func `readers are managed objects and signal their changes`() async throws {
    let rig = try await DaemonRig()
    let agent = try await AgentDouble(on: rig.bus)
    let reader = try ObjectPath("\(Names.Daemon.readersPath)/0")
    let reply = try await agent.connection.call(
      Names.Daemon.busName, ObjectPath(Names.Daemon.path), "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
    guard case .dictionary(_, _, let objects) = reply.first else {
      throw RigError("GetManagedObjects returned \(reply)")
    }
    #expect(objects.map(\.key.asObjectPath) == [reader])
    #expect(try await agent.property("Readers")?.asObjectPaths == [reader])
    let changes = try await agent.connection.signals(
      MatchRule(sender: Names.Daemon.busName, path: reader, member: "PropertiesChanged"))
    try await agent.register()
    for await change in changes {
      #expect(change.arguments[1].asDictionary?["State"]?.asString == "scanning")
      break
    }
  }
}

/// The real daemon with agents of other versions. An agent needs only the interfaces that it knows.
@Suite(.timeLimit(.minutes(5))) struct OtherAgentTests {
  /// An agent that implements only `TagRead`.
  private struct FirstAgent {
    let connection: Connection
    let taps: AsyncStream<[String: Value]>

    init(on bus: PrivateBus) async throws {
      connection = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "first-agent"))
      let (taps, continuation) = AsyncStream.makeStream(of: [String: Value].self)
      self.taps = taps
      let method = ExportedMethod("TagRead", in: [Argument("tap", "a{sv}")]) { _, call in
        continuation.yield(call.arguments[0].asDictionary ?? [:])
        return []
      }
      try await connection.export(
        [ExportedInterface(Names.Daemon.agentInterface, methods: [method], limits: .tagMessage)],
        at: try ObjectPath(Names.Agent.tapReceiverPath))
    }

    func register(_ options: [String: Value]) async throws {
      _ = try await connection.call(
        Names.Daemon.busName, ObjectPath(Names.Daemon.path), Names.Daemon.managerInterface, "RegisterAgent",
        [.objectPath(ObjectPath(Names.Agent.tapReceiverPath)), .dictionary(options)])
    }
  }

  @Test func `an agent of any version receives taps`() async throws {
    let rig = try await DaemonRig()
    let agent = try await FirstAgent(on: rig.bus)
    // A record with the link "https://a".
    let message: [UInt8] = [0xD1, 0x01, 0x02, 0x55, 0x04, 0x61]
    let registrations: [[String: Value]] = [
      [:],
      // Options that this version does not know, and known options with other types.
      [
        "something-new": .strings(["a"]), "version": .uint32(7), "interface-version": .string("two"),
        "conditions": .booleans(["locked": false, "asleep": true]),
      ],
      ["version": .string("9.0.0"), "interface-version": .uint32(9)],
    ]
    for (number, options) in registrations.enumerated() {
      try await agent.register(options)
      if number == 0 { try await rig.scanning(true) }
      await rig.reader.tap(.message(message), number: UInt64(number + 1))
      #expect(try await agent.taps.nextMessage() == message)
    }
    let lines = await rig.daemon.log().filter { $0.contains("tagroute-agent is version") }
    #expect(lines.count == 1)
    #expect(lines.first?.contains("version 9.0.0, this is \(Names.version) (interface version 9") == true)
  }

  @Test func `a session works with an agent that has no sheets`() async throws {
    let rig = try await DaemonRig(allowing: DaemonRig.clientActions)
    let agent = try await FirstAgent(on: rig.bus)
    try await agent.register([:])
    try await rig.scanning(true)
    let client = try await rig.client()
    let session = try await client.start()
    _ = try await rig.begin()
    try await client.expect("Activated", of: session)
    try await rig.daemon.line(containing: "ShowReaderSession failed: \(BusError.Name.unknownMethod)")
    try await client.call(session, "Invalidate", [.string("")])
    _ = try await rig.end()
    try await client.expect("Ended", of: session)
    try await rig.scanning(true)
  }
}
