public import Bus
public import EventLoop
import Names

/// A manual reader session (`org.tagroute.Tagroute1.ReaderSession`): this program's exclusive use of a reader for at
/// most a minute.
///
/// While other sessions have the reader, the session waits, first in, first out. It ends when the session and its
/// events are released. It also ends with the bus connection on which it was started.
///
///     let session = try await ReaderSession.start(ReaderSessionOptions(message: "Hold your card near the reader"))
///     for await event in session.events {
///       guard case .tagDetected(let tag) = event else { continue }
///       print(try await tag.readNDEF())
///       try await session.invalidate()
///     }
public final class ReaderSession: Sendable {
  /// The state of a session.
  public enum State: String, Sendable, Hashable {
    /// Other sessions have the reader, or it is not ready.
    case waiting
    /// The reader is polling for tags.
    case active
    /// The session is over. A state that this version does not know is read as this.
    case ended
  }

  /// The object path.
  public let path: ObjectPath
  private let connection: Connection
  /// The daemon's unique name. The session of another daemon at the same path is a different one.
  private let daemon: String
  private let stream: AsyncStream<ReaderSessionEvent>
  private let feed: Task<Void, Never>

  /// Starts a session on a new connection.
  ///
  /// - Parameters:
  ///   - options: the session's options.
  ///   - address: the bus, by default the system's own.
  ///   - loop: the event loop of the connection.
  /// - Returns: the session, which may have to wait.
  /// - Throws: `BusError`, as the other `start`.
  public static func start(
    _ options: ReaderSessionOptions = ReaderSessionOptions(), to address: BusAddress = .system,
    loop: EventLoop = EventLoop(label: "reader-session")
  ) async throws(BusError) -> ReaderSession {
    try await start(options, on: try await Connection.open(address, on: loop))
  }

  /// Starts a session.
  ///
  /// - Parameters:
  ///   - options: the session's options.
  ///   - connection: a connection to the system bus. It may have several sessions.
  /// - Returns: the session, which may have to wait.
  /// - Throws: `BusError`: `nameHasNoOwner` if the daemon is not running; `org.tagroute.Error.NotAuthorized`,
  ///   `InvalidArgument`, `NotPossible` (no such reader, or none is ready) and `TooMany`. If the task is cancelled, a
  ///   session that starts anyway is ended.
  public static func start(
    _ options: ReaderSessionOptions = ReaderSessionOptions(), on connection: Connection
  ) async throws(BusError) -> ReaderSession {
    let owners = try await connection.owners(of: Names.Daemon.busName)
    var owner: String?
    for await name in owners {
      owner = name
      break
    }
    guard let owner else {
      throw BusError(name: BusError.Name.nameHasNoOwner, message: "nobody owns \(Names.Daemon.busName)")
    }
    // A signal may come before the reply.
    let signals = try await connection.signals(
      MatchRule(
        sender: owner, pathNamespace: try ObjectPath(Names.Daemon.readerSessionsPath),
        interface: Names.Daemon.readerSessionInterface))
    let path = try await startWithoutLeak(options, connection, owner)
    return ReaderSession(path, connection, owner, signals, owners)
  }

  /// Calls `StartReaderSession`. If the caller was cancelled meanwhile, ends the session that was started.
  private static func startWithoutLeak(
    _ options: ReaderSessionOptions, _ connection: Connection, _ daemon: String
  ) async throws(BusError) -> ObjectPath {
    let (replies, continuation) = AsyncStream.makeStream(of: Result<[Value], BusError>.self)
    Task {
      let reply: Result<[Value], BusError>
      do throws(BusError) {
        reply = .success(
          try await connection.call(
            daemon, try ObjectPath(Names.Daemon.path), Names.Daemon.managerInterface, "StartReaderSession",
            [options.value], timeout: .seconds(60), autoStart: false))
      } catch {
        reply = .failure(error)
      }
      if case .terminated = continuation.yield(reply), case .success(let values) = reply,
        let path = values.first?.asObjectPath
      {
        try? await invalidate(path, connection, daemon, "")
      }
      continuation.finish()
    }
    for await reply in replies {
      guard let path = try reply.get().first?.asObjectPath else {
        throw BusError(name: BusError.Name.inconsistentMessage, message: "StartReaderSession has answered no session")
      }
      return path
    }
    throw .cancelled()
  }

  private init(
    _ path: ObjectPath, _ connection: Connection, _ daemon: String, _ signals: SignalStream,
    _ owners: AsyncStream<String?>
  ) {
    self.path = path
    self.connection = connection
    self.daemon = daemon
    let (stream, continuation) = AsyncStream.makeStream(
      of: ReaderSessionEvent.self, bufferingPolicy: .bufferingNewest(ReaderSession.eventLimit))
    self.stream = stream
    let feed = ReaderSessionFeed(path: path, connection: connection, daemon: daemon, events: continuation)
    self.feed = Task {
      await feed.run(signals, owners)
      // The feed is cancelled when the session is released. Its last call must not be cancelled too, so it gets a new
      // task.
      guard Task.isCancelled else { return }
      Task { try? await ReaderSession.invalidate(path, connection, daemon, "") }
    }
  }

  /// How many events are kept for a slow consumer. Beyond that, the oldest are dropped.
  public static let eventLimit = 256

  deinit { feed.cancel() }

  /// The session's events, for one consumer. `ended` is the last, and always comes. The sequence keeps the session
  /// alive.
  public var events: Events { Events(session: self) }

  /// The session's events.
  public struct Events: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = ReaderSessionEvent
    let session: ReaderSession

    /// Continues after the last event that was read.
    public func makeAsyncIterator() -> Iterator {
      Iterator(session: session, base: session.stream.makeAsyncIterator())
    }

    /// Reads the events one by one.
    public struct Iterator: AsyncIteratorProtocol {
      let session: ReaderSession
      var base: AsyncStream<ReaderSessionEvent>.Iterator

      /// The next event; nil after `ended`, or if the task is cancelled.
      public mutating func next() async -> ReaderSessionEvent? { await next(isolation: nil) }

      /// The next event; nil after `ended`, or if the task is cancelled.
      ///
      /// - Parameter actor: the caller's.
      /// - Returns: an event.
      public mutating func next(isolation actor: isolated (any Actor)?) async -> ReaderSessionEvent? {
        let event = await base.next(isolation: actor)
        withExtendedLifetime(session) {}
        return event
      }
    }
  }

  // MARK: Control

  /// Changes the instruction that the session's sheet shows to the user.
  ///
  /// - Parameter message: plain text, with the limits of `ReaderSessionOptions.message`.
  /// - Throws: `BusError`; `org.tagroute.Error.NotPossible` if the session is over.
  public func setMessage(_ message: String) async throws(BusError) {
    _ = try await connection.call(
      daemon, path, ReaderSession.properties, "Set",
      [.string(Names.Daemon.readerSessionInterface), .string("Message"), .variant(.string(message))])
  }

  /// Ends the session. The sheet shows a check mark, or the error message.
  ///
  /// - Parameter errorMessage: the error, with the limits of `setMessage`; nil for success.
  /// - Throws: `BusError`. If the session is already over, the call has no effect.
  public func invalidate(errorMessage: String? = nil) async throws(BusError) {
    do throws(BusError) {
      try await ReaderSession.invalidate(path, connection, daemon, errorMessage ?? "")
    } catch {
      guard error.name != BusError.Name.unknownObject else { return }
      throw error
    }
  }

  /// Forgets the tags that were found, and restarts polling: a tag that is still there is found again. There are at
  /// most five restarts per second. Further requests are merged into one restart a moment later, which has the
  /// arguments of the last one. This returns before the restart, and `ReaderSessionEvent.pollingRestarted` follows.
  ///
  /// Until the next restart, only the tags of the arguments are found. An empty list stands for everything that the
  /// session has declared. Raw commands are not limited by this.
  ///
  /// - Parameters:
  ///   - technologies: some of the session's kinds of tags.
  ///   - applicationIdentifiers: some of the session's applications, in the order in which they are selected.
  ///   - systemCodes: some of the session's FeliCa systems.
  /// - Throws: `BusError`; `org.tagroute.Error.NotPossible` if the session is not active, `InvalidArgument` if it has
  ///   not declared something. A daemon with interface version 1 answers `BusError.Name.unknownMethod` unless all lists
  ///   are empty.
  public func restartPolling(
    technologies: [String] = [], applicationIdentifiers: [[UInt8]] = [], systemCodes: [UInt16] = []
  ) async throws(BusError) {
    let options = ReaderSessionOptions.tags(technologies, applicationIdentifiers, systemCodes)
    let (member, arguments): (String, [Value]) =
      options.isEmpty ? ("RestartPolling", []) : ("RestartPollingWithOptions", [.dictionary(options)])
    _ = try await connection.call(daemon, path, Names.Daemon.readerSessionInterface, member, arguments)
  }

  /// Gets the state of the session.
  ///
  /// - Returns: the state, and when the session expires, in microseconds of CLOCK_MONOTONIC; 0 while it waits.
  /// - Throws: `BusError`.
  public func state() async throws(BusError) -> (state: State, deadline: UInt64) {
    let values = try await ReaderSession.properties(of: path, connection, daemon)
    return (values["State"]?.asString.flatMap(State.init) ?? .ended, values["Deadline"]?.asUInt64 ?? 0)
  }

  static func properties(of path: ObjectPath, _ connection: Connection, _ daemon: String) async throws(BusError)
    -> [String: Value]
  {
    let reply = try await connection.call(
      daemon, path, properties, "GetAll", [.string(Names.Daemon.readerSessionInterface)])
    return reply.first?.asDictionary ?? [:]
  }

  private static func invalidate(
    _ path: ObjectPath, _ connection: Connection, _ daemon: String, _ errorMessage: String
  ) async throws(BusError) {
    _ = try await connection.call(
      daemon, path, Names.Daemon.readerSessionInterface, "Invalidate", [.string(errorMessage)])
  }

  private static let properties = "org.freedesktop.DBus.Properties"
}

/// The options of a new reader session (`StartReaderSession` of `org.tagroute.Tagroute1`).
public struct ReaderSessionOptions: Sendable, Hashable {
  /// The operations that are allowed on the tags that are found.
  public enum Access: String, Sendable, Hashable {
    /// Reading; the polkit action `org.tagroute.Tagroute1.read-tags`.
    case read
    /// Also writing and locking; the polkit action `org.tagroute.Tagroute1.write-tags`.
    case write
  }

  /// The instruction for the user: plain text of at most 256 bytes, without control characters except U+000A, which
  /// begins a line. A daemon with interface version 1 refuses that one, too.
  public var message: String
  /// The reader's object path; nil for the first one that is ready on the user's seat.
  public var reader: ObjectPath?
  /// The operations that are allowed on the tags.
  public var access: Access
  /// The kinds of tags to report, such as `type-2`; all if empty.
  public var technologies: [String]
  /// The applications of ISO-DEP cards, 5 to 16 bytes each, at most 512. They are selected in this order. The daemon
  /// reports only cards that have at least one of them, unless `reportsUndeclaredCards` is set. If the list is empty,
  /// every card is reported. Raw commands select only these and NDEF's.
  public var applicationIdentifiers: [[UInt8]]
  /// The systems of FeliCa cards, at most 64, without a byte FF. The daemon reports only cards that have at least one of
  /// them. If the list is empty, every card is reported. Raw commands reach only these and NDEF's.
  public var systemCodes: [UInt16]
  /// Whether to read each tag's NDEF message, report the first one, and then end the session.
  public var endsAfterFirstRead: Bool
  /// Whether to report an ISO-DEP card that has none of `applicationIdentifiers`, too, with an empty
  /// `selectedApplication`. A daemon with interface version 1 ignores this.
  public var reportsUndeclaredCards: Bool
  /// Whether the first of `applicationIdentifiers` that a card has is selected when the card is found. If not, every
  /// ISO-DEP card is reported, and raw commands may select these applications. A passport, for example, begins with
  /// PACE on its master file. A daemon with interface version 1 ignores this.
  public var selectsApplication: Bool
  /// Whether writing formats a blank tag first, which overwrites what is stored on it. Without it, writing to such a
  /// tag fails with ``TagFailure/notFormatted``. A daemon with interface version 1 ignores this.
  public var formatsBlankTags: Bool

  /// - Parameters:
  ///   - message: the instruction for the user.
  ///   - reader: the reader's object path; nil for the first one that is ready.
  ///   - access: the operations that are allowed on the tags.
  ///   - technologies: the kinds of tags to report; all if empty.
  ///   - applicationIdentifiers: the applications of ISO-DEP cards.
  ///   - systemCodes: the systems of FeliCa cards.
  ///   - endsAfterFirstRead: whether the session ends after the first message.
  ///   - reportsUndeclaredCards: whether to report ISO-DEP cards without any of these applications.
  ///   - selectsApplication: whether one of these applications is selected when a card is found.
  ///   - formatsBlankTags: whether writing formats a blank tag first.
  public init(
    message: String = "", reader: ObjectPath? = nil, access: Access = .read, technologies: [String] = [],
    applicationIdentifiers: [[UInt8]] = [], systemCodes: [UInt16] = [], endsAfterFirstRead: Bool = false,
    reportsUndeclaredCards: Bool = false, selectsApplication: Bool = true, formatsBlankTags: Bool = false
  ) {
    self.message = message
    self.reader = reader
    self.access = access
    self.technologies = technologies
    self.applicationIdentifiers = applicationIdentifiers
    self.systemCodes = systemCodes
    self.endsAfterFirstRead = endsAfterFirstRead
    self.reportsUndeclaredCards = reportsUndeclaredCards
    self.selectsApplication = selectsApplication
    self.formatsBlankTags = formatsBlankTags
  }

  /// The options as the bus has them, without unset ones.
  var value: Value {
    var options: [String: Value] = ["access": .string(access.rawValue)]
    if !message.isEmpty { options["message"] = .string(message) }
    options["reader"] = reader.map(Value.objectPath)
    options.merge(Self.tags(technologies, applicationIdentifiers, systemCodes)) { $1 }
    if endsAfterFirstRead { options["first-read"] = .boolean(true) }
    if reportsUndeclaredCards { options["undeclared-cards"] = .boolean(true) }
    if !selectsApplication { options["select-application"] = .boolean(false) }
    if formatsBlankTags { options["format"] = .boolean(true) }
    return .dictionary(options)
  }

  /// The options that choose tags as the bus has them, without empty ones.
  static func tags(
    _ technologies: [String], _ applicationIdentifiers: [[UInt8]], _ systemCodes: [UInt16]
  ) -> [String: Value] {
    var options: [String: Value] = [:]
    if !technologies.isEmpty { options["technologies"] = .strings(technologies) }
    if !applicationIdentifiers.isEmpty {
      options["application-identifiers"] = .array(element: "ay", applicationIdentifiers.map(Value.bytes))
    }
    if !systemCodes.isEmpty { options["system-codes"] = .array(element: "q", systemCodes.map(Value.uint16)) }
    return options
  }
}
