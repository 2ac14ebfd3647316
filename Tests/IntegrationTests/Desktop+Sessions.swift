import Bus
import EventLoop
import Names
import TagrouteClient
import TestSupport
import Testing

/// A program with reader sessions, on a connection of its own.
struct SessionProgram {
  let connection: Connection

  init(on bus: BusAddress) async throws {
    connection = try await Connection.open(bus, on: EventLoop(label: "program"))
  }

  func start(_ options: ReaderSessionOptions = ReaderSessionOptions()) async throws -> OpenSession {
    OpenSession(try await ReaderSession.start(options, on: connection))
  }

  /// As a crash does: the kernel closes the socket.
  func die() async { await connection.close() }
}

/// A session, and what happens in it one after the other.
actor OpenSession {
  nonisolated let session: ReaderSession
  private var events: ReaderSession.Events.Iterator

  init(_ session: ReaderSession) {
    self.session = session
    events = session.events.makeAsyncIterator()
  }

  func next() async -> ReaderSessionEvent? {
    var events = events
    defer { self.events = events }
    return await events.next(isolation: self)
  }

  func activated() async throws {
    let event = await next()
    guard event == .activated else { throw RigError("the session was to be active: \(String(describing: event))") }
  }

  /// The next tag, whatever comes before it but the end.
  func tag() async throws -> ReaderTag {
    while let event = await next() {
      if case .tagDetected(let tag) = event { return tag }
      if case .ended(let end) = event { throw RigError("the session ended: \(end)") }
    }
    throw RigError("the session has no end")
  }

  func end() async throws -> ReaderSessionEnd {
    while let event = await next() {
      if case .ended(let end) = event { return end }
    }
    throw RigError("the session has no end")
  }
}

extension Desktop {
  /// A polkit that lets everybody do everything of ours.
  func startPolkit() async throws -> PolkitStandIn {
    try await PolkitStandIn.start(
      on: systemBus,
      allowing: [Names.PolkitAction.readTags, Names.PolkitAction.writeTags, Names.PolkitAction.inhibit])
  }

  /// A desktop whose reader is looked at in the background, and whose polkit allows everything.
  static func scanning(starter: String = #function) async throws -> (Desktop, PolkitStandIn) {
    let desktop = try await Desktop(starter: starter)
    let polkit = try await desktop.startPolkit()
    try await desktop.startScanning()
    return (desktop, polkit)
  }

  /// Everything, until the reader is looked at in the background.
  func startScanning() async throws {
    try await start()
    try await scanning()
  }

  func scanning() async throws { try await status { $0.scanning } }

  /// Waits until the reader has looked around after somebody else had it: what it finds at first is not announced.
  func lookedAround() async throws {
    // Some three looks for each kind of tag.
    try await installation.simulate("wait 60")
  }

  func program() async throws -> SessionProgram { try await SessionProgram(on: systemBus) }
}
