import Bus
import EventLoop
import Glibc
import Journal
import Names
import ReaderProtocol
import TestKit

/// The real `tagrouted` on a private bus, with a scripted reader and a stand-in for logind.
struct DaemonRig {
  let directory: TemporaryDirectory
  let bus: PrivateBus
  let logind: LogindStandIn?
  let polkit: PolkitStandIn?
  let reader: ScriptedReader
  /// The readers after the first one. A test has to make them ready.
  let others: [ScriptedReader]
  let environment: [String: String]
  private(set) var daemon: ChildProcess
  /// The named pipe with the lists of pcscd; nil without pcscd.
  private let lists: FileDescriptor?
  private let starter: String
  /// The line that the daemon logs once the first reader is ready.
  private let readyLine: String

  static let readyLine = "reader Scripted (pn532_uart:/dev/scripted) is ready"

  /// What a client of reader sessions and inhibitors may do.
  static let clientActions: Set = [
    Names.PolkitAction.readTags, Names.PolkitAction.writeTags, Names.PolkitAction.inhibit,
  ]

  /// A session of the user of this process.
  static let session = LogindStandIn.Session(id: "2", uid: getuid())

  /// Starts everything. Without `sessions` there is no logind, and the daemon serves any session. If `devices` is
  /// empty, libnfc finds the devices in `found`. `pcscList` is pcscd's first list; nil if there is no pcscd. `scan` has
  /// more lines of the group `[Scan]`. polkit allows the actions of `allowing`; nil if there is no polkit.
  init(
    sessions: [LogindStandIn.Session]? = [session], devices: String = "pn532_uart:/dev/scripted",
    found: [String]? = nil,
    pcscList: ReaderList? = nil, others: [String] = [], scan: [String] = [], environment: [String: String] = [:],
    allowing actions: Set<String>? = nil, readyLine: String = Self.readyLine, starter: String = #function
  ) async throws {
    self.starter = starter
    self.readyLine = readyLine
    directory = try TemporaryDirectory()
    bus = try await PrivateBus.start(type: "system", starter: starter)
    logind =
      if let sessions { try await LogindStandIn.start(on: BusAddress(bus.address), sessions: sessions) } else { nil }
    polkit =
      if let actions { try await PolkitStandIn.start(on: BusAddress(bus.address), allowing: actions) } else { nil }
    let copy = try await ChildProcess.run(
      "/bin/cp", [try BuiltProducts.program("tagrouted"), directory.file("tagrouted")], starter: starter)
    guard copy.status == .exited(0) else { throw RigError("cannot copy tagrouted: \(copy.log)") }
    let directory = directory
    reader = try ScriptedReader(in: directory)
    self.others = try others.map { try ScriptedReader(in: directory, name: $0) }
    if let found { try directory.write(ReaderList.devices(found).frame, to: "found") }
    lists = try pcscList.map { _ in
      guard mkfifo(directory.file("lists"), 0o600) == 0 else { throw SystemError("make a named pipe") }
      // Open for reading and writing, so that the stand-in never reads an end of file.
      return FileDescriptor(owning: open(directory.file("lists"), O_RDWR | O_CLOEXEC))
    }
    if let pcscList { try lists?.write(pcscList.frame) }
    try directory.write(
      """
      [Reader]
      Devices=\(devices)
      [Scan]
      Sessions=\(sessions == nil ? "any" : "logind")
      RemovalDelay=0
      \(scan.joined(separator: "\n"))
      """, to: "tagroute.conf")
    let pcscd = pcscList == nil ? [:] : ["PCSCLITE_CSOCK_NAME": directory.file("lists")]
    self.environment = [
      "DBUS_SYSTEM_BUS_ADDRESS": bus.address, "STATE_DIRECTORY": directory.file("state"), "TAGROUTE_LOG": "debug",
      // The directory shows no running udev, so the daemon ignores the machine's own readers.
      "TAGROUTE_RUN": directory.file("run"), "TAGROUTE_PCSC_DRIVERS": directory.file("drivers"),
      "PATH": "/usr/bin:/bin",
    ].merging(pcscd) { $1 }.merging(environment) { $1 }
    daemon = try Self.start(directory, self.environment, starter)
    try await ready()
  }

  /// Starts everything, and an agent, and waits until the daemon scans.
  static func scanning(
    sessions: [LogindStandIn.Session]? = [session], allowing actions: Set<String>? = nil, starter: String = #function
  ) async throws -> (DaemonRig, AgentDouble) {
    let rig = try await DaemonRig(sessions: sessions, allowing: actions, starter: starter)
    return (rig, try await rig.startScanning())
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

  /// Starts another daemon after the previous one has ended.
  mutating func startDaemon() throws { daemon = try Self.start(directory, environment, starter) }

  /// pcscd has this list now.
  func list(_ list: ReaderList) throws { try lists?.write(list.frame) }

  func agent() async throws -> AgentDouble {
    let agent = try await AgentDouble(on: bus)
    try await agent.register()
    return agent
  }

  func startScanning() async throws -> AgentDouble {
    let agent = try await agent()
    try await scanning(true)
    return agent
  }

  /// Makes the reader ignore its goals. Its heartbeats continue.
  func holdReader() async throws {
    await reader.answersOrders(false)
    await reader.send(.log(.info, "is busy"))
    try await daemon.line(containing: "is busy")
  }

  /// Waits for a goal to scan if `isOn` is true, and otherwise for any other goal.
  func scanning(_ isOn: Bool) async throws {
    for await command in reader.commands where command.isScan == isOn { return }
    throw RigError("the reader received no goal with scanning \(isOn)")
  }
}
