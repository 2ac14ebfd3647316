import Bus
import EventLoop
import Journal
import Names
import TestKit
import Testing

@testable import Agent
@testable import AgentTests

@Suite(.timeLimit(.minutes(5))) struct DaemonLinkTests {
  private let clock = ManualClock()

  /// A link that has registered, or waits for the daemon's answer.
  private struct Rig {
    /// The pause before a failed report is repeated.
    static let pause = Duration.milliseconds(1)
    let bus: PrivateBus
    let daemon: FakeDaemon
    let link: DaemonLink
    /// Whether the display has to be watched, at each change.
    let display: AsyncStream<Bool>
    /// The name of the daemon's error, at each change.
    let refusals: AsyncStream<String?>

    init(
      _ conditions: [String: Bool], clock: any Clock<Duration> = ContinuousClock(), isKeptWaiting: Bool = false,
      failing errors: [BusError] = [], suspended: [String] = []
    ) async throws {
      bus = try await PrivateBus.start(type: "system")
      daemon = try await FakeDaemon.start(on: bus.address)
      if isKeptWaiting { await daemon.hold() }
      await daemon.fail(registrations: errors)
      try await daemon.suspend(suspended)
      let connection = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "link"))
      let (registered, registering) = AsyncStream.makeStream(of: Bool.self)
      let (display, displaying) = AsyncStream.makeStream(of: Bool.self)
      let (refusals, refusing) = AsyncStream.makeStream(of: String?.self)
      (self.display, self.refusals) = (display, refusals)
      let link = DaemonLink(
        connection: connection, report: .init(conditions: conditions), clock: clock,
        log: Log(threshold: .error, prefixed: false), reportPause: Self.pause
      ) { _, notice in
        switch notice {
        case .registration(let isAccepted, let error):
          registering.yield(isAccepted)
          refusing.yield(error?.name)
        case .displayNeeded(let isNeeded): displaying.yield(isNeeded)
        case .sheet, .tagRemoved: break
        }
      } receive: { _, _ in
      }
      self.link = link
      Task { try await link.run() }
      guard !isKeptWaiting && errors.isEmpty else { return }
      for await isRegistered in registered where isRegistered { break }
    }

    func report(_ conditions: [String: Bool]) async { await link.report(conditions) }
  }

  @Test func `the registration reports the conditions, and each change is reported`() async throws {
    let rig = try await Rig(["locked": true])
    var reports = rig.daemon.reports.makeAsyncIterator()
    #expect(await reports.next() == ["locked": true])
    // The daemon has these conditions already.
    await rig.report(["locked": true])
    await rig.report(["locked": false, "camera": true])
    #expect(await reports.next() == ["locked": false, "camera": true])
    await rig.report([:])
    #expect(await reports.next() == [:])
  }

  @Test(arguments: [true, false]) func `a refused command is an error and is sent again`(locked: Bool)
    async throws
  {
    let rig = try await Rig([:], clock: clock)
    var reports = rig.daemon.reports.makeAsyncIterator()
    #expect(await reports.next() == [:])
    await rig.daemon.refuse(reports: 1)
    let error = await #expect(throws: BusError.self) {
      try await rig.link.declare(isLocked: locked, ["locked": locked])
    }
    #expect(error?.name == Names.Errors.notPossible)
    let report = locked ? ["locked": true] : ["locked": false, "unlocked-by-user": true]
    #expect(await reports.next() == report)
    // The report is not repeated before the pause ends.
    for await pause in clock.pauses where pause == Rig.pause { break }
    clock.advance(by: Rig.pause)
    #expect(await reports.next() == report)
  }

  @Test(arguments: [true, false])
  func `a command waits five seconds for the daemon's answer, and is sent later if there is none`(
    locked: Bool
  ) async throws {
    let rig = try await Rig([:], clock: clock, isKeptWaiting: true)
    var reports = rig.daemon.reports.makeAsyncIterator()
    // The registration with the earlier conditions.
    #expect(await reports.next() == [:])
    let declared = Task { try await rig.link.declare(isLocked: locked, ["locked": locked]) }
    var pauses = clock.pauses.makeAsyncIterator()
    #expect(await pauses.next() == .seconds(5))
    clock.advance(by: .seconds(5))
    let error = await #expect(throws: BusError.self) { try await declared.value }
    #expect(error?.name == Names.Errors.notPossible)
    #expect(error?.message.contains("as soon as it does") == true)
    await rig.daemon.release()
    #expect(await reports.next() == (locked ? ["locked": true] : ["locked": false, "unlocked-by-user": true]))
  }

  /// After any other error the daemon may still accept an earlier registration.
  @Test func `only a refusal ends the doubt about an earlier registration`() async throws {
    let errors = [Names.Errors.tooMany, Names.Errors.notASession].map { BusError(name: $0, message: $0) }
    let rig = try await Rig([:], clock: clock, failing: [.timedOut()] + errors)
    var (reports, pauses) = (rig.daemon.reports.makeAsyncIterator(), clock.pauses.makeAsyncIterator())
    #expect(await reports.next() == [:])
    #expect(await pauses.next() == .milliseconds(500))
    clock.advance(by: .milliseconds(500))
    #expect(await reports.next() == [:])
    #expect(await pauses.next() == .seconds(1))
    await rig.daemon.hold()
    let declared = Task { try await rig.link.declare(isLocked: true, ["locked": true]) }
    #expect(await reports.next() == ["locked": true])
    #expect(await pauses.next() == .seconds(5))
    clock.advance(by: .seconds(5))
    await #expect(throws: BusError.self) { try await declared.value }
    await rig.daemon.release()
    #expect(await pauses.next() == .seconds(2))
    // The daemon does not scan for an agent that it refused. So the command does not wait, and the pause continues.
    try await rig.link.declare(isLocked: false, ["locked": false])
    clock.advance(by: .seconds(2))
    #expect(await reports.next() == ["locked": false, "unlocked-by-user": true])
  }

  @Test func `the daemon's error is announced until the daemon accepts the agent`() async throws {
    let names = [Names.Errors.notASession, Names.Errors.notASession, Names.Errors.tooMany]
    let rig = try await Rig([:], clock: clock, failing: names.map { BusError(name: $0, message: "no") })
    var (refusals, pauses) = (rig.refusals.makeAsyncIterator(), clock.pauses.makeAsyncIterator())
    #expect(await refusals.next() == names[0])
    // The second error equals the first, so it is not announced.
    for delay in [Duration.milliseconds(500), .seconds(1)] {
      #expect(await pauses.next() == delay)
      clock.advance(by: delay)
    }
    #expect(await refusals.next() == names[2])
    #expect(await pauses.next() == .seconds(2))
    clock.advance(by: .seconds(2))
    #expect(await refusals.next() == .some(nil))
  }

  @Test func `the display is watched only if no other reason stops the reader`() async throws {
    let rig = try await Rig([:])
    var needed = rig.display.makeAsyncIterator()
    #expect(await needed.next() == true)
    for reasons in [["session-locked"], ["sleeping"], ["disabled"], ["no-reader"], ["inhibited", "display-off"]] {
      try await rig.daemon.suspend(reasons)
      #expect(await needed.next() == false, "\(reasons)")
      try await rig.daemon.suspend(["display-off"])
      #expect(await needed.next() == true, "\(reasons)")
    }
    await rig.daemon.stop()
    #expect(await needed.next() == false)
  }

  @Test func `a suspend reason from before the registration is used`() async throws {
    let rig = try await Rig([:], suspended: ["disabled"])
    await rig.link.reading?.value
    #expect(await !rig.link.isDisplayNeeded)
    var needed = rig.display.makeAsyncIterator()
    try await rig.daemon.suspend([])
    #expect(await needed.next() == true)
  }
}

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
