import Bus
import EventLoop
import Foundation
import Names
import TestKit
import Testing

/// What the real `tagroute status` prints about the outbox and `tagroute-mqtt`, on a bus with doubles of all programs.
@Suite(.timeLimit(.minutes(5))) struct OutboxStatusTests {
  private static func outgoing(_ isOn: Bool, _ waiting: UInt32, _ dropped: UInt64, oldest: UInt64? = nil)
    -> [String: Value]
  {
    var values: [String: Value] = ["on": .boolean(isOn), "waiting": .uint32(waiting), "dropped": .uint64(dropped)]
    values["oldest"] = oldest.map(Value.uint64)
    return values
  }

  private func status(
    _ arguments: [String] = [], outgoing: [String: Value]?, mqtt: [String: String]? = nil, starter: String = #function
  ) async throws -> String {
    let doubles = try await BusOfDoubles(daemon: true, starter: starter)
    try await doubles.double.startAgent(outgoing: outgoing)
    let program = try await Connection.open(BusAddress(doubles.address), on: EventLoop(label: "mqtt"))
    if let mqtt {
      let texts = mqtt.map { name, text in ExportedProperty(name, "s") { _ in .string(text) } }
      let properties = texts + [ExportedProperty("Sent", "t") { _ in .uint64(7) }]
      try await program.export(
        [ExportedInterface(Names.Mqtt.interface, properties: properties)], at: try ObjectPath(Names.Mqtt.path))
      try await program.standIn(for: Names.Mqtt.busName)
    }
    let result = try await ChildProcess.run(
      BuiltProducts.program("tagroute"), ["status"] + arguments,
      environment: [
        "DBUS_SYSTEM_BUS_ADDRESS": doubles.address, "DBUS_SESSION_BUS_ADDRESS": doubles.address, "TZ": "UTC",
      ], starter: starter)
    #expect(result.status == .exited(0), "\(result.log)")
    // The doubles stay on the bus until here.
    withExtendedLifetime((doubles, program)) {}
    return result.output
  }

  private func lines(_ outgoing: [String: Value]?, mqtt: [String: String]? = nil, starter: String = #function)
    async throws -> [String]
  {
    try await status(outgoing: outgoing, mqtt: mqtt, starter: starter).split(separator: "\n").map(String.init)
      .filter { $0.hasPrefix("outbox: ") || $0.hasPrefix("mqtt: ") }
  }

  @Test func `without an outbox there is no line about it`() async throws {
    #expect(try await lines(nil) == [])
    #expect(try await lines(Self.outgoing(false, 0, 0)) == [])
  }

  @Test func `status counts the taps that wait and those that were dropped, and names the broker`() async throws {
    let waiting = Self.outgoing(true, 12, 3, oldest: 1_795_000_000_000_000)
    let program = [
      "State": "waiting", "StateReason": "the broker refuses the password: check PasswordFile=", "Version": "0.1.0",
      "Broker": "mqtts://broker.example.com", "Station": "door",
    ]
    #expect(
      try await lines(waiting, mqtt: program) == [
        "outbox: 12 taps wait, the oldest since 2026-11-18 11:06; 3 were dropped",
        "mqtt: waiting, mqtts://broker.example.com as door: the broker refuses the password: check PasswordFile=",
      ])
    let json = try #require(
      JSONSerialization.jsonObject(with: Data(try await status(["--json"], outgoing: waiting, mqtt: program).utf8))
        as? [String: Any])
    let outgoing = try #require((json["agent"] as? [String: Any])?["outgoing"] as? [String: Any])
    #expect(outgoing["on"] as? Bool == true && outgoing["waiting"] as? Int == 12)
    #expect(outgoing["dropped"] as? Int == 3 && outgoing["oldest"] as? Int == 1_795_000_000_000_000)
    let mqtt = try #require(json["mqtt"] as? [String: Any])
    #expect(Set(mqtt.keys) == ["version", "state", "stateReason", "broker", "station", "sent"])
    #expect(mqtt["state"] as? String == "waiting" && mqtt["sent"] as? Int == 7)
  }

  @Test func `if the program that sends taps does not run, status says how to start it`() async throws {
    let lines = try await lines(Self.outgoing(true, 1, 0, oldest: 1_795_000_000_000_000))
    #expect(lines.first == "outbox: 1 tap waits, the oldest since 2026-11-18 11:06")
    #expect(lines.last?.hasPrefix("mqtt: tagroute-mqtt does not run: ") == true)
    #expect(lines.last?.hasSuffix("/tagroute-mqtt &") == true)
    // What was dropped stays visible after the file was removed.
    #expect(try await self.lines(Self.outgoing(false, 0, 1)) == ["outbox: no tap waits; 1 was dropped"])
  }
}
