import Bus
import EventLoop
import Glibc
import Names
import TagrouteClient
import TestKit
import Testing

@Suite(.timeLimit(.minutes(5))) struct ClientTests {
  @Test func `a missing daemon is an error, and a missing agent is nil`() async throws {
    let bus = try await PrivateBus.start()
    let loop = EventLoop(label: "test")
    let daemon = try await DaemonClient.connect(to: BusAddress(bus.address), on: loop)
    let error = await #expect(throws: BusError.self) { try await daemon.status() }
    #expect(error?.name == BusError.Name.nameHasNoOwner)
    #expect(try await AgentClient.connect(to: BusAddress(bus.address), on: loop).status() == nil)
  }

  @Test func `the status is decoded into typed values`() async throws {
    let bus = try await PrivateBus.start()
    let double = try await DaemonDouble(on: bus.address)
    try await double.start()
    try await double.startAgent()
    let loop = EventLoop(label: "test")
    let status = try await DaemonClient.connect(to: BusAddress(bus.address), on: loop).status()
    #expect(status.version == "9.8.7")
    // The double is like a daemon from before the interface version existed.
    #expect(status.interfaceVersion == 0)
    #expect(status.enabled && !status.scanning)
    #expect(status.suspendReasons == ["session-locked", "something-new"])
    #expect(status.readers.map(\.path) == ["/org/tagroute/Tagroute1/readers/1"])
    #expect(status.readers.first?.technologies == ["type-2", "type-9"])
    #expect(status.readers.first?.counters == ["placements": 7])
    let agent = try await AgentClient.connect(to: BusAddress(bus.address), on: loop)
    #expect(try await agent.status()?.registered == false)
    #expect(try await agent.handlers().first?.domains == ["menu.example.com"])
    #expect(try await agent.resolve("x:y").handler == nil)
    withExtendedLifetime(double) {}
  }

  @Test func `a program can ask whether its user may use a reader`() async throws {
    let bus = try await PrivateBus.start()
    let daemon = try await ReaderSessionStandIn(on: bus.address)
    let client = try await DaemonClient.connect(to: BusAddress(bus.address), on: EventLoop(label: "test"))
    #expect(try await client.readingAvailable())
    await daemon.setReadingAvailable(false)
    #expect(try await !client.readingAvailable())
  }

  @Test func `a daemon that is too old to say whether reading is available is an error`() async throws {
    let bus = try await PrivateBus.start()
    let double = try await DaemonDouble(on: bus.address)
    try await double.start()
    let client = try await DaemonClient.connect(to: BusAddress(bus.address), on: EventLoop(label: "test"))
    let error = await #expect(throws: BusError.self) { try await client.readingAvailable() }
    #expect(error?.name == BusError.Name.unknownMethod)
    withExtendedLifetime(double) {}
  }

  /// A daemon that does not know the option inhibits scanning, but keeps its device open.
  @Test func `a daemon that does not release the reader is an error`() async throws {
    let bus = try await PrivateBus.start()
    let daemon = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "daemon"))
    let method = ExportedMethod(
      "InhibitWithOptions", in: [Argument("who", "s"), Argument("why", "s"), Argument("options", "a{sv}")],
      out: [Argument("inhibitor", "h"), Argument("results", "a{sv}")]
    ) { _, _ in [.unixFD(FileDescriptor(owning: dup(2))), .dictionary([:])] }
    try await daemon.export(
      [ExportedInterface(Names.Daemon.managerInterface, methods: [method])], at: ObjectPath(Names.Daemon.path))
    try await daemon.standIn(for: Names.Daemon.busName)
    let client = try await DaemonClient.connect(to: BusAddress(bus.address), on: EventLoop(label: "test"))
    let error = await #expect(throws: BusError.self) {
      _ = try await client.releaseReader(who: "a test", why: "because")
    }
    #expect(error?.name == BusError.Name.notSupported)
    let remedy = RunningProgram.daemon.restart(hasSystemd: SystemDirectories().hasSystemd)
    #expect(error?.message.hasSuffix(remedy) == true)
  }

  @Test func `a change of the daemon and its end are reported`() async throws {
    let bus = try await PrivateBus.start()
    let double = try await DaemonDouble(on: bus.address)
    try await double.start()
    let client = try await DaemonClient.connect(to: BusAddress(bus.address), on: EventLoop(label: "test"))
    var changes = try await client.changes().makeAsyncIterator()
    await changes.next()
    await double.beginScanning()
    while try await !client.status().scanning { try #require(await changes.next() != nil) }
    try await bus.stop()
    while (try? await client.status()) != nil { try #require(await changes.next() != nil) }
  }

  @Test func `a closed tap is reported with its id and its state`() async throws {
    let bus = try await PrivateBus.start()
    let double = try await DaemonDouble(on: bus.address)
    try await double.startAgent()
    let client = try await AgentClient.connect(to: BusAddress(bus.address), on: EventLoop(label: "test"))
    var events = try await client.events().makeAsyncIterator()
    try await double.deliverTap()
    #expect(await events.next() == .closed(id: "an-id", state: "delivered"))
  }

  @Test func `an agent that comes and goes is reported, but not the present one`() async throws {
    let bus = try await PrivateBus.start()
    let client = try await AgentClient.connect(to: BusAddress(bus.address), on: EventLoop(label: "test"))
    var events = try await client.events().makeAsyncIterator()
    let first = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "agent"))
    try await first.standIn(for: Names.Agent.busName)
    #expect(await events.next() == .appeared)
    var later = try await client.events().makeAsyncIterator()
    try await first.releaseName(Names.Agent.busName)
    #expect(await events.next() == .disappeared)
    #expect(await later.next() == .disappeared)
    let second = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "agent"))
    try await second.standIn(for: Names.Agent.busName)
    #expect(await events.next() == .appeared)
    try await bus.stop()
    #expect(await events.next() == .disappeared)
    withExtendedLifetime((first, second)) {}
  }
}
