import Bus
import EventLoop
import TestKit
import Testing

/// How stand-ins for bus services start and end.
@Suite(.timeLimit(.minutes(5))) struct StandInTests {
  private static let name = "org.example.Service"

  @Test func `a new stand-in gets the name as soon as the previous one has crashed`() async throws {
    let bus = try await PrivateBus.start()
    for _ in 1...100 {
      let connection = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "service"))
      try await connection.standIn(for: Self.name)
      await connection.crash()
    }
  }

  @Test func `a stand-in fails if its name is taken`() async throws {
    let bus = try await PrivateBus.start()
    let first = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "first"))
    let second = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "second"))
    try await first.standIn(for: Self.name)
    await #expect(throws: BusError.self) { try await second.standIn(for: Self.name) }
    await second.close()
    await first.close()
  }

  @Test func `a stand-in can crash after its bus has stopped`() async throws {
    let bus = try await PrivateBus.start()
    let connection = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "service"))
    try await connection.standIn(for: Self.name)
    try await bus.stop()
    await connection.crash()
  }
}
