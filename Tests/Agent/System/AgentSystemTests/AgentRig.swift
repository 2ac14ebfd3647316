import Bus
import EventLoop
import Handlers
import Inbox
import Journal
import NDEF
import Names
import Notifications
import Routing
import Settings
import TestKit
import Testing

@testable import Agent
@testable import AgentTests

/// A real agent between a fake daemon, a stand-in notification server and a fake handler, each on a bus of this test.
actor AgentRig {
  nonisolated let installation: Installation
  nonisolated let daemon: FakeDaemon
  nonisolated let handler: HandlerStandIn
  /// A connection to the session bus, for calls as an application would make them.
  nonisolated let client: Connection

  /// The folder in which the agent looks for catalogues of translations. It is empty until a test creates one.
  nonisolated var catalogues: String { installation.directory.file("locale") }

  /// Starts everything but the agent and the notification server.
  init(
    environment: [String: String] = [:], arguments: [String] = [], starter: String = #function
  ) async throws {
    var options = Installation.Options()
    options.environment = environment
    options.agentArguments = arguments
    installation = try await Installation(options, starter: starter)
    try HandlerStandIn.install(in: installation)
    daemon = try await FakeDaemon.start(on: installation.systemBus.address)
    let session = try #require(installation.sessionBus).address
    handler = try await HandlerStandIn.start(on: session)
    client = try await Connection.open(BusAddress(session), on: EventLoop(label: "test-client"))
    atEndOfTest { await self.installation.stop() }
  }

  /// Starts everything but the notification server. The agent has registered when this returns.
  static func withAgent(starter: String = #function) async throws -> AgentRig {
    let rig = try await AgentRig(starter: starter)
    try await rig.startAgent()
    return rig
  }

  /// Starts everything. The agent has registered when this returns.
  static func withServerAndAgent(
    capabilities: [String] = ["actions", "body", "body-markup"], firstID: UInt32 = 1,
    environment: [String: String] = [:], starter: String = #function
  ) async throws -> (AgentRig, NotificationServerStandIn) {
    let rig = try await AgentRig(environment: environment, starter: starter)
    return (rig, try await rig.startServerAndAgent(capabilities: capabilities, firstID: firstID))
  }

  /// Returns when the agent has registered.
  nonisolated func startServerAndAgent(
    capabilities: [String] = ["actions", "body", "body-markup"], firstID: UInt32 = 1
  ) async throws -> NotificationServerStandIn {
    let server = try await startServer(capabilities: capabilities, firstID: firstID)
    try await startAgent()
    return server
  }

  nonisolated var agent: ChildProcess { get async throws { try #require(await installation.agent) } }

  nonisolated func startServer(
    capabilities: [String] = ["actions", "body", "body-markup"], firstID: UInt32 = 1
  ) async throws -> NotificationServerStandIn {
    let session = try #require(installation.sessionBus).address
    return try await NotificationServerStandIn.start(
      on: BusAddress(session), capabilities: capabilities, firstID: firstID)
  }

  /// Returns when the agent has registered.
  @discardableResult
  nonisolated func startAgent() async throws -> ChildProcess {
    try await installation.startAgent()
    let agent = try await agent
    try await agent.line(containing: "registered with the daemon")
    return agent
  }

  nonisolated func killAgent() async throws {
    let agent = try await agent
    try await agent.exit(after: 9)
  }

  nonisolated func restartAgent() async throws {
    try await killAgent()
    try await startAgent()
  }

  nonisolated func call(_ member: String, _ arguments: [Value] = []) async throws -> [Value] {
    try await client.call(
      Names.Agent.busName, try ObjectPath(Names.Agent.path), Names.Agent.interface, member, arguments)
  }

  /// A property of `org.tagroute.Agent1`; nil if it does not exist.
  nonisolated func property(_ name: String) async throws -> Value? {
    let reply = try await client.call(
      Names.Agent.busName, try ObjectPath(Names.Agent.path), "org.freedesktop.DBus.Properties", "GetAll",
      [.string(Names.Agent.interface)])
    return reply.first?.asDictionary?[name]
  }

  /// The inbox's entry for a tap.
  nonisolated func tap(_ number: Int) async throws -> [String: Value] {
    let reply = try await call("ListInbox", [.dictionary(["id": .string(tapID(number))])])
    guard case .array(_, let taps)? = reply.first, let tap = taps.first?.asDictionary else { return [:] }
    return tap
  }

  nonisolated func state(_ number: Int) async throws -> String { try await tap(number)["state"]?.asString ?? "" }

  /// The agent's signals from now on.
  nonisolated func signals() async throws -> SignalStream {
    try await client.signals(MatchRule(sender: Names.Agent.busName, interface: Names.Agent.interface))
  }
}

extension SignalStream {
  /// Waits for the signal that tap `number` is closed, and returns the final state.
  func closed(_ number: Int) async -> String? {
    for await signal in self where signal.member == "TapClosed" && signal.arguments.first == .string(tapID(number)) {
      return signal.arguments.last?.asString
    }
    return nil
  }
}

/// The agent's service in the test's own process, with a notification server and without a daemon.
struct ServiceRig {
  let bus: PrivateBus
  let server: NotificationServerStandIn
  let inbox = Inbox(.memory, now: { sampleTime }, report: { _ in })
  let service: AgentService

  /// Starts everything but the service.
  init(
    clock: any Clock<Duration> = ContinuousClock(), isHeadless: Bool = false,
    defaultApplication: @escaping @Sendable (String) -> Application? = { _ in nil }
  ) async throws {
    bus = try await PrivateBus.start()
    server = try await NotificationServerStandIn.start(on: BusAddress(bus.address))
    let session = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "agent"))
    let handlers = HandlerRegistry(
      directories: DataDirectories(user: nil, system: []), defaultApplication: defaultApplication, on: session.loop)
    service = AgentService(
      session: session, inbox: inbox, configuration: AgentConfiguration(), now: { sampleTime }, clock: clock,
      isHeadless: isHeadless, handlers: handlers, log: Log(threshold: .error, prefixed: false),
      declareLocked: { _, _ in })
  }

  /// Stores taps with links, as if an earlier run had received them.
  func receive(_ numbers: ClosedRange<Int>, handler: String? = nil) async throws {
    for number in numbers {
      let uri = "https://menu.example.com/\(number)"
      let read = try TagRead(tapValues(number, message: try uriMessage(uri)), now: 0)
      _ = await inbox.receive(Tap(read, uri: uri, title: "", receiver: TapReceiver(handler: handler)))
    }
  }
}
