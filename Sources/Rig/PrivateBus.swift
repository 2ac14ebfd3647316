import Glibc

/// A dbus-daemon of a test's own, in a directory of its own, that can be killed and started again at the same address.
///
/// Everybody may own any name and talk to anybody on it. It activates only what `services` holds.
public actor PrivateBus {
  /// What serves it.
  public enum Program: String, Sendable {
    case daemon = "dbus-daemon"
    /// Needs a bus beside it to look for systemd on, and journald's socket; it activates nothing then.
    case broker = "dbus-broker"
  }

  /// What clients connect to.
  public nonisolated let address: String
  /// Where `.service` files for activation may be put; read when the bus starts, and at `ReloadConfig`.
  public nonisolated let servicesDirectory: String
  private nonisolated let directory: TemporaryDirectory
  private nonisolated let type: String
  private nonisolated let rules: [String]
  private let starter: String
  private let environment: [String: String]
  private let program: Program
  private var beside: PrivateBus?
  private var process: ChildProcess?

  /// Starts a bus and waits until it listens.
  ///
  /// - Parameters:
  ///   - type: what `<type>` says, `session` or `system`.
  ///   - environment: what activated services find in their environment besides the bus's own address.
  ///   - rules: more rules of its policy (dbus-daemon(1)), which overrule that everybody may do everything.
  ///   - program: what serves it.
  ///   - starter: the function on whose behalf it runs, which names the log.
  /// - Returns: the running bus.
  /// - Throws: `RigError` where dbus-daemon is missing or does not start.
  public static func start(
    type: String = "session", environment: [String: String] = [:], rules: [String] = [],
    program: Program = .daemon, starter: String = #function
  ) async throws -> PrivateBus {
    let bus = try PrivateBus(
      type: type, environment: environment, rules: rules, program: program, starter: starter)
    try await bus.restart()
    return bus
  }

  private init(type: String, environment: [String: String], rules: [String], program: Program, starter: String) throws {
    (self.starter, self.program) = (starter, program)
    directory = try TemporaryDirectory()
    address = "unix:path=\(directory.file("bus"))"
    servicesDirectory = directory.file("services")
    self.environment = environment
    self.type = type
    self.rules = rules
    mkdir(servicesDirectory, 0o755)
    try configure()
  }

  /// Lets each connection have no more than so many match rules; takes effect with the bus's `ReloadConfig`.
  ///
  /// - Parameter count: at most.
  /// - Throws: `RigError` where the file cannot be written.
  public func limitMatchRules(to count: Int) throws {
    try configure("<limit name=\"max_match_rules_per_connection\">\(count)</limit>")
  }

  private nonisolated func configure(_ limits: String = "") throws {
    try directory.write(
      """
      <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
        "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
      <busconfig>
        <type>\(type)</type>
        <listen>\(address)</listen>
        <auth>EXTERNAL</auth>
        <servicedir>\(servicesDirectory)</servicedir>
        \(limits)
        <policy context="default">
          <allow send_destination="*" eavesdrop="true"/>
          <allow receive_sender="*"/>
          <allow own="*"/>
          <allow user="*"/>
          \(rules.joined(separator: "\n"))
        </policy>
      </busconfig>
      """, to: "bus.conf")
  }

  /// Kills the daemon, as a crash would; every connection breaks.
  ///
  /// - Throws: `RigError` where it does not end.
  public func stop() async throws {
    guard let process else { return }
    process.signal(SIGKILL)
    try await process.exit()
    self.process = nil
  }

  /// Kills the daemon, and waits for the programs that it has started, which have lost their bus.
  ///
  /// - Parameter limit: how long they may go on.
  /// - Returns: the lines that they have printed, without the daemon's own.
  /// - Throws: `RigError` where the daemon does not end.
  public func end(within limit: Duration) async throws -> [String] {
    guard let process else { return [] }
    try await stop()
    await process.outputsClosed(within: limit)
    return await process.log().filter { !$0.hasPrefix("dbus-daemon[") && !$0.hasPrefix(address) }
  }

  /// Sends a signal to the daemon: SIGSTOP makes it a bus that does not answer, until SIGCONT.
  public func signal(_ number: Int32) { process?.signal(number) }

  /// Starts the daemon, after ending the one that runs.
  ///
  /// - Throws: `RigError` where it does not start.
  public func restart() async throws {
    try await stop()
    unlink(directory.file("bus"))
    process = program == .daemon ? try await startDaemon() : try await startBroker()
    // Programs of other users get through to it.
    chmod(directory.path, 0o711)
    chmod(directory.file("bus"), 0o777)
  }

  private func startDaemon() async throws -> ChildProcess {
    let program = try BuiltProducts.systemProgram("dbus-daemon", package: "dbus-daemon")
    let process = try ChildProcess(
      program, ["--config-file=\(directory.file("bus.conf"))", "--nofork", "--nopidfile", "--print-address=1"],
      environment: environment.merging(["PATH": "/usr/bin:/bin"]) { given, _ in given }, starter: starter)
    try await process.line(containing: "unix:path=")
    return process
  }

  private func startBroker() async throws -> ChildProcess {
    let activator = try BuiltProducts.systemProgram("systemd-socket-activate", package: "systemd")
    let launcher = try BuiltProducts.systemProgram("dbus-broker-launch", package: "dbus-broker")
    let journal = "/run/systemd/journal/socket"
    guard access(journal, F_OK) == 0 else { throw RigError("dbus-broker needs journald, and there is no \(journal)") }
    let beside = try await PrivateBus.start(starter: starter)
    self.beside = beside
    let process = try ChildProcess(
      activator,
      [
        "-E", "DBUS_SESSION_BUS_ADDRESS", "-l", directory.file("bus"), launcher, "--scope", "user", "--config-file",
        directory.file("bus.conf"),
      ], environment: ["PATH": "/usr/bin:/bin", "DBUS_SESSION_BUS_ADDRESS": beside.address], starter: starter)
    try await process.line(containing: "Listening on")
    return process
  }
}
