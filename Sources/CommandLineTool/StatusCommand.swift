import Bus
import EventLoop
import Names
import TagrouteClient

extension Command {
  static let status = Command(
    name: "status", usage: "status", summary: "whether tags are looked for, and if not, why",
    details: """
      Prints whether background scanning is on, why it is suspended where it is, and the readers with their numbers and
      states. Fails with 69 where the daemon does not run.
      """,
    words: 0...0
  ) { _, console throws(Failure) in
    let report = try await StatusReport.current(on: EventLoop(label: "tagroute"))
    try console.answer(report, report.lines(.current))
    return 0
  }
}

/// What `status` prints; its keys are what scripts depend on.
struct StatusReport: Encodable {
  struct Reader: Encodable {
    /// What `--reader` takes; null where the object path of its daemon ends in none.
    @OrNull var number: Int?
    let name: String
    let device: String
    let seat: String
    let state: String
    /// Empty where there is nothing to explain.
    let reason: String
  }

  struct Agent: Encodable {
    let version: String
    let registered: Bool
    /// As the daemon's.
    let configurationError: String
  }

  let version: String
  let enabled: Bool
  let scanning: Bool
  let suspendReasons: [String]
  let readers: [Reader]
  /// Empty where the configuration that was read last is in force.
  let configurationError: String
  /// Absent in the text and null in JSON where no agent runs in this session.
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
    let client = try await Failure.connecting(to: .daemon) { () throws(BusError) in
      try await DaemonClient.connect(on: loop)
    }
    let daemon: DaemonStatus
    do throws(BusError) {
      daemon = try await client.status()
    } catch {
      throw Failure(error, from: .daemon)
    }
    // The system's state is worth telling where there is no session bus, in a service or over ssh.
    let agent = try? await AgentClient.connect(on: loop).status()
    return StatusReport(daemon, agent)
  }

  /// Whether tags are looked for, and why not. No reason is the moment between the decision to look and the reader's word that
  /// it does.
  func verdict(_ words: (String) -> String) -> String {
    if scanning { return "scanning" }
    guard !suspendReasons.isEmpty else { return "about to scan" }
    return "not scanning: " + suspendReasons.map(words).joined(separator: ", ")
  }

  /// What a person reads.
  ///
  /// - Parameter setup: how Tagroute is installed, which decides what starts it.
  /// - Returns: the verdict, then what is wrong, the readers and the agent, a line each.
  func lines(_ setup: Setup) -> [String] {
    var lines = [verdict(Self.words)]
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
    return ["the former configuration is in force, for what was read last is not", "  \(error)"]
  }

  /// A suspend reason as a person says it; one that this version does not know, as it is.
  static func words(_ reason: String) -> String {
    switch reason {
    case "disabled": "switched off"
    case "no-reader": "no reader"
    case "no-agent": "no agent is registered"
    case "no-session": "nobody is logged in at the reader's seat"
    case "session-inactive": "the session is not active"
    case "session-remote": "the session is remote"
    case "session-not-graphical": "the session is not graphical"
    case "session-class": "the session is not a user's"
    case "session-locked": "the session is locked"
    case "lock-unknown": "nobody tells whether the session is locked"
    case "sleeping": "the machine goes to sleep"
    case "reader-session": "an app uses the reader"
    case "inhibited": "a program inhibits it"
    case "airplane-mode": "airplane mode"
    case "camera": "a camera is in use"
    case "display-off": "the display is off"
    default: reason
    }
  }
}
