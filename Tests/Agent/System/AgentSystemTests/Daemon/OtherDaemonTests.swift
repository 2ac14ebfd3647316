import Bus
import EventLoop
import Names
import TestKit
import Testing

@testable import AgentTests

/// The real agent with daemons of other versions. It shows tags and ignores members that it does not know.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct OtherDaemonTests {
  private static let properties = "org.freedesktop.DBus.Properties"

  /// A rig without a daemon.
  private func rig(_ starter: String = #function) async throws -> (AgentRig, NotificationServerStandIn) {
    let rig = try await AgentRig(starter: starter)
    await rig.daemon.stop()
    return (rig, try await rig.startServer())
  }

  @Test func `tags of a daemon of the first version are shown`() async throws {
    let (rig, server) = try await rig()
    let daemon = try await FakeDaemon.start(on: rig.installation.systemBus.address, isFirstVersion: true)
    let agent = try await rig.startAgent()
    let message = try uriMessage("https://menu.example.com/1")
    try await daemon.callAgent("TagRead", [.dictionary(["id": .string(tapID(1)), "message": .bytes(message)])])
    let shown = try await server.next()
    #expect(shown.body == "menu.example.com/1")
    try await server.click(shown)
    #expect(try await rig.handler.next().uri == "https://menu.example.com/1")
    // This daemon does not report its version, so the agent does not compare it.
    #expect(await !agent.log().contains { $0.contains("is version") })
  }

  @Test func `tags of a later daemon are shown, and its unknown members are ignored`() async throws {
    let (rig, server) = try await rig()
    let properties = [
      ExportedProperty("Version", "s", emits: .const) { _ in .string("9.1.0") },
      ExportedProperty("InterfaceVersion", "u", emits: .const) { _ in .uint32(9) },
      ExportedProperty("Antennas", "as") { _ in .strings(["left"]) },
    ]
    let bus = rig.installation.systemBus.address
    let signals = [ExportedSignal("AntennaMoved", [Argument("antenna", "s")])]
    let daemon = try await FakeDaemon.start(on: bus, properties, signals)
    try await daemon.suspend(["battery-low"])
    let agent = try await rig.startAgent()
    var registrations = daemon.registrations.makeAsyncIterator()
    let registration = try #require(await registrations.next())
    #expect(registration["version"] == .string(Names.version))
    #expect(registration["interface-version"] == .uint32(Names.interfaceVersion))
    try await agent.line(containing: "tagrouted is version 9.1.0, this is \(Names.version)")

    let path = try ObjectPath(Names.Daemon.path)
    try await daemon.connection.emit(
      path: path, interface: Names.Daemon.managerInterface, member: "AntennaMoved", [.string("left")])
    try await daemon.connection.emit(
      path: path, interface: Self.properties, member: "PropertiesChanged",
      [
        .string(Names.Daemon.managerInterface),
        .dictionary(["Antennas": .uint32(3), "SuspendReasons": .uint32(1)]), .strings(["Scanning"]),
      ])
    let error = await #expect(throws: BusError.self) { try await daemon.callAgent("ShowAntenna", [.string("left")]) }
    #expect(error?.name == BusError.Name.unknownMethod)

    let session = Value.objectPath(try ObjectPath("\(Names.Daemon.readerSessionsPath)/1"))
    try await daemon.callAgent(
      "ShowReaderSession", [session, .dictionary(["message": .string("Hold it"), "picture": .bytes([1])])])
    let sheet = try await server.next()
    #expect(sheet.body.contains("Hold it"))
    try await daemon.callAgent("UpdateReaderSession", [session, .dictionary(["picture": .bytes([2])])])
    try await daemon.callAgent("CloseReaderSession", [session, .string("applauded"), .string("a message")])
    #expect(try await server.nextClosed() == sheet.id)

    var tap = tapValues(1, message: try uriMessage("https://menu.example.com/1"), technology: "iso-15693")
    tap["signal-strength"] = .uint32(7)
    tap["antennas"] = .strings(["left"])
    try await daemon.callAgent("TagRead", [.dictionary(tap)])
    #expect(try await server.next().body == "menu.example.com/1")

    // The notice is logged once with its remedy, for any number of restarts of that daemon.
    await daemon.stop()
    let (questions, continuation) = AsyncStream.makeStream(of: Void.self)
    let next = try await FakeDaemon.start(
      on: bus,
      properties + [
        ExportedProperty("Question", "b") { _ in
          continuation.yield()
          return .boolean(true)
        }
      ])
    for await _ in next.registrations { break }
    for await _ in questions { break }
    // This call comes after the reply to the property.
    await #expect(throws: BusError.self) { try await next.callAgent("ShowAntenna", [.string("left")]) }
    try await next.callAgent(
      "TagRead", [.dictionary(tapValues(2, message: try uriMessage("https://menu.example.com/2")))])
    #expect(try await server.next().body == "menu.example.com/2")
    let lines = await agent.log().filter { $0.contains("is version") }
    #expect(lines.count == 1)
    #expect(lines.first?.contains("for what is new: end tagroute-agent and start it again") == true)
    #expect(await server.all.count == 3)
  }

  @Test func `the user sees that another program is the agent until the daemon accepts this one`() async throws {
    let rig = try await AgentRig()
    let server = try await rig.startServer()
    await rig.daemon.fail(registrations: [BusError(name: Names.Errors.alreadyRegistered, message: "taken")])
    try await rig.startAgent()
    let shown = try await server.next()
    #expect(shown.summary == "Another program receives your tags")
    #expect(try await server.nextClosed() == shown.id)
    // Taps are shown as usual.
    try await rig.daemon.give(tapValues(1, message: try uriMessage("https://menu.example.com/1")))
    #expect(try await server.next().summary == "Open in Menu")
  }
}
