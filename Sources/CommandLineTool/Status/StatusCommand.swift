import Bus
import Doctor
import EventLoop
import Names
import TagrouteClient

extension Command {
  static let status = Command(
    name: "status", summary: "show whether the readers scan, and if not, why",
    details: """
      Also lists the readers, with their numbers and states, and the agent of this
      session. Fails with 69 if the daemon is not running.
      """,
    words: 0...0
  ) { _, console throws(Failure) in
    let report = try await StatusReport.current(on: EventLoop(label: "tagroute"))
    try console.answer(report, report.lines(.current))
    return 0
  }
}

/// What `status` prints; scripts depend on its keys.
struct StatusReport: Encodable {
  struct Reader: Encodable {
    /// For `--reader`; null if the reader's object path does not end in a number.
    @OrNull var number: Int?
    let name: String
    let device: String
    let seat: String
    let state: String
    /// Why it is absent or failed; empty in other states.
    let reason: String
  }

  struct Agent: Encodable {
    let version: String
    let registered: Bool
    /// Like that of the daemon.
    let configurationError: String
  }

  let version: String
  let enabled: Bool
  let scanning: Bool
  let suspendReasons: [String]
  let readers: [Reader]
  /// The error in the configuration that was read last; empty if it is in force.
  let configurationError: String
  /// Null if no agent runs in this session.
  @OrNull private(set) var agent: Agent?

  init(_ daemon: DaemonStatus, _ agent: AgentStatus?) {
    version = daemon.version
    enabled = daemon.enabled
    scanning = daemon.scanning
    suspendReasons = daemon.suspendReasons
    readers = daemon.readers.map {
      Reader(
        number: ReaderChoice.number(of: $0), name: $0.name, device: $0.device, seat: $0.seat, state: $0.state,
        reason: $0.stateReason)
    }
    configurationError = daemon.configurationError
    self.agent = agent.map {
      Agent(
        version: $0.version, registered: $0.registered, configurationError: $0.configurationError)
    }
  }

  static func current(on loop: EventLoop) async throws(Failure) -> StatusReport {
    let client = try await DaemonClient.own(on: loop)
    let daemon = try await Failure.asking(.daemon) { () throws(BusError) in try await client.status() }
    // In a service or over ssh there may be no session bus. Print the daemon's state anyway.
    let agent = try? await AgentClient.connect(on: loop).status()
    return StatusReport(daemon, agent)
  }

  /// Whether a reader scans, and why not. There is no reason while the daemon waits for the reader to start scanning.
  static func verdict(_ scanning: Bool, _ reasons: [String]) -> String {
    if scanning { return "scanning" }
    return reasons.isEmpty ? "about to scan" : "not scanning: \(reasons.joined(separator: ", "))"
  }

  func lines(_ setup: Setup) -> [String] {
    var lines = [Self.verdict(scanning, suspendReasons.map(SuspendReason.words))]
    lines += Self.refusal(configurationError)
    if readers.isEmpty { lines.append("no reader") }
    for reader in readers {
      let name = reader.name.isEmpty ? "reader" : reader.name
      let number = reader.number.map { "\($0): " } ?? ""
      lines.append("\(number)\(name) on \(reader.seat): \(reader.state) (\(reader.device))")
      if !reader.reason.isEmpty { lines.append("  \(reader.reason)") }
    }
    switch agent {
    case nil: lines.append("no agent in this session: \(setup.starting(.agent).text)")
    case let agent?:
      lines.append("agent \(agent.version): \(agent.registered ? "registered" : "not registered")")
      lines += Self.refusal(agent.configurationError)
    }
    for (program, version) in [(RunningProgram.daemon, version), (.agent, agent?.version ?? "")] {
      guard let difference = program.difference(version: version) else { continue }
      let remedy = setup.updating(difference, restarting: setup.restarting(program))
      lines.append("\(difference)" + (remedy.map { ": \($0.text)" } ?? ""))
    }
    return lines
  }

  private static func refusal(_ error: String) -> [String] {
    guard !error.isEmpty else { return [] }
    return ["the new configuration has an error, so the previous one stays in force", "  \(error)"]
  }
}
