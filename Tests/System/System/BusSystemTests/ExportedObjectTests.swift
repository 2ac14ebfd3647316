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

/// An object that only one peer can see. That peer and a stranger send every kind of request.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct ObjectForOnePeerTests {
  private static let parent = "/org/example/Server/private" as ObjectPath
  private static let path = "/org/example/Server/private/one" as ObjectPath
  private static let interface = "org.example.Private"

  /// A server with an object that only `client` can see, and a stranger, which is another peer.
  private struct Rig {
    let fixture: BusFixture
    let stranger: Connection

    static func start() async throws -> Rig {
      let fixture = try await BusFixture.start([], objectManager: true)
      let stranger = try await Connection.open(fixture.address, on: EventLoop(label: "stranger"))
      return Rig(fixture: fixture, stranger: stranger)
    }

    func export() async throws {
      let peer = try #require(await fixture.client.uniqueName)
      let interface = ExportedInterface(
        ObjectForOnePeerTests.interface,
        methods: [ExportedMethod("Ask", out: [Argument("answer", "s")]) { _, _ in [.string("told")] }],
        properties: [
          ExportedProperty("Secret", "s") { _ in
            .string("secret")
          } set: { _, _ in
          }
        ],
        signals: [ExportedSignal("Happened", [Argument("what", "s")])])
      try await fixture.server.export([interface], at: ObjectForOnePeerTests.path, for: peer)
    }
  }

  private struct Question: Sendable {
    var path = ObjectForOnePeerTests.path
    let interface: String
    let member: String
    var arguments: [Value] = []
  }

  private static let properties = "org.freedesktop.DBus.Properties"
  private static let questions = [
    Question(interface: interface, member: "Ask"),
    Question(interface: properties, member: "Get", arguments: [.string(interface), .string("Secret")]),
    Question(
      interface: properties, member: "Set",
      arguments: [.string(interface), .string("Secret"), .variant(.string("other"))]),
    Question(interface: properties, member: "GetAll", arguments: [.string(interface)]),
    Question(interface: properties, member: "GetAll", arguments: [.string("")]),
    Question(interface: "org.freedesktop.DBus.Introspectable", member: "Introspect"),
    Question(path: parent, interface: "org.freedesktop.DBus.Introspectable", member: "Introspect"),
  ]

  /// Returns "answered", or the error without the path.
  private func answer(_ question: Question, at path: ObjectPath, to peer: Connection) async -> String {
    do throws(BusError) {
      _ = try await peer.call(BusFixture.name, path, question.interface, question.member, question.arguments)
      return "answered"
    } catch {
      return error.name + error.message.replacing(path.string, with: "PATH")
    }
  }

  @Test func `only the chosen peer gets answers`() async throws {
    let rig = try await Rig.start()
    try await rig.export()
    for question in Self.questions {
      #expect(await answer(question, at: question.path, to: rig.fixture.client) == "answered")
      let refusal = await answer(question, at: question.path, to: rig.stranger)
      #expect(refusal.hasPrefix(BusError.Name.unknownObject), "\(question)")
      // The error is the same as for a path without an object.
      #expect(refusal == (await answer(question, at: "/org/example/Server/nothing", to: rig.stranger)))
    }
  }

  @Test func `parent nodes show the object only to the chosen peer`() async throws {
    let rig = try await Rig.start()
    try await rig.export()
    func document(_ peer: Connection, _ path: ObjectPath) async throws -> String {
      let reply = try await peer.call(BusFixture.name, path, "org.freedesktop.DBus.Introspectable", "Introspect")
      return try #require(reply.first?.asString)
    }
    #expect(try await document(rig.fixture.client, BusFixture.path).contains(#"<node name="private"/>"#))
    #expect(try await !document(rig.stranger, BusFixture.path).contains("private"))
    func objects(_ peer: Connection) async throws -> String {
      let reply = try await peer.call(
        BusFixture.name, BusFixture.path, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
      return "\(reply)"
    }
    #expect(try await objects(rig.fixture.client).contains("secret"))
    #expect(try await objects(rig.stranger) == "\([Value.dictionary(key: "o", value: "a{sa{sv}}", [])])")
  }

  @Test func `signals of the object reach only the chosen peer`() async throws {
    let rig = try await Rig.start()
    var heard = try await rig.fixture.client.signals(MatchRule(sender: BusFixture.name)).makeAsyncIterator()
    var overheard = try await rig.stranger.signals(MatchRule(sender: BusFixture.name)).makeAsyncIterator()
    let server = rig.fixture.server
    try await rig.export()
    #expect(await heard.next()?.member == "InterfacesAdded")
    // The server emits the signal without naming the peer.
    try await server.emit(path: Self.path, interface: Self.interface, member: "Happened", [.string("this")])
    #expect(await heard.next()?.arguments == [.string("this")])
    await server.propertiesChanged(["Secret"], of: Self.interface, at: Self.path)
    #expect(await heard.next()?.member == "PropertiesChanged")
    await server.unexport(Self.path)
    #expect(await heard.next()?.member == "InterfacesRemoved")
    try await server.emit(path: BusFixture.path, interface: BusFixture.interface, member: "ForAll")
    #expect(await heard.next()?.member == "ForAll")
    // The broadcast is the first signal that the stranger receives.
    #expect(await overheard.next()?.member == "ForAll")
  }
}
