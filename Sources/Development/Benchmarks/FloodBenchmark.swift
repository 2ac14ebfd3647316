import Bus
import EventLoop
import Glibc
import NDEF
import Names
import ReaderSimulator
import TestKit

/// The effect of one user's flood of calls on everyone else: how long the field stays on after a lock, and how long a
/// tap takes. For comparison, the benchmark times a call and its reply between two other connections of the bus.
struct FloodBenchmark {
  /// The number of locks and taps in each flood.
  let rounds: Int
  let bus: PrivateBus.Program

  func run(_ results: inout Results) async throws {
    try await BenchmarkPrograms.build()
    let clock = MachineClock()
    let reader = try await SimulatedReader.start(timing: .realistic, clock: clock)
    var options = Installation.Options()
    options.systemBus = bus
    options.daemonSettings = ["Scan": ["Sessions=logind"]]
    // A log line for each refused call would distort the measurement.
    options.environment = ["TAGROUTE_LOG": "info"]
    let installation = try await Installation(options)
    guard symlink(await reader.path, installation.directory.file("reader")) == 0 else {
      throw SystemError("make a link to the simulated reader")
    }
    guard let session = installation.sessionBus else { throw RigError("there is no session bus of its own") }
    let address = BusAddress(installation.systemBus.address)
    let logind = try await LogindStandIn.start(on: address, sessions: [LogindStandIn.Session(id: "2", uid: getuid())])
    let polkit = try await PolkitStandIn.start(on: address, allowing: [])
    let saver = try await ScreenSaverStandIn.start(on: BusAddress(session.address))
    let server = try await NotificationServerStandIn.start(on: BusAddress(session.address))
    try await installation.startDaemon()
    try await installation.startAgent()
    try await installation.waitUntilScanning()
    let rig = Rig(
      clock: clock, reader: reader, installation: installation, saver: saver, server: server,
      bystanders: [
        try await Connection.open(address, on: EventLoop(label: "bystander")),
        try await Connection.open(address, on: EventLoop(label: "bystander")),
      ])

    results += try await rig.measure(rounds, ["Bus": bus.rawValue, "Flood": "none", "Connections": "0"])
    for call in FloodClient.Call.allCases {
      for connections in [3, 50, 200] {
        let client = try await FloodClient.start(
          call, connections: connections, on: installation.systemBus, environment: installation.environment)
        results += try await rig.measure(
          rounds, ["Bus": bus.rawValue, "Flood": call.rawValue, "Connections": "\(connections)"])
        client.signal(SIGKILL)
        try await client.exit()
        try await rig.checkThatAllAreThere()
      }
    }
    await polkit.stop()
    await saver.stop()
    await installation.stop()
    await logind.stop()
    await reader.stop()
  }

  private struct Rig {
    let clock: MachineClock
    let reader: SimulatedReader
    let installation: Installation
    let saver: ScreenSaverStandIn
    let server: NotificationServerStandIn
    /// Two connections that take no part in the flood.
    let bystanders: [Connection]

    func measure(_ rounds: Int, _ labels: KeyValuePairs<String, String>) async throws -> [Results.Series] {
      var (bus, locks, taps): ([Duration], [Duration], [Duration]) = ([], [], [])
      var descriptors = 0
      for number in 0..<rounds {
        let placed = clock.now
        let tag = await reader.place(
          try .type2(.ntag213, message: NDEFMessage.uri("https://example.com/\(number)").encoded()))
        _ = try await server.next()
        taps.append(clock.now - placed)
        bus.append(try await ping())
        guard let daemon = await installation.daemon else { throw RigError("tagrouted does not run") }
        descriptors = max(descriptors, try ProcessTree.descriptors(of: daemon.identifier))
        try await reader.wait { $0.isFieldOn }
        let locked = clock.now
        try await saver.setActive(true)
        try await reader.wait { !$0.isFieldOn }
        locks.append(clock.now - locked)
        await reader.remove(tag)
        try await saver.setActive(false)
        try await reader.wait { $0.isFieldOn }
        // Long enough for the removal to be noticed.
        try await Task.sleep(for: .milliseconds(350))
      }
      return [
        .init("bus alone", bus, labels), .init("lock to field off", locks, labels),
        .init("tag to Notify", taps, labels), .init("most descriptors of the daemon", Double(descriptors), "", labels),
      ]
    }

    private func ping() async throws -> Duration {
      guard let name = await bystanders[1].uniqueName else { throw RigError("a bystander has lost the bus") }
      let asked = clock.now
      _ = try await bystanders[0].call(name, "/", "org.freedesktop.DBus.Peer", "Ping")
      return clock.now - asked
    }

    /// Checks that the daemon has kept its connection to the bus, and the agent its registration.
    func checkThatAllAreThere() async throws {
      for process in [await installation.daemon, await installation.agent] {
        let lines =
          await process?.log().filter { $0.contains(" is gone") || $0.contains("closed the connection") } ?? []
        guard lines.isEmpty else {
          throw RigError("the flood has ended a connection: \(lines.joined(separator: "; "))")
        }
      }
    }
  }
}

/// The connections of one user, in a separate process. Each calls the daemon as fast as the daemon replies.
struct FloodClient {
  enum Call: String, CaseIterable, Sendable {
    case registration = "RegisterAgent"
    case registrationWithDescriptors = "RegisterAgent with 16 descriptors"
    case session = "StartReaderSession"
    case property = "Get"
  }

  /// The number of pending calls of all connections together. Each call may hold sixteen descriptors.
  private static let width = 1000
  /// Printed when all connections are open and calling.
  static let begun = "flooding"

  let address: BusAddress
  let call: Call
  let connections: Int

  /// The arguments are the address of the bus, the call, and the number of connections.
  init?(_ arguments: some Collection<String>) {
    let words = Array(arguments)
    guard words.count == 3, let call = Call(rawValue: words[1]), let number = Int(words[2]) else { return nil }
    (address, self.call, connections) = (BusAddress(words[0]), call, number)
  }

  /// Starts the client in a process, which runs as another user if this one is root.
  static func start(
    _ call: Call, connections: Int, on bus: PrivateBus, environment: [String: String]
  ) async throws -> ChildProcess {
    let own = ["/proc/\(getpid())/exe", "flood-client", bus.address, call.rawValue, "\(connections)"]
    let process =
      geteuid() == 0
      ? try ChildProcess(
        "/usr/bin/setpriv",
        ["--reuid=65534", "--regid=65534", "--clear-groups"] + [try path(of: own[0])] + own.dropFirst(),
        environment: environment)
      : try ChildProcess(path(of: own[0]), Array(own.dropFirst()), environment: environment)
    try await process.line(containing: begun)
    return process
  }

  private static func path(of link: String) throws -> String {
    guard let path = realpath(link, nil) else { throw SystemError("find \(link)") }
    defer { free(path) }
    return String(cString: path)
  }

  /// Calls the daemon until the process is killed.
  func run() async throws {
    var limit = rlimit()
    if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
      limit.rlim_cur = limit.rlim_max
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
    let loop = EventLoop(label: "flood")
    var all: [Connection] = []
    for _ in 0..<connections { all.append(try await Connection.open(address, on: loop)) }
    await withTaskGroup(of: Void.self) { group in
      for connection in all {
        for _ in 0..<max(Self.width / connections, 1) {
          group.addTask { while !Task.isCancelled { await once(connection) } }
        }
      }
      print(Self.begun)
      fflush(nil)
      await group.waitForAll()
    }
  }

  private func once(_ connection: Connection) async {
    let (interface, member, arguments): (String, String, [Value])
    switch call {
    case .registration:
      (interface, member) = (Names.Daemon.managerInterface, "RegisterAgent")
      arguments = [.objectPath("/a"), .dictionary([:])]
    case .registrationWithDescriptors:
      (interface, member) = (Names.Daemon.managerInterface, "RegisterAgent")
      let null = FileDescriptor(owning: open("/dev/null", O_RDONLY | O_CLOEXEC))
      arguments = [.objectPath("/a"), .dictionary(["d": .array(element: "h", (0..<16).map { _ in .unixFD(null) })])]
    case .session:
      (interface, member, arguments) = (Names.Daemon.managerInterface, "StartReaderSession", [.dictionary([:])])
    case .property:
      (interface, member) = ("org.freedesktop.DBus.Properties", "Get")
      arguments = [.string(Names.Daemon.managerInterface), .string("Scanning")]
    }
    do throws(BusError) {
      _ = try await connection.call(
        Names.Daemon.busName, try ObjectPath(Names.Daemon.path), interface, member, arguments)
    } catch {
      // The daemon refuses the calls as fast as they come. That is the purpose of the flood.
    }
  }
}
