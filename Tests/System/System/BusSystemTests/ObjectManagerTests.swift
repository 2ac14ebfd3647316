import EventLoop
import TestKit
import Testing

@testable import Bus

@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct ObjectManagerTests {
  private static func child(_ number: UInt32) -> ExportedInterface {
    ExportedInterface("org.example.Child", properties: [ExportedProperty("Number", "u") { _ in .uint32(number) }])
  }

  private static func description(_ number: UInt32) -> Value {
    .dictionary(
      key: "s", value: "a{sv}",
      [DictionaryEntry(.string("org.example.Child"), .dictionary(["Number": .uint32(number)]))])
  }

  @Test func `objects below the manager are listed, and signals report changes`() async throws {
    let fixture = try await BusFixture.start([], objectManager: true)
    let signals = try await fixture.client.signals(
      MatchRule(sender: BusFixture.name, interface: "org.freedesktop.DBus.ObjectManager"))
    var iterator = signals.makeAsyncIterator()
    let (one, two) = (try BusFixture.path.appending("one"), try BusFixture.path.appending("two"))
    try await fixture.server.export([Self.child(1)], at: one)
    let added = try #require(await iterator.next())
    #expect(added.path == BusFixture.path)
    #expect(added.member == "InterfacesAdded")
    #expect(added.arguments == [.objectPath(one), Self.description(1)])

    try await fixture.server.export([Self.child(2)], at: two)
    try await fixture.server.export([Self.child(3)], at: "/elsewhere")
    #expect(await iterator.next()?.arguments.first == .objectPath(two))
    let objects = try await fixture.client.call(
      BusFixture.name, BusFixture.path, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
    #expect(
      objects
        == [
          .dictionary(
            key: "o", value: "a{sa{sv}}",
            [
              DictionaryEntry(.objectPath(one), Self.description(1)),
              DictionaryEntry(.objectPath(two), Self.description(2)),
            ])
        ])
    let text = try await fixture.gdbus(
      "call", "-d", BusFixture.name, "-o", BusFixture.path.string, "-m",
      "org.freedesktop.DBus.ObjectManager.GetManagedObjects")
    #expect(text.contains("'org.example.Child': {'Number': <uint32 1>}"))

    await fixture.server.unexport("/elsewhere")
    await fixture.server.unexport(one)
    let removed = try #require(await iterator.next())
    #expect(removed.member == "InterfacesRemoved")
    #expect(removed.arguments == [.objectPath(one), .strings(["org.example.Child"])])
  }

  @Test func `an object that is removed before its announcement is never announced`() async throws {
    let gate = Gate()
    let slow = ExportedInterface(
      "org.example.Slow",
      properties: [
        ExportedProperty("P", "u") { _ in
          await gate.pass()
          return .uint32(1)
        }
      ])
    let fixture = try await BusFixture.start([], objectManager: true)
    let signals = try await fixture.client.signals(MatchRule(sender: BusFixture.name))
    let (gone, stays) = (try BusFixture.path.appending("gone"), try BusFixture.path.appending("stays"))
    try await fixture.server.export([slow], at: gone)
    await gate.arrived()
    await fixture.server.unexport(gone)
    await gate.open()
    try await fixture.server.export([slow], at: stays)
    var iterator = signals.makeAsyncIterator()
    #expect(await iterator.next()?.arguments.first == .objectPath(stays))
  }

  @Test func `an object that is not a manager has no ObjectManager interface`() async throws {
    let fixture = try await BusFixture.start([])
    let error = await busError { () async throws(BusError) in
      try await fixture.client.call(
        BusFixture.name, BusFixture.path, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
    }
    #expect(error?.name == BusError.Name.unknownInterface)
  }
}
