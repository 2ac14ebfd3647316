import EventLoop
import TestKit
import Testing

@testable import Bus

@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct IntrospectionTests {
  private static let interface = ExportedInterface(
    BusFixture.interface,
    methods: [
      ExportedMethod(
        "Do", in: [Argument("what", "s"), Argument("options", "a{sv}")], out: [Argument("handle", "o")]
      ) { _, _ in [.objectPath("/")] },
      ExportedMethod("Plain") { _, _ in [] },
    ],
    properties: [
      ExportedProperty("State", "s") { _ in
        .string("<&>")
      } set: { _, _ in
      },
      ExportedProperty("Version", "u", emits: .const) { _ in .uint32(1) },
      ExportedProperty("Noisy", "as", emits: .invalidated) { _ in .strings([]) },
      ExportedProperty("Quiet", "b", emits: .none) { _ in .boolean(true) },
    ],
    signals: [ExportedSignal("Done", [Argument("handle", "o")]), ExportedSignal("Empty")])

  @Test func `the introspection document contains the declared members`() async throws {
    let fixture = try await BusFixture.start([Self.interface])
    let reply = try await fixture.client.call(
      BusFixture.name, BusFixture.path, "org.freedesktop.DBus.Introspectable", "Introspect")
    let document = try #require(reply.first?.asString)
    let expected = """
       <interface name="org.example.Server">
        <method name="Do">
         <arg name="what" type="s" direction="in"/>
         <arg name="options" type="a{sv}" direction="in"/>
         <arg name="handle" type="o" direction="out"/>
        </method>
        <method name="Plain"/>
        <property name="State" type="s" access="readwrite">
         <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="true"/>
        </property>
        <property name="Version" type="u" access="read">
         <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="const"/>
        </property>
        <property name="Noisy" type="as" access="read">
         <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="invalidates"/>
        </property>
        <property name="Quiet" type="b" access="read">
         <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="false"/>
        </property>
        <signal name="Done">
         <arg name="handle" type="o"/>
        </signal>
        <signal name="Empty"/>
       </interface>
      """
    #expect(document.contains(expected), "\(document)")
  }

  @Test func `busctl and gdbus understand the introspection document`() async throws {
    let fixture = try await BusFixture.start([Self.interface], objectManager: true)
    let table = try await fixture.busctl("introspect", BusFixture.name, BusFixture.path.string)
    let rows = table.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    #expect(rows.contains([".Do", "method", "sa{sv}", "o", "-"]))
    #expect(rows.contains([".Plain", "method", "-", "-", "-"]))
    #expect(rows.contains([".State", "property", "s", "\"<&>\"", "emits-change", "writable"]))
    #expect(rows.contains([".Version", "property", "u", "1", "const"]))
    #expect(rows.contains([".Noisy", "property", "as", "0", "emits-invalidation"]))
    #expect(rows.contains([".Quiet", "property", "b", "true", "-"]))
    #expect(rows.contains([".Done", "signal", "o", "-", "-"]))
    #expect(rows.contains([".GetManagedObjects", "method", "-", "a{oa{sa{sv}}}", "-"]))
    #expect(rows.contains([".PropertiesChanged", "signal", "sa{sv}as", "-", "-"]))
    let text = try await fixture.gdbus("introspect", "-d", BusFixture.name, "-o", BusFixture.path.string)
    #expect(text.contains("Do(in  s what,"))
    #expect(text.contains("readwrite s State = '<&>'"))
  }

  @Test func `nodes above an object list their children`() async throws {
    let fixture = try await BusFixture.start([])
    for path: ObjectPath in ["/org/example/Server/b/c", "/org/example/Server/a", "/other"] {
      try await fixture.server.export([Self.interface], at: path)
    }
    let tree = try await fixture.busctl("tree", "--list", BusFixture.name)
    #expect(
      tree.split(separator: "\n")
        == [
          "/", "/org", "/org/example", "/org/example/Server", "/org/example/Server/a", "/org/example/Server/b",
          "/org/example/Server/b/c", "/other",
        ])
    await fixture.server.unexport("/org/example/Server/b/c")
    #expect(try await fixture.busctl("tree", "--list", BusFixture.name).contains("/Server/b") == false)
    let error = await busError { () async throws(BusError) in
      try await fixture.client.call(
        BusFixture.name, "/org/example/Server/b", "org.freedesktop.DBus.Introspectable", "Introspect")
    }
    #expect(error?.name == BusError.Name.unknownObject)
  }

  @Test func `a malformed interface, or a second object at a path, is not exported`() async throws {
    let fixture = try await BusFixture.start([])
    let method = ExportedMethod("Do") { _, _ in [] }
    let malformed = [
      ExportedInterface("nodots"), ExportedInterface("org.freedesktop.DBus.Properties"),
      ExportedInterface("a.b", methods: [method, method]),
      ExportedInterface("a.b", methods: [ExportedMethod("D-o") { _, _ in [] }]),
      ExportedInterface("a.b", methods: [ExportedMethod("Do", in: [Argument("x", "ss")]) { _, _ in [] }]),
      ExportedInterface("a.b", properties: [ExportedProperty("P", "") { _ in .byte(1) }]),
      ExportedInterface("a.b", signals: [ExportedSignal("S", [Argument("x", "")])]),
    ]
    for interface in malformed {
      await #expect(throws: BusError.self) { try await fixture.server.export([interface], at: "/x") }
    }
    await #expect(throws: BusError.self) { try await fixture.server.export([], at: BusFixture.path) }
    let twice = ExportedInterface("a.b")
    await #expect(throws: BusError.self) { try await fixture.server.export([twice, twice], at: "/x") }
  }
}
