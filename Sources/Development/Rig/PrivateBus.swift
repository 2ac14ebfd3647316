import Glibc

/// A private D-Bus message bus for one test, in its own directory. The test can kill it and restart it at the same
/// address.
///
/// Everyone may own any name and call any other connection. The bus activates only services in `servicesDirectory`.
package actor PrivateBus {
  package enum Program: String, Sendable {
    case daemon = "dbus-daemon"
    /// Needs journald's socket, and a second bus on which it looks for systemd. It then activates no services.
    case broker = "dbus-broker"
  }

  package nonisolated let address: String
  /// The folder of `.service` files for activation. The bus reads it when it starts, and at `ReloadConfig`.
  package nonisolated let servicesDirectory: String
  private nonisolated let directory: TemporaryDirectory
  private nonisolated let type: String
  private nonisolated let rules: [String]
  private let starter: String
  private let environment: [String: String]
  private let program: Program
  private var beside: PrivateBus?
  private var process: ChildProcess?

  /// Starts a bus and waits until it listens. Its type is `session` or `system`. `environment` is for activated
  /// services, besides the bus's own address. `rules` are added to the bus's policy (dbus-daemon(1)), and override the
  /// default, which allows everything. `starter` names the log.
  package static func start(
    type: String = "session", environment: [String: String] = [:], rules: [String] = [],
    program: Program = .daemon, starter: String = #function
  ) async throws -> PrivateBus {
    let bus = try PrivateBus(type: type, environment: environment, rules: rules, program: program, starter: starter)
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

  /// Limits the number of match rules of each connection. Takes effect at the bus's `ReloadConfig`.
  package func limitMatchRules(to count: Int) throws {
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

  /// Kills the bus, as a crash would. Every connection breaks.
  package func stop() async throws {
    guard let process else { return }
    process.signal(SIGKILL)
    try await process.exit()
    self.process = nil
  }

  /// Kills the bus, and waits up to `limit` for the programs that it has started, which then lose their connection.
  /// Returns the lines that they have printed, without the bus's own.
  package func end(within limit: Duration) async throws -> [String] {
    guard let process else { return [] }
    try await stop()
    await process.outputsClosed(within: limit)
    return await process.log().filter { !$0.hasPrefix("dbus-daemon[") && !$0.hasPrefix(address) }
  }

  /// Sends a signal to the bus. SIGSTOP makes it unresponsive until SIGCONT.
  package func signal(_ number: Int32) { process?.signal(number) }

  /// Starts the bus, after stopping the running one.
  package func restart() async throws {
    try await stop()
    unlink(directory.file("bus"))
    process = program == .daemon ? try await startDaemon() : try await startBroker()
    // Let programs of other users connect.
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
