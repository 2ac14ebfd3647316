import Bus
import EventLoop
import NDEF
import Names
import TagrouteClient
import TestKit
import Testing

/// A complete Tagroute with an app and a notification server. These two are stand-ins. The programs of Tagroute are
/// real.
struct Desktop {
  let installation: Installation
  /// Receives messages with a link to menu.example.com, over D-Bus.
  let app: HandlerStandIn
  let systemBus: BusAddress
  let sessionBus: BusAddress

  /// Starts the buses and the app, but no program of Tagroute.
  ///
  /// `scan` and `agentScan` are lines of the group `[Scan]` of the daemon and the agent, and `reader` has more lines of
  /// the group `[Reader]`. `log` is `TAGROUTE_LOG`. `environment` has more variables for every process. `isSystems`:
  /// whether the app is installed by the system. Otherwise it is the user's own and not trusted.
  init(
    _ kind: Installation.Reader = .serial, scan: [String] = ["Sessions=any"], reader: [String] = [],
    agentScan: [String] = [], agentArguments: [String] = [], log: String = "debug",
    environment: [String: String] = [:], isSystems: Bool = true, starter: String = #function
  ) async throws {
    var options = Installation.Options()
    options.reader = kind
    options.daemonSettings = ["Reader": ["PollInterval=10"] + reader, "Scan": scan]
    options.agentSettings = ["Scan": agentScan]
    options.agentArguments = agentArguments
    options.environment = environment.merging(["TAGROUTE_LOG": log]) { given, _ in given }
    installation = try await Installation(options, starter: starter)
    let session = try #require(installation.sessionBus).address
    systemBus = BusAddress(installation.systemBus.address)
    sessionBus = BusAddress(session)
    if isSystems {
      try HandlerStandIn.install(in: installation)
    } else {
      try installation.directory.write(
        HandlerStandIn.desktopEntry, to: "home/share/applications/\(HandlerStandIn.desktopID)")
    }
    app = try await HandlerStandIn.start(on: session)
    let desktop = self
    atEndOfTest { await desktop.stop() }
  }

  func startServer(
    capabilities: [String] = ["actions", "body", "body-markup"]
  ) async throws -> NotificationServerStandIn {
    try await NotificationServerStandIn.start(on: sessionBus, capabilities: capabilities)
  }

  /// Starts a notification server stand-in, then the same as `start`.
  func startWithServer(
    capabilities: [String] = ["actions", "body", "body-markup"]
  ) async throws -> NotificationServerStandIn {
    let server = try await startServer(capabilities: capabilities)
    try await start()
    return server
  }

  static func started(
    isSystems: Bool = true, starter: String = #function
  ) async throws -> (Desktop, NotificationServerStandIn) {
    let desktop = try await Desktop(isSystems: isSystems, starter: starter)
    return (desktop, try await desktop.startWithServer())
  }

  /// Starts the simulator, the daemon and the agent, and waits until the agent is registered.
  func start() async throws {
    try await installation.startAll()
    try await agent.line(containing: Desktop.registered)
  }

  func stop() async { await installation.stop() }

  var simulator: ChildProcess { get async throws { try #require(await installation.simulator) } }
  var daemon: ChildProcess { get async throws { try #require(await installation.daemon) } }
  var agent: ChildProcess { get async throws { try #require(await installation.agent) } }

  /// The reader process. Waits until it is ready.
  var reader: ForeignProcess {
    get async throws {
      let daemon = try await daemon
      try await daemon.line(containing: Desktop.readerReady)
      return try #require(try daemon.children().first)
    }
  }

  /// Parts of log lines of the agent and the daemon.
  static let registered = "registered with the daemon"
  static let readerReady = "is ready"
  static let tagAway = "its tag was removed"

  // MARK: Tags

  /// Puts a tag on the reader, in place of the previous one.
  func place(_ tag: Tag) async throws {
    let file = try installation.directory.write(tag.message, to: "tags/\(tag.uid).ndef")
    try await installation.simulate("tap --type \(tag.type) --ndef \(file) --uid \(tag.uid)")
  }

  /// Puts the tag with this number on the reader. Its notification has to be the next one on the server.
  func tap(
    _ number: Int, isShownOn server: NotificationServerStandIn, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    try await place(try Tag(number))
    #expect(try await notification(on: server).body == Tag.text(number), sourceLocation: sourceLocation)
  }

  /// Removes the tag and waits until the daemon has noticed.
  func remove() async throws {
    let daemon = try await daemon
    let seen = await daemon.log().count
    try await installation.simulate("remove")
    try await daemon.line(containing: Desktop.tagAway, after: seen)
  }

  // MARK: Events

  func notification(on server: NotificationServerStandIn) async throws -> NotificationServerStandIn.Shown {
    try await within("a notification") { try await server.next() }
  }

  func handed() async throws -> HandlerStandIn.Handed {
    try await within("a message at the app") { [app] in try await app.next() }
  }

  /// Waits until the status of the daemon is as expected, and returns it.
  @discardableResult
  func status(_ isExpected: @escaping @Sendable (DaemonStatus) -> Bool) async throws -> DaemonStatus {
    let client = try await DaemonClient.connect(to: systemBus, on: EventLoop(label: "test-client"))
    return try await within("a state of the daemon") { () async throws -> DaemonStatus in
      for await _ in try await client.changes() {
        let status = try await client.status()
        if isExpected(status) { return status }
      }
      throw RigError("the bus is gone")
    }
  }

  /// Waits with a time limit. The error contains the last log lines of the daemon and the agent.
  func within<Result: Sendable>(
    _ what: String, _ wait: @escaping @Sendable () async throws -> Result
  ) async throws -> Result {
    let (results, continuation) = AsyncThrowingStream.makeStream(of: Result.self)
    let waiting = Task {
      do { continuation.yield(try await wait()) } catch { continuation.finish(throwing: error) }
    }
    let limit = Task {
      try await Task.sleep(for: ChildProcess.timeout)
      continuation.finish()
    }
    defer {
      waiting.cancel()
      limit.cancel()
    }
    for try await result in results { return result }
    var logs: [String] = []
    for process in [await installation.daemon, await installation.agent].compactMap(\.self) {
      logs += await process.log().suffix(60).map { "  \(process.name): \($0)\n" }
    }
    throw RigError("timed out waiting for \(what):\n" + logs.joined())
  }
}

/// A tag with a link.
struct Tag: Sendable {
  let type: Int
  /// Fourteen hexadecimal digits.
  let uid: String
  let message: [UInt8]

  /// `number` makes the tag distinct from other tags. `type` is 2 or 4. By default, `uri` is a link of the app that
  /// contains the number. The `others` follow the link.
  init(_ number: Int, type: Int = 2, uri: String? = nil, others: [NDEFRecord] = []) throws {
    let digits = String(number, radix: 16)
    uid = "04" + String(repeating: "0", count: 12 - digits.count) + digits
    self.type = type
    let link = NDEFMessage.uri(uri ?? "https://\(Tag.text(number))")
    message = try NDEFMessage(records: link.records + others).encoded()
  }

  /// The same tag with another message.
  init(_ tag: Tag, message: [UInt8]) {
    type = tag.type
    uid = tag.uid
    self.message = message
  }

  /// The text that a notification shows for the link of the tag with this number.
  static func text(_ number: Int) -> String { "menu.example.com/table/\(number)" }
}

extension ChildProcess {
  /// The log lines of priority `info` or more severe after the first `index` lines, without their priorities.
  func notable(after index: Int = 0) async -> [String] {
    await log().dropFirst(index).filter { line in
      guard line.hasPrefix("<"), let priority = line.dropFirst().first?.wholeNumberValue else { return false }
      return priority <= 6
    }.map { String($0.dropFirst(3)) }
  }
}
