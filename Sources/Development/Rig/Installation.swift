import Glibc

/// A whole Tagroute in its own directory: two private buses, a simulated reader, the daemon and the agent.
///
/// It does not touch the machine's own buses, its devices or the user's files. Each process can be stopped and
/// restarted separately, as by a crash and systemd.
package actor Installation {
  /// The kind of the simulated reader.
  package enum Reader: Sendable {
    /// A PN532 on a serial line, for libnfc.
    case serial
    /// An ACR1252U behind a separate pcscd.
    case pcsc
    /// None. The caller has the readers, and `daemonSettings` and `environment` name them.
    case others

    /// The model of the PC/SC reader, as `tagroute-simulator` names it, and the name of its slot without numbers.
    fileprivate static let model = (name: "acr1252u", slot: "ACS ACR1252 Dual Reader [ACR1252 Dual Reader PICC]")
  }

  package struct Options: Sendable {
    package var reader = Reader.serial
    /// Lines for the daemon's configuration, by group.
    package var daemonSettings: [String: [String]] = ["Scan": ["Sessions=any"]]
    /// Lines for the agent's configuration, by group.
    package var agentSettings: [String: [String]] = [:]
    package var agentArguments: [String] = []
    /// The timing of the simulated chip: `fast` or `real`.
    package var timing = "fast"
    /// The session bus to use instead of a private one, so that notifications appear on the user's own desktop.
    package var sessionBus: String?
    package var systemBus = PrivateBus.Program.daemon
    /// More environment variables for every process, for example `DISPLAY`.
    package var environment: [String: String] = [:]
    /// More data folders, which are searched after the installation's own, for example `/usr/share`.
    package var dataDirectories: [String] = []

    package init() {}
  }

  package nonisolated let directory: TemporaryDirectory
  package nonisolated let systemBus: PrivateBus
  /// Nil if the user's own is used.
  package nonisolated let sessionBus: PrivateBus?
  /// The whole environment of every process.
  package nonisolated let environment: [String: String]
  /// The simulated reader, which takes commands on standard input.
  package private(set) var simulator: ChildProcess?
  package private(set) var daemon: ChildProcess?
  package private(set) var agent: ChildProcess?

  /// As in Config/dbus/system.d: the bus refuses file descriptors, which it would otherwise count against the daemon.
  private static let descriptorRule = "<deny send_destination=\"org.tagroute.Tagroute1\" min_fds=\"1\"/>"

  private let options: Options
  private let starter: String
  /// The socket of the simulated reader's pcscd, once that runs.
  private var pcscdSocket: String?

  /// The data directory of the system. Entries in its `applications` folder are treated as installed by the system.
  package nonisolated var systemData: String { directory.file("share") }

  /// Creates the directory and starts only the buses. `starter` names the logs.
  package init(_ options: Options = Options(), starter: String = #function) async throws {
    self.options = options
    self.starter = starter
    directory = try TemporaryDirectory()
    for folder in ["share", "home", "config", "state", "runtime", "var", "dev", "sys"] {
      mkdir(directory.file(folder), 0o700)
    }
    var environment = [
      "HOME": directory.file("home"), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8",
      "LIBNFC_AUTO_SCAN": "false", "STATE_DIRECTORY": directory.file("var"),
      "TAGROUTE_LOG": "debug", "TAGROUTE_RUN": directory.file("run"),
      "TAGROUTE_DEV": directory.file("dev"), "TAGROUTE_SYS": directory.file("sys"),
      "TAGROUTE_LOCALE": directory.file("locale"),
      "XDG_CONFIG_HOME": directory.file("config"), "XDG_CONFIG_DIRS": directory.file("config"),
      "XDG_DATA_HOME": directory.file("home/share"),
      "XDG_DATA_DIRS": ([directory.file("share")] + options.dataDirectories).joined(separator: ":"),
      "XDG_RUNTIME_DIR": directory.file("runtime"), "XDG_STATE_HOME": directory.file("state"),
    ]
    environment.merge(options.environment) { _, given in given }
    let activated = environment
    systemBus = try await PrivateBus.start(
      type: "system", rules: [Self.descriptorRule], program: options.systemBus, starter: starter)
    sessionBus = options.sessionBus == nil ? try await PrivateBus.start(environment: activated, starter: starter) : nil
    environment["DBUS_SYSTEM_BUS_ADDRESS"] = systemBus.address
    environment["DBUS_SESSION_BUS_ADDRESS"] = options.sessionBus ?? sessionBus?.address
    self.environment = environment

    var daemonSettings = options.daemonSettings
    let device: String? =
      switch options.reader {
      case .serial: "pn532_uart:\(directory.file("reader"))"
      case .pcsc: "pcsc:\(Reader.model.slot)"
      case .others: nil
      }
    if let device { daemonSettings["Reader", default: []].append("Devices=\(device)") }
    // A tag is taken away and put back faster than by hand.
    if daemonSettings["Scan"]?.contains(where: { $0.hasPrefix("RemovalDelay=") }) != true {
      daemonSettings["Scan", default: []].append("RemovalDelay=0")
    }
    try directory.write(Installation.keyFile(daemonSettings), to: "tagroute.conf")
    try directory.write(Installation.keyFile(options.agentSettings), to: "agent.conf")
  }

  private static func keyFile(_ settings: [String: [String]]) -> String {
    settings.sorted { $0.key < $1.key }.map { "[\($0.key)]\n" + $0.value.map { "\($0)\n" }.joined() }.joined()
  }

  /// Starts one of our programs, or one of the system, in the installation's environment. `program` is the name of one
  /// of ours, or an absolute path. With `input`, the caller can send lines to it.
  package func start(_ program: String, _ arguments: [String] = [], input: Bool = false) throws -> ChildProcess {
    var environment = environment
    if let pcscdSocket { environment["PCSCLITE_CSOCK_NAME"] = pcscdSocket }
    return try ChildProcess(
      program.contains("/") ? program : BuiltProducts.program(program), arguments, environment: environment,
      input: input, starter: starter)
  }

  /// Starts the simulated reader, or plugs a new one into the same place. A pcscd has another socket each time, so start
  /// the daemon after it.
  package func startSimulator() async throws {
    let arguments =
      switch options.reader {
      case .serial: ["--link", directory.file("reader"), "--timing", options.timing]
      case .pcsc: ["--pcsc", "--model", Reader.model.name]
      case .others: throw RigError("the caller has the readers of this installation")
      }
    let process = try start("tagroute-simulator", arguments, input: true)
    let ready = try await process.line(containing: "ready")
    if options.reader == .pcsc { pcscdSocket = String(ready.dropFirst("ready ".count)) }
    simulator = process
  }

  package func startDaemon() throws {
    daemon = try start("tagrouted", ["--config", directory.file("tagroute.conf")])
  }

  package func startAgent() throws {
    agent = try start("tagroute-agent", ["--config", directory.file("agent.conf")] + options.agentArguments)
  }

  /// Starts the simulated reader, the daemon and the agent.
  package func startAll() async throws {
    try await startSimulator()
    try startDaemon()
    try startAgent()
  }

  /// Sends the simulated reader a command, for example `tap https://example.com` or `remove`. Returns the answer
  /// without its `ok`. Throws an error as a `RigError`.
  @discardableResult package func simulate(_ command: String) async throws -> String {
    guard let simulator else { throw RigError("the simulator is not running") }
    let seen = await simulator.log().count
    try await simulator.send(command)
    let answer = try await simulator.line(after: seen) { $0.hasPrefix("ok") || $0.hasPrefix("error") }
    guard answer.hasPrefix("ok") else { throw RigError("tagroute-simulator: \(command): \(answer)") }
    return String(answer.dropFirst(2).drop { $0 == " " })
  }

  package func stop() async {
    for process in [agent, daemon, simulator] { process?.signal(SIGTERM) }
    for process in [agent, daemon, simulator] { _ = try? await process?.exit() }
    (agent, daemon, simulator) = (nil, nil, nil)
    try? await sessionBus?.stop()
    try? await systemBus.stop()
  }
}
