import Bus
import Glibc
import Journal
import Names
import ReaderLink
import TestSupport

/// The real `tagrouted` on a bus of its own, with a scripted reader and a logind.
struct DaemonRig {
  let directory: TemporaryDirectory
  let bus: PrivateBus
  let logind: LogindStandIn?
  let reader: ScriptedReader
  /// Readers beside the first, which are not ready by themselves.
  let others: [ScriptedReader]
  let environment: [String: String]
  private(set) var daemon: ChildProcess
  private let starter: String
  /// What the daemon says of the first reader once it is ready.
  private let readyLine: String

  static let readyLine = "reader Scripted (pn532_uart:/dev/scripted) is ready"

  /// A session of whoever runs the tests.
  static let session = LogindStandIn.Session(id: "2", uid: getuid())

  /// Starts everything; without `sessions` there is no logind, and any session counts; without `devices` libnfc
  /// finds those of `found`.
  init(
    sessions: [LogindStandIn.Session]? = [session], devices: String = "pn532_uart:/dev/scripted", found: String? = nil,
    others: [String] = [], environment: [String: String] = [:], readyLine: String = Self.readyLine,
    starter: String = #function
  ) async throws {
    self.starter = starter
    self.readyLine = readyLine
    directory = try TemporaryDirectory()
    bus = try await PrivateBus.start(type: "system", starter: starter)
    logind =
      if let sessions { try await LogindStandIn.start(on: BusAddress(bus.address), sessions: sessions) } else { nil }
    let copy = try await ChildProcess.run(
      "/bin/cp", [try BuiltProducts.program("tagrouted"), directory.file("tagrouted")], starter: starter)
    guard copy.status == .exited(0) else { throw RigError("cannot copy tagrouted: \(copy.log)") }
    let directory = directory
    reader = try ScriptedReader(in: directory)
    self.others = try others.map { try ScriptedReader(in: directory, name: $0) }
    if let found { try directory.write(found, to: "found") }
    try directory.write(
      """
      [Reader]
      Devices=\(devices)
      [Scan]
      Sessions=\(sessions == nil ? "any" : "logind")
      """, to: "tagroute.conf")
    self.environment = [
      "DBUS_SYSTEM_BUS_ADDRESS": bus.address, "STATE_DIRECTORY": directory.file("state"), "TAGROUTE_LOG": "debug",
      // Nothing says that udev runs, so the machine's own readers are left alone.
      "TAGROUTE_RUN": directory.file("run"), "PATH": "/usr/bin:/bin",
    ].merging(environment) { $1 }
    daemon = try Self.start(directory, self.environment, starter)
    try await ready()
  }

  private static func start(
    _ directory: TemporaryDirectory, _ environment: [String: String], _ starter: String
  ) throws -> ChildProcess {
    try ChildProcess(
      directory.file("tagrouted"), ["--config", directory.file("tagroute.conf")], environment: environment,
      starter: starter)
  }

  private func ready() async throws {
    await reader.becomeReady()
    try await daemon.line(containing: readyLine)
  }

  /// Ends the daemon, as systemd does, and starts another one.
  mutating func restartDaemon() async throws {
    daemon.signal(SIGTERM)
    try await daemon.exit()
    try startDaemon()
    try await ready()
  }

  /// Starts another daemon in the place of one that has ended.
  mutating func startDaemon() throws { daemon = try Self.start(directory, environment, starter) }

  /// A registered agent; it registers as soon as it may.
  func agent() async throws -> AgentDouble {
    let agent = try await AgentDouble(on: bus)
    try await agent.register()
    return agent
  }

  /// From here on the reader does nothing that it is told, and the daemon expects no word of it for as long as any may be busy.
  func holdReader() async throws {
    await reader.answersOrders(false)
    await reader.say(.heartbeat(within: 20_000), .log(.info, "is busy"))
    try await daemon.line(containing: "is busy")
  }

  /// Waits for the reader to be told to scan, or to stop.
  func scanning(_ isOn: Bool) async throws {
    for await command in reader.commands where command.isScan == isOn { return }
    throw RigError("the reader was never told to scan: \(isOn)")
  }
}
