package import Bus
import EventLoop
import Glibc
import Names
package import Rig

/// The agent and `tagroute-mqtt` in a separate directory, with the real daemon or a stand-in.
package actor MqttStation {
  /// What `org.tagroute.Mqtt1` says.
  package struct State: Sendable, Hashable {
    /// `waiting`, `connecting` or `connected`.
    package let name: String
    /// The reason, for a person.
    package let reason: String
  }

  /// The buses, the files and the agent.
  package nonisolated let installation: Installation
  /// The station's name in topics.
  package nonisolated let name: String
  /// The bus of the agent and of `tagroute-mqtt`.
  package nonisolated let session: Connection
  package private(set) var mqtt: ChildProcess?
  private var source: TapSource?

  private static let busName = "org.tagroute.Mqtt1"
  private static let path = "/org/tagroute/Mqtt1"

  /// Starts the buses, and writes `mqtt.conf` with these lines in addition to `Broker=` and `Station=`.
  package init(
    _ name: String = "desk", broker: String, settings: [String] = [], options given: Installation.Options? = nil,
    starter: String = #function
  ) async throws {
    var options = Installation.Options()
    options.reader = .others
    installation = try await Installation(given ?? options, starter: starter)
    guard let bus = installation.sessionBus else { throw RigError("the station has no session bus of its own") }
    session = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "station"))
    self.name = name
    try configure(broker: broker, settings)
    atEndOfTest { [self] in await stop() }
  }

  /// Writes `mqtt.conf`, with another name for the station if given. `tagroute-mqtt` reads it when it starts.
  package nonisolated func configure(broker: String, station: String? = nil, _ settings: [String]) throws {
    let lines = ["[Mqtt]", "Broker=\(broker)", "Station=\(station ?? name)"] + settings
    try installation.directory.write(lines.map { $0 + "\n" }.joined(), to: "config/tagroute/mqtt.conf", mode: 0o600)
  }

  // MARK: Processes

  /// Starts the agent, behind a stand-in for the daemon unless the real one runs. Returns once it has registered.
  package func startAgent() async throws {
    if source == nil, await installation.daemon == nil {
      source = try await TapSource.start(on: BusAddress(installation.systemBus.address))
    }
    try await installation.startAgent()
    try await installation.agent?.line(containing: "registered with the daemon")
  }

  /// Kills the agent, as a crash would.
  package func killAgent() async throws { try await installation.agent?.exit(after: SIGKILL) }

  package func startMqtt() async throws { mqtt = try await installation.start("tagroute-mqtt") }

  @discardableResult package func endMqtt(_ signal: Int32 = SIGKILL) async throws -> ChildProcess.ExitStatus? {
    defer { mqtt = nil }
    return try await mqtt?.exit(after: signal)
  }

  package func stop() async {
    _ = try? await endMqtt(SIGTERM)
    await installation.stop()
  }

  // MARK: Taps

  /// Gives taps to the agent, one after the other.
  package func give(_ taps: [SampleTap]) async throws {
    guard let source else { throw RigError("the real daemon runs: put a tag on the simulated reader") }
    try await source.give(taps)
  }

  /// The agent's property `Outgoing`.
  package func outgoing() async throws -> [String: Value] {
    try await properties(Names.Agent.busName, Names.Agent.path)["Outgoing"]?.asDictionary ?? [:]
  }

  /// Waits until the agent knows that the broker has every tap.
  package func nothingWaits() async throws {
    guard let agent = await installation.agent else { throw RigError("the agent does not run") }
    while true {
      let seen = await agent.log().count
      guard try await outgoing()["waiting"]?.asUInt32 != 0 else { return }
      try await agent.line(containing: "of the taps that waited to be sent are confirmed", after: seen)
    }
  }

  // MARK: State

  /// What `tagroute-mqtt` says about itself; nil if it is not on the bus.
  package func state() async -> State? {
    guard let values = try? await properties(Self.busName, Self.path) else { return nil }
    return State(name: values["State"]?.asString ?? "", reason: values["StateReason"]?.asString ?? "")
  }

  /// Waits until `tagroute-mqtt` is in a state.
  @discardableResult package func waits(until isExpected: @escaping @Sendable (State) -> Bool) async throws -> State {
    let changes = try await session.signals(
      MatchRule(
        sender: Self.busName, path: try ObjectPath(Self.path), interface: "org.freedesktop.DBus.Properties",
        member: "PropertiesChanged"))
    let owners = try await session.owners(of: Self.busName)
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let tasks = [
      Task { for await _ in changes { continuation.yield() } },
      Task { for await _ in owners { continuation.yield() } },
      Task {
        try? await Task.sleep(for: ChildProcess.timeout)
        continuation.finish()
      },
    ]
    defer { for task in tasks { task.cancel() } }
    continuation.yield()
    for await _ in stream {
      if let state = await state(), isExpected(state) { return state }
    }
    let log = await mqtt?.log().suffix(60).joined(separator: "\n  ") ?? "it does not run"
    throw RigError("tagroute-mqtt stays \(String(describing: await state())):\n  \(log)")
  }

  /// Waits until `tagroute-mqtt` is connected.
  package func isConnected() async throws { try await waits { $0.name == "connected" } }

  private func properties(_ name: String, _ path: String) async throws -> [String: Value] {
    let reply = try await session.call(
      name, try ObjectPath(path), "org.freedesktop.DBus.Properties", "GetAll", [.string(name)], autoStart: false)
    return reply.first?.asDictionary ?? [:]
  }
}
