import Bus
import EventLoop
import Names
import ReaderProtocol
import TestKit
import Testing

struct SessionClient {
  let connection: Connection
  private let events: Events

  private actor Events {
    private var iterator: AsyncStream<ReceivedSignal>.Iterator

    init(_ signals: SignalStream) {
      let (stream, continuation) = AsyncStream.makeStream(of: ReceivedSignal.self)
      Task {
        for await signal in signals { continuation.yield(signal) }
        continuation.finish()
      }
      iterator = stream.makeAsyncIterator()
    }

    func next() async -> ReceivedSignal? {
      var iterator = iterator
      defer { self.iterator = iterator }
      return await iterator.next(isolation: self)
    }
  }

  init(on address: BusAddress) async throws {
    connection = try await Connection.open(address, on: EventLoop(label: "client"))
    events = Events(
      try await connection.signals(
        MatchRule(sender: Names.Daemon.busName, interface: Names.Daemon.readerSessionInterface)))
  }

  func start(_ options: [String: Value] = [:]) async throws -> ObjectPath {
    let reply = try await connection.call(
      Names.Daemon.busName, ObjectPath(Names.Daemon.path), Names.Daemon.managerInterface, "StartReaderSession",
      [.dictionary(options)])
    return try #require(reply.first?.asObjectPath)
  }

  func isReadingAvailable() async throws -> Bool? {
    try await connection.call(
      Names.Daemon.busName, ObjectPath(Names.Daemon.path), Names.Daemon.managerInterface, "ReadingAvailable"
    ).first?.asBool
  }

  /// Waits for the next signal and checks its name and its session.
  @discardableResult
  func expect(
    _ member: String, of session: ObjectPath? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> [Value] {
    let signal = try #require(await events.next(), sourceLocation: sourceLocation)
    #expect(signal.member == member, "\(signal.arguments)", sourceLocation: sourceLocation)
    if let session { #expect(signal.path == session, sourceLocation: sourceLocation) }
    return signal.arguments
  }

  @discardableResult
  func call(_ path: ObjectPath, _ member: String, _ arguments: [Value] = []) async throws -> [Value] {
    try await connection.call(
      Names.Daemon.busName, path, Names.Daemon.readerSessionInterface, member, arguments)
  }

  @discardableResult
  func callTag(_ path: ObjectPath, _ member: String, _ arguments: [Value] = []) async throws -> [Value] {
    try await connection.call(Names.Daemon.busName, path, Names.Daemon.tagInterface, member, arguments)
  }

  func property(
    _ path: ObjectPath, _ name: String, interface: String = Names.Daemon.readerSessionInterface
  ) async throws -> Value? {
    let reply = try await connection.call(
      Names.Daemon.busName, path, "org.freedesktop.DBus.Properties", "Get", [.string(interface), .string(name)])
    return reply.first?.unwrapped
  }
}

/// A session that has the reader, and everything around it.
struct ActiveSession {
  let rig: DaemonRig
  let agent: AgentDouble
  let client: SessionClient
  let session: ObjectPath
  /// What the reader process was asked for.
  let options: TagSessionOptions

  func findTag() async throws -> ObjectPath {
    await rig.reader.find(ReaderSessionTests.tag())
    return try #require(try await client.expect("TagDetected").first?.asObjectPath)
  }
}

extension DaemonRig {
  /// A scanning daemon with an agent, and a client that has the reader for its session.
  static func inSession(
    _ options: [String: Value] = [:], starter: String = #function
  ) async throws -> ActiveSession {
    let (rig, agent) = try await scanning(allowing: clientActions, starter: starter)
    let client = try await rig.client()
    let session = try await client.start(options)
    let begun = try await rig.begin()
    try await client.expect("Activated", of: session)
    return ActiveSession(rig: rig, agent: agent, client: client, session: session, options: begun)
  }

  func client() async throws -> SessionClient { try await SessionClient(on: BusAddress(bus.address)) }

  /// Waits for the first command that `read` accepts, and returns its result.
  func command<T>(_ read: (ReaderCommand) -> T?) async throws -> T {
    for await command in reader.commands {
      if let found = read(command) { return found }
    }
    throw RigError("the reader did not receive the command")
  }

  /// Waits for the goal to lend the reader if `isLent` is true, and otherwise for any other goal.
  func lending(_ isLent: Bool) async throws {
    _ = try await command { command -> Bool? in command.goal.map { $0 == .lent } == isLent ? true : nil }
  }

  /// Waits for the goal to begin a session, and reaches it.
  func begin() async throws -> TagSessionOptions {
    let options = try await command { $0.goal?.session }
    await reader.reach()
    return options
  }

  /// Waits for the goal that ends the session. The scripted reader reaches it at once.
  func end() async throws {
    _ = try await command { command in command.goal.flatMap { $0.session == nil ? $0 : nil } }
  }

  /// Waits for an operation, and replies with the result.
  func perform(_ result: ReaderOperationResult) async throws -> ReaderOperation {
    let (request, operation) = try await command { command -> (UInt64, ReaderOperation)? in
      if case .perform(_, let request, _, let operation) = command { (request, operation) } else { nil }
    }
    await reader.send(.performed(request: request, result))
    return operation
  }
}
