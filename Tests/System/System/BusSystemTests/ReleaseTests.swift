import EventLoop
import TestKit
import Testing

@testable import Bus

@Suite(.timeLimit(.minutes(5))) struct ReleaseTests {
  @Test func `a released connection leaves the bus and ends its streams`() async throws {
    let bus = try await PrivateBus.start()
    let observer = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "observer"))
    var connection: Connection? = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "test"))
    try await connection?.export([ExportedInterface("a.b", methods: [ExportedMethod("M") { _, _ in [] }])], at: "/")
    let signals = try await connection?.signals(MatchRule(member: "S"))
    let states = connection?.states()
    let name = try #require(await connection?.uniqueName)
    var owners = try await observer.owners(of: name).makeAsyncIterator()
    #expect(await owners.next() == name)
    weak let weakConnection = connection
    connection = nil
    #expect(await owners.next() == .some(nil))
    #expect(weakConnection == nil)
    var count = 0
    if let signals { for await _ in signals { count += 1 } }
    if let states { for await _ in states { count += 1 } }
    #expect(count == 2)
    await observer.close()
    try await bus.stop()
  }
}
