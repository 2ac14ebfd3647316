import Bus
import EventLoop
import Names
import TagrouteClient
import TestKit
import Testing

/// A client program with reader sessions and its own bus connection.
struct SessionProgram {
  let connection: Connection

  init(on bus: BusAddress) async throws {
    connection = try await Connection.open(bus, on: EventLoop(label: "program"))
  }

  func start(_ options: ReaderSessionOptions = ReaderSessionOptions()) async throws -> OpenSession {
    OpenSession(try await ReaderSession.start(options, on: connection))
  }

  /// Closes the socket, as the kernel does after a crash.
  func die() async { await connection.close() }
}

/// A reader session, with its events in order.
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
    guard event == .activated else { throw RigError("expected an active session, got \(String(describing: event))") }
  }

  /// Returns the next tag. Fails if the session ends first.
  func tag() async throws -> ReaderTag {
    while let event = await next() {
      if case .tagDetected(let tag) = event { return tag }
      if case .ended(let end) = event { throw RigError("the session ended: \(end)") }
    }
    throw RigError("the events stopped before the session ended")
  }

  /// Waits until polling has restarted. Returns how many tags were removed before it. Fails if the session ends or a
  /// tag is found first.
  func pollingRestarted() async throws -> Int {
    var removals = 0
    while let event = await next() {
      switch event {
      case .pollingRestarted: return removals
      case .tagRemoved: removals += 1
      case .tagDetected(let tag): throw RigError("expected a restart of polling, got the tag \(tag)")
      case .ended(let end): throw RigError("the session ended: \(end)")
      default: break
      }
    }
    throw RigError("the events stopped before the session ended")
  }

  /// Returns the tags of a round. Fails if the session ends first.
  func round() async throws -> [ReaderTag] {
    var tags: [ReaderTag] = []
    while let event = await next() {
      switch event {
      case .tagDetected(let tag): tags.append(tag)
      case .roundEnded: return tags
      case .ended(let end): throw RigError("the session ended: \(end)")
      default: break
      }
    }
    throw RigError("the events stopped before the session ended")
  }

  func end() async throws -> ReaderSessionEnd {
    while let event = await next() {
      if case .ended(let end) = event { return end }
    }
    throw RigError("the events stopped before the session ended")
  }
}

extension Desktop {
  /// Starts a polkit stand-in that allows everyone to read tags, to write tags and to inhibit scanning.
  func startPolkit(alsoAllowing others: Set<String> = []) async throws -> PolkitStandIn {
    try await PolkitStandIn.start(
      on: systemBus,
      allowing: others.union([Names.PolkitAction.readTags, Names.PolkitAction.writeTags, Names.PolkitAction.inhibit]))
  }

  /// Starts a desktop with a polkit stand-in, and waits until the daemon scans.
  static func scanning(starter: String = #function) async throws -> (Desktop, PolkitStandIn) {
    let desktop = try await Desktop(starter: starter)
    let polkit = try await desktop.startPolkit()
    try await desktop.startScanning()
    return (desktop, polkit)
  }

  /// Starts all programs and waits until the daemon scans.
  func startScanning() async throws {
    try await start()
    try await scanning()
  }

  func scanning() async throws { try await status { $0.scanning } }

  /// Waits until the reader has polled after another program had it. The daemon does not announce tags from the first
  /// polls.
  func lookedAround() async throws {
    // About three polls for each kind of tag.
    try await installation.simulate("wait 60")
  }

  func program() async throws -> SessionProgram { try await SessionProgram(on: systemBus) }
}
