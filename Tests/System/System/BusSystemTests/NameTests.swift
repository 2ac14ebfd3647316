import EventLoop
import Glibc
import TestKit
import Testing

@testable import Bus

@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct NameTests {
  @Test func `the owners of a name are reported as they change`() async throws {
    let fixture = try await BusFixture.start([])
    let name = "org.example.Moving"
    var owners = try await fixture.client.owners(of: name).makeAsyncIterator()
    #expect(await owners.next() == .some(nil))
    #expect(try await fixture.server.requestName(name) == .primaryOwner)
    let server = try #require(await fixture.server.uniqueName)
    #expect(await owners.next() == server)
    #expect(await fixture.client.isOwner(server, of: name))
    #expect(await !fixture.client.isOwner(server, of: "a.b"))
    #expect(try await fixture.client.requestName(name) == .exists)
    #expect(try await fixture.server.requestName(name) == .alreadyOwner)
    try await fixture.server.releaseName(name)
    #expect(await owners.next() == .some(nil))
    #expect(await !fixture.client.isOwner(server, of: name))
    #expect(await fixture.client.isOwner(server, of: name, orFormer: true))
    #expect(try await fixture.client.requestName(name) == .primaryOwner)
    #expect(await owners.next() == (await fixture.client.uniqueName))
    try await fixture.client.releaseName(name)
    #expect(await owners.next() == .some(nil))
    #expect(try await fixture.server.requestName(name) == .primaryOwner)
    #expect(await owners.next() == (await fixture.server.uniqueName))
    await fixture.server.close()
    #expect(await owners.next() == .some(nil))
    await fixture.client.close()
    #expect(await owners.next() == nil)
    try await fixture.bus.stop()
  }

  @Test func `a peer can be watched by its unique name`() async throws {
    let fixture = try await BusFixture.start([])
    let unique = try #require(await fixture.server.uniqueName)
    var first = try await fixture.client.owners(of: unique).makeAsyncIterator()
    var second = try await fixture.client.owners(of: unique).makeAsyncIterator()
    #expect(await first.next() == unique)
    #expect(await second.next() == unique)
    #expect(await fixture.client.trackers.count == 1)
    await fixture.server.close()
    #expect(await first.next() == .some(nil))
    #expect(await second.next() == .some(nil))
  }

  @Test func `credentials are those of the peer process`() async throws {
    let fixture = try await BusFixture.start([])
    let credentials = try await fixture.client.credentials(of: BusFixture.name)
    #expect(credentials.uid == getuid())
    #expect(credentials.pid == UInt32(getpid()))
    let error = await busError { () async throws(BusError) in try await fixture.client.credentials(of: ":1.999") }
    #expect(error?.name == BusError.Name.nameHasNoOwner)
  }

  @Test func `an invalid name is an error`() async throws {
    let fixture = try await BusFixture.start([])
    for name in ["", "a", "a.b\u{0}", "no name.x"] {
      #expect(await busError { () async throws(BusError) in try await fixture.client.requestName(name) } != nil)
      #expect(await busError { () async throws(BusError) in try await fixture.client.owners(of: name) } != nil)
      #expect(await busError { () async throws(BusError) in try await fixture.client.credentials(of: name) } != nil)
    }
  }
}

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
