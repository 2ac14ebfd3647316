import EventLoop
import TestRig
import Testing

@testable import Bus

@Suite(.timeLimit(.minutes(5))) struct ConnectionTests {
  let loop = EventLoop(label: "test")

  @Test func `the bus answers a call`() async throws {
    let bus = try await PrivateBus.start()
    let connection = try await Connection.open(BusAddress(bus.address), on: loop)
    let name = try #require(await connection.uniqueName)
    let reply = try await connection.call(
      "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetNameOwner", [.string(name)])
    #expect(reply == [.string(name)])
    await connection.close()
  }

  @Test func `an exported method replies and a signal arrives`() async throws {
    let bus = try await PrivateBus.start()
    let server = try await Connection.open(BusAddress(bus.address), on: loop)
    let client = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "client"))
    let interface = ExportedInterface(
      "org.example.Greeter",
      methods: [
        ExportedMethod("Greet", in: [Argument("name", "s")], out: [Argument("greeting", "s")]) { _, call in
          [.string("Hello, \(call.arguments[0].asString ?? "?")")]
        }
      ], signals: [ExportedSignal("Greeted", [Argument("name", "s")])])
    try await server.export([interface], at: "/org/example")
    #expect(try await server.requestName("org.example.Greeter") == .primaryOwner)
    let signals = try await client.signals(MatchRule(sender: "org.example.Greeter", member: "Greeted"))
    let reply = try await client.call(
      "org.example.Greeter", "/org/example", "org.example.Greeter", "Greet", [.string("you")])
    #expect(reply == [.string("Hello, you")])
    try await server.emit(path: "/org/example", interface: "org.example.Greeter", member: "Greeted", [.string("you")])
    var iterator = signals.makeAsyncIterator()
    let signal = try #require(await iterator.next())
    #expect(signal.arguments == [.string("you")])
    #expect(signal.missed == 0)
    await client.close()
    await server.close()
  }
}
