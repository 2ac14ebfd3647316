import Bus
import EventLoop
import Names
import TestKit
import Testing

@testable import TagrouteClient

/// The client's side of the outbox, against a stand-in for the agent and for `tagroute-mqtt`.
@Suite(.timeLimit(.minutes(5))) struct OutgoingClientTests {
  @Test func `taps are asked for by sequence, acknowledged in portions, and announced`() async throws {
    let bus = try await PrivateBus.start()
    let agent = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "agent"))
    let asked = Locked<[[String: Value]]>([])
    let portions = Locked<[Int]>([])
    let methods = [
      ExportedMethod("TakeOutgoing", in: [Argument("options", "a{sv}")], out: [Argument("taps", "aa{sv}")]) { _, call in
        asked.withLock { $0.append(call.arguments.first?.asDictionary ?? [:]) }
        var tap = TapDescription()
        (tap.id, tap.sequence, tap.message) = ("a", 8, [1, 2])
        return [.dictionaries([tap.values])]
      },
      ExportedMethod("AcknowledgeOutgoing", in: [Argument("ids", "as")]) { _, call in
        portions.withLock { $0.append(call.arguments.first?.asStrings?.count ?? -1) }
        return []
      },
    ]
    try await agent.export(
      [ExportedInterface(Names.Agent.interface, methods: methods, signals: [ExportedSignal("OutgoingAvailable")])],
      at: try ObjectPath(Names.Agent.path))
    try await agent.standIn(for: Names.Agent.busName)

    let client = try await AgentClient.connect(to: BusAddress(bus.address), on: EventLoop(label: "test"))
    let events = try await client.events()
    let tap = try #require(try await client.takeOutgoing(limit: 3, after: 7).first)
    #expect(tap.id == "a" && tap.sequence == 8 && tap.message == [1, 2])
    #expect(asked.withLock(\.self) == [["limit": .uint32(3), "after-sequence": .uint64(7)]])
    try await client.acknowledgeOutgoing((0..<1001).map { "\($0)" })
    try await client.acknowledgeOutgoing([])
    #expect(portions.withLock(\.self) == [500, 500, 1])
    try await agent.emit(
      path: try ObjectPath(Names.Agent.path), interface: Names.Agent.interface, member: "OutgoingAvailable", [])
    for await event in events {
      #expect(event == .outgoingAvailable)
      break
    }
    withExtendedLifetime((bus, agent)) {}
  }

  @Test func `the state of the program that sends taps is decoded, and nil if it does not run`() async throws {
    let bus = try await PrivateBus.start()
    let client = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "test"))
    #expect(try await MqttStatus.current(client) == nil)
    let program = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "mqtt"))
    let properties = [
      ExportedProperty("State", "s") { _ in .string("connected") },
      ExportedProperty("Station", "s") { _ in .string("door") },
      ExportedProperty("Sent", "t") { _ in .uint64(7) }, ExportedProperty("InterfaceVersion", "u") { _ in .uint32(2) },
      // Another type than that of the interface.
      ExportedProperty("Broker", "u") { _ in .uint32(1) },
    ]
    try await program.export(
      [ExportedInterface(Names.Mqtt.interface, properties: properties)], at: try ObjectPath(Names.Mqtt.path))
    try await program.standIn(for: Names.Mqtt.busName)
    let status = try #require(try await MqttStatus.current(client))
    #expect(status.isConnected && status.station == "door" && status.sent == 7 && status.interfaceVersion == 2)
    #expect(status.broker.isEmpty && status.version.isEmpty)
    withExtendedLifetime((bus, program)) {}
  }
}
