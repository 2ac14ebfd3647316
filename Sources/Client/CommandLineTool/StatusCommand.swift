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
      session. With MQTT, also the taps that wait to be sent, and the connection to
      the broker. Fails with 69 if the daemon is not running.
      """
  ) { _, console throws(Failure) in
    let report = try await StatusReport.current(on: EventLoop(label: "tagroute"))
    try console.answer(
      report, report.lines(.current), verdicts: ScanningLine.Verdict.allCases.map { ($0.rawValue, $0.colour) })
    return 0
  }
}

/// What `status` prints; scripts depend on its keys.
struct StatusReport: Encodable {
  struct Reader: Encodable {
    let status: ReaderStatus
    /// With the number for `--reader`.
    var numbered: String { ReaderChoice.text(number: ReaderChoice.number(of: status), name: status.title) }

    func encode(to encoder: any Encoder) throws {
      let members: JSON = [
        // Null if the reader's object path does not end in a number.
        "number": ReaderChoice.number(of: status), "name": status.name, "device": status.device, "seat": status.seat,
        "state": status.state, "reason": status.stateReason,
      ]
      try members.encode(to: encoder)
    }
  }

  /// A program that keeps scanning off, as it describes itself.
  struct Inhibitor: Encodable {
    let who: String
    let why: String
    let pid: UInt32
  }

  struct Agent: Encodable {
    let version: String
    let registered: Bool
    let headless: Bool
    /// Like that of the daemon.
    let configurationError: String
    /// The taps that wait to be sent; null if the agent does not report them.
    @OrNull var outgoing: AgentStatus.Outgoing?
  }

  let version: String
  let enabled: Bool
  let scanning: Bool
  let suspendReasons: [String]
  let inhibitors: [Inhibitor]
  let readers: [Reader]
  /// The error in the configuration that was read last; empty if it is in force.
  let configurationError: String
  /// The agent of this user gets the taps of a station; empty if this machine is not a station.
  let stationUser: String
  /// Whether the agent of that user gets the taps now.
  let stationActive: Bool
  /// Null if no agent runs in this session.
  @OrNull private(set) var agent: Agent?
  /// Null if `tagroute-mqtt` does not run in this session.
  @OrNull private(set) var mqtt: MqttStatus?

  init(
    _ daemon: DaemonStatus, _ agent: AgentStatus?, _ mqtt: MqttStatus? = nil, inhibitors: [InhibitorDescription] = []
  ) {
    version = daemon.version
    enabled = daemon.enabled
    scanning = daemon.scanning
    suspendReasons = daemon.suspendReasons
    self.inhibitors = inhibitors.map { Inhibitor(who: $0.who, why: $0.why, pid: $0.process) }
    readers = daemon.readers.map(Reader.init)
    configurationError = daemon.configurationError
    stationUser = daemon.stationUser
    stationActive = daemon.stationActive
    self.agent = agent.map {
      Agent(
        version: $0.version, registered: $0.registered, headless: $0.headless,
        configurationError: $0.configurationError, outgoing: $0.outgoing)
    }
    self.mqtt = mqtt
  }

  static func current(on loop: EventLoop) async throws(Failure) -> StatusReport {
    let client = try await DaemonClient.own(on: loop)
    let daemon = try await Failure.asking(.daemon) { () throws(BusError) in try await client.status() }
    let inhibitors = (try? await client.inhibitors(timeout: .seconds(5))) ?? []
    // In a service or over ssh there may be no session bus. Print the daemon's state anyway.
    guard let session = try? await Connection.open(.session, on: loop) else {
      return StatusReport(daemon, nil, inhibitors: inhibitors)
    }
    let agent = try? await AgentClient(session).status()
    let mqtt = try? await MqttStatus.current(session, timeout: .seconds(5))
    return StatusReport(daemon, agent, mqtt, inhibitors: inhibitors)
  }

  /// Who gets the taps of a station; nil if this machine is not one.
  var station: String? {
    guard !stationUser.isEmpty else { return nil }
    return stationActive
      ? "station: taps go to user \(stationUser)"
      : "station: taps do not go to user \(stationUser) now, because another user is at the machine, or logind is gone"
  }

  func lines(_ setup: Setup) -> [String] {
    var lines = [ScanningLine(scanning, suspendReasons, SuspendReason.words).description]
    lines += inhibitors.map { "  \($0.who): \($0.why)" }
    lines += [station].compactMap(\.self)
    lines += Self.refusal(configurationError)
    // The first line may have this reason.
    if readers.isEmpty, !suspendReasons.contains("no-reader") { lines.append("no reader") }
    for reader in readers {
      let status = reader.status
      let device = status.isNamed ? " (\(status.device))" : ""
      lines.append("\(reader.numbered) on \(status.seat): \(status.state)\(device)")
      if !status.stateReason.isEmpty { lines.append("  \(status.stateReason)") }
    }
    switch agent {
    case nil where station != nil: lines.append("no agent in this session, and a station needs none here")
    case nil: lines.append("no agent in this session: \(setup.starting(.agent).text)")
    case let agent?:
      let kind = agent.headless ? "agent without a desktop" : "agent"
      let isElsewhere = agent.registered && SuspendReason.lackAgent(suspendReasons)
      lines.append(
        "\(kind) \(agent.version): \(agent.registered ? "registered" : "not registered")"
          + (isElsewhere ? " for a session that is not the active one at the reader's seat" : ""))
      lines += Self.refusal(agent.configurationError)
    }
    lines += outbox(setup)
    for (program, version) in [(RunningProgram.daemon, version), (.agent, agent?.version ?? "")] {
      guard let difference = program.difference(version: version) else { continue }
      let remedy = setup.updating(difference, restarting: setup.restarting(program))
      lines.append("\(difference)" + (remedy.map { ": \($0.text)" } ?? ""))
    }
    return lines
  }

  /// The taps that wait to be sent, and the program that sends them.
  private func outbox(_ setup: Setup) -> [String] {
    var lines: [String] = []
    if let outgoing = agent?.outgoing, outgoing.isOfInterest {
      var line = "outbox: \(outgoing.waiting == 0 ? "no tap waits" : Self.waiting(outgoing.waiting))"
      if let oldest = outgoing.oldest { line += ", the oldest since \(LocalTime.minute(oldest))" }
      if outgoing.dropped > 0 { line += "; \(outgoing.dropped) \(outgoing.dropped == 1 ? "was" : "were") dropped" }
      lines.append(line)
    }
    if let mqtt {
      let reason = mqtt.stateReason.isEmpty ? "" : ": \(mqtt.stateReason)"
      let broker = mqtt.isBrokerInReason ? "" : ", \(mqtt.broker)"
      lines.append("mqtt: \(mqtt.state)\(broker) as \(mqtt.station)\(reason)")
    } else if agent?.outgoing?.on == true {
      lines.append("mqtt: tagroute-mqtt does not run: \(setup.starting(.mqtt).text)")
    }
    return lines
  }

  private static func waiting(_ count: UInt32) -> String { count == 1 ? "1 tap waits" : "\(count) taps wait" }

  private static func refusal(_ error: String) -> [String] {
    guard !error.isEmpty else { return [] }
    return ["the new configuration has an error, so the previous one stays in force", "  \(error)"]
  }
}

extension ScanningLine.Verdict {
  var colour: Colour {
    switch self {
    case .scanning: .green
    case .aboutToScan, .off: .yellow
    case .notScanning: .red
    }
  }
}
