import Bus
import EventLoop
import Glibc
import TagrouteClient
import TestKit
import Testing

/// Two users at one machine, each with a screen, a keyboard and a reader. A tag on one reader reaches only the user at
/// that seat.
///
/// All agents run as the user of the tests, so all sessions belong to that user. Only logind assigns sessions to
/// agents.
@Suite(
  .timeLimit(.minutes(5)),
  .enabled(
    if: DeviceTestbed.isPossible,
    "libudev receives no events here, so readers on two seats are NOT TESTED"))
struct TwoSeatsTests {
  /// The real daemon with two simulated readers. udev assigns the second one to seat1.
  private struct Machine {
    let installation: Installation
    let testbed: DeviceTestbed
    let logind: LogindStandIn
    let readers: [ChildProcess]
    let daemon: ChildProcess
    let client: DaemonClient
    private let starter: String

    init(starter: String = #function) async throws {
      self.starter = starter
      installation = try await Installation(starter: starter)
      testbed = try await DeviceTestbed(starter: starter)
      let directory = installation.directory
      try HandlerStandIn.install(in: installation)
      let links = ["reader0", "reader1"].map { directory.file($0) }
      var readers: [ChildProcess] = []
      for (number, link) in links.enumerated() {
        let reader = try await installation.start(
          "tagroute-simulator", ["--link", link, "--timing", "fast"], input: true)
        try await reader.line(containing: "ready")
        readers.append(reader)
        _ = try await testbed.add(
          "line\(number)", "tty", ["DEVNAME=\(try Self.node(of: link))", "ID_SEAT=seat\(number)"])
      }
      self.readers = readers
      let configuration = try directory.write(
        "[Reader]\nPollInterval=10\nDevices=\(links.map { "pn532_uart:\($0)" }.joined(separator: ";"))\n"
          + "[Scan]\nSessions=logind\n", to: "tagroute.conf")
      let bus = BusAddress(installation.systemBus.address)
      logind = try await LogindStandIn.start(on: bus)
      daemon = try ChildProcess(
        BuiltProducts.program("tagrouted"), ["--config", configuration],
        environment: installation.environment.merging(testbed.environment) { $1 }, starter: starter)
      client = try await DaemonClient.connect(to: bus, on: EventLoop(label: "test-client"))
    }

    private static func node(of link: String) throws -> String {
      guard let path = realpath(link, nil) else { throw SystemError("follow \(link)") }
      defer { free(path) }
      return String(cString: path)
    }

    /// Waits until the reader of a seat scans, or until it does not.
    func reader(of seat: Int, isScanning: Bool) async throws {
      for await _ in try await client.changes() {
        let reader = try await client.status().readers.first { $0.seat == "seat\(seat)" }
        if let reader, (reader.state == "scanning") == isScanning { return }
      }
    }

    /// Places a tag on the reader of a seat, and removes it after the notification of this person.
    func tap(_ number: Int, at seat: Int, isShownTo person: Person) async throws {
      let tag = try Tag(number)
      let file = try installation.directory.write(tag.message, to: "tags/\(tag.uid).ndef")
      try await simulate(seat, "tap --type \(tag.type) --ndef \(file) --uid \(tag.uid)")
      // The next notification of this person is for this tag, so the tags of other people were not shown here.
      #expect(try await person.server.next().body == Tag.text(number))
      let seen = await daemon.log().count
      try await simulate(seat, "remove")
      try await daemon.line(containing: Desktop.tagAway, after: seen)
    }

    private func simulate(_ seat: Int, _ command: String) async throws {
      let seen = await readers[seat].log().count
      try await readers[seat].send(command)
      let answer = try await readers[seat].line(after: seen) { $0.hasPrefix("ok") || $0.hasPrefix("error") }
      try #require(answer.hasPrefix("ok"), "\(answer)")
    }

    /// Logs a person in. The person's agent gets the session that no other agent has.
    func logIn(_ session: String, _ change: (inout LogindStandIn.Session) -> Void) async throws -> Person {
      var present = LogindStandIn.Session(id: session, uid: getuid())
      change(&present)
      try await logind.add(present)
      let bus = try await PrivateBus.start(environment: installation.environment, starter: starter)
      let server = try await NotificationServerStandIn.start(
        on: BusAddress(bus.address), capabilities: ["actions", "body", "body-markup"])
      let agent = try ChildProcess(
        BuiltProducts.program("tagroute-agent"), ["--config", installation.directory.file("agent.conf")],
        environment: installation.environment.merging([
          "DBUS_SESSION_BUS_ADDRESS": bus.address, "XDG_STATE_HOME": installation.directory.file("state-\(session)"),
        ]) { $1 }, starter: starter)
      try await agent.line(containing: Desktop.registered)
      try await daemon.line(containing: "serves session \(session)")
      return Person(bus: bus, server: server, agent: agent)
    }

    func stop(_ people: [Person]) async throws {
      for process in people.map(\.agent) + [daemon] + readers { process.signal(SIGTERM) }
      for process in people.map(\.agent) + [daemon] { try await process.exit() }
      await logind.stop()
      await installation.stop()
    }
  }

  /// A session with its own bus, agent and screen.
  private struct Person: Sendable {
    let bus: PrivateBus
    let server: NotificationServerStandIn
    let agent: ChildProcess

    /// All bodies that the screen has shown.
    var shown: [String] { get async { await server.all.map(\.body) } }
  }

  @Test func `tags go only to the active session at the seat of the reader`() async throws {
    let machine = try await Machine()
    let alice = try await machine.logIn("2") { _ in }
    let bob = try await machine.logIn("7") { $0.seat = "seat1" }
    // In the background of the first seat.
    let carol = try await machine.logIn("5") { $0.isActive = false }
    try await machine.reader(of: 0, isScanning: true)
    try await machine.reader(of: 1, isScanning: true)

    try await machine.tap(1, at: 0, isShownTo: alice)
    try await machine.tap(2, at: 1, isShownTo: bob)

    try await machine.logind.update("2") { $0.isActive = false }
    try await machine.reader(of: 0, isScanning: false)
    // A session switch at one seat does not affect the other seat.
    try await machine.tap(3, at: 1, isShownTo: bob)
    try await machine.logind.update("5") { $0.isActive = true }
    try await machine.reader(of: 0, isScanning: true)
    try await machine.tap(4, at: 0, isShownTo: carol)
    try await machine.tap(5, at: 1, isShownTo: bob)

    try await machine.logind.update("5") { $0.isActive = false }
    try await machine.reader(of: 0, isScanning: false)
    try await machine.logind.update("2") { $0.isActive = true }
    try await machine.reader(of: 0, isScanning: true)
    try await machine.tap(6, at: 0, isShownTo: alice)
    try await machine.tap(7, at: 1, isShownTo: bob)

    #expect(await alice.shown == [1, 6].map(Tag.text))
    #expect(await bob.shown == [2, 3, 5, 7].map(Tag.text))
    #expect(await carol.shown == [4].map(Tag.text))
    try await machine.stop([alice, bob, carol])
  }
}
