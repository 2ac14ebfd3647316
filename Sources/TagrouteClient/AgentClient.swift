public import Bus
public import EventLoop
import Names

/// The agent of the user's session, as seen from a client on the session bus (`org.tagroute.Agent1`).
///
/// No call starts the agent; one that does not run is `BusError.Name.nameHasNoOwner`.
public struct AgentClient: Sendable {
  /// A tap has changed.
  public enum Event: Sendable, Hashable {
    /// It was stored and is about to be shown.
    case received(id: String)
    /// It has come to an end: `delivered`, `dismissed`, `failed` or `expired`; others may come.
    case closed(id: String, state: String)
    /// So many were removed from the inbox at somebody's word.
    case cleared(count: UInt32)
  }

  private let connection: Connection
  private let path: ObjectPath

  /// - Parameter connection: a connection to the session bus.
  /// - Throws: nothing that a caller can cause.
  public init(_ connection: Connection) throws(BusError) {
    self.connection = connection
    path = try ObjectPath(Names.Agent.path)
  }

  /// Connects to the session bus.
  ///
  /// - Parameters:
  ///   - address: the bus, by default the session's own.
  ///   - loop: what the connection lives on.
  /// - Returns: the client; the agent itself need not run.
  /// - Throws: `BusError` where there is no bus.
  public static func connect(to address: BusAddress = .session, on loop: EventLoop) async throws(BusError)
    -> AgentClient
  {
    try AgentClient(try await Connection.open(address, on: loop))
  }

  /// Asks how the agent is.
  ///
  /// - Parameter timeout: how long the agent has to answer.
  /// - Returns: nil where no agent runs.
  /// - Throws: `BusError`.
  public func status(timeout: Duration = .seconds(25)) async throws(BusError) -> AgentStatus? {
    do throws(BusError) {
      let reply = try await call(
        "GetAll", [.string(Names.Agent.interface)], interface: "org.freedesktop.DBus.Properties", timeout: timeout)
      let properties = reply.first?.asDictionary ?? [:]
      return AgentStatus(
        version: properties["Version"]?.asString ?? "",
        interfaceVersion: properties["InterfaceVersion"]?.asUInt32 ?? 0,
        registered: properties["Registered"]?.asBool ?? false,
        registrationError: AgentStatus.RegistrationError(properties["RegistrationError"]),
        configurationError: properties["ConfigurationError"]?.asString ?? "",
        configurationTime: properties["ConfigurationTime"]?.asUInt64)
    } catch {
      guard error.name == BusError.Name.serviceUnknown || error.name == BusError.Name.nameHasNoOwner else {
        throw error
      }
      return nil
    }
  }

  /// Asks where a URI would go; opens nothing.
  ///
  /// - Parameter uri: as a tag would hold it, at most 8 KiB.
  /// - Returns: the answer, which for a URI that is refused says why.
  /// - Throws: `BusError`.
  public func resolve(_ uri: String) async throws(BusError) -> Resolution {
    Resolution(try await call("Resolve", [.string(uri)]).first?.asDictionary ?? [:])
  }

  /// Asks for the handlers, sorted by desktop id.
  ///
  /// - Parameter timeout: how long the agent has to answer.
  /// - Returns: the handlers, those with a problem included.
  /// - Throws: `BusError`.
  public func handlers(timeout: Duration = .seconds(25)) async throws(BusError) -> [HandlerDescription] {
    (try await call("ListHandlers", timeout: timeout).first?.asArray ?? []).map {
      HandlerDescription($0.asDictionary ?? [:])
    }
  }

  /// Asks for taps, the newest first.
  ///
  /// - Parameters:
  ///   - id: only this one, with its message.
  ///   - state: only those in this state.
  ///   - limit: at most so many, up to 1000.
  ///   - before: only those that were stored before the tap with this id.
  ///   - beforeSequence: only those with a lesser `sequence`: what a longer list is read by, page for page.
  ///   - withMessages: whether they are whole. There may be fewer than `limit` then, and more to come, as long as there are any.
  /// - Returns: the taps.
  /// - Throws: `BusError`.
  public func taps(
    id: String? = nil, state: String? = nil, limit: UInt32 = 100, before: String? = nil,
    beforeSequence: UInt64? = nil, withMessages: Bool = false
  ) async throws(BusError) -> [TapDescription] {
    var options: [String: Value] = ["limit": .uint32(limit)]
    options["id"] = id.map(Value.string)
    options["state"] = state.map(Value.string)
    options["before"] = before.map(Value.string)
    options["before-sequence"] = beforeSequence.map(Value.uint64)
    if withMessages { options["messages"] = .boolean(true) }
    return try await taps(options)
  }

  /// Asks for the taps whose ids begin so, in the order of their ids.
  ///
  /// - Parameters:
  ///   - prefix: the beginning of an id.
  ///   - limit: at most so many, up to 1000.
  /// - Returns: the taps, without their messages.
  /// - Throws: `BusError`.
  public func taps(idPrefix prefix: String, limit: UInt32) async throws(BusError) -> [TapDescription] {
    try await taps(["id-prefix": .string(prefix), "limit": .uint32(limit)])
  }

  private func taps(_ options: [String: Value]) async throws(BusError) -> [TapDescription] {
    let reply = try await call("ListInbox", [.dictionary(options)])
    return (reply.first?.asArray ?? []).map { TapDescription($0.asDictionary ?? [:]) }
  }

  /// Hands a tap's message to its handler, and waits until the handler has taken it.
  ///
  /// - Parameters:
  ///   - id: the tap.
  ///   - handler: the desktop id of a candidate; nil for who would get it by a click.
  ///   - activationToken: an xdg-activation token to pass on.
  /// - Throws: `BusError`; `org.tagroute.Error.Failed` where the handler did not take it.
  public func open(_ id: String, handler: String? = nil, activationToken: String? = nil) async throws(BusError) {
    var options: [String: Value] = [:]
    options["handler"] = handler.map(Value.string)
    options["activation-token"] = activationToken.map(Value.string)
    // A handler may take a minute to start; the agent has a limit of its own.
    _ = try await call("Open", [.string(id), .dictionary(options)], timeout: .seconds(180))
  }

  /// Takes a tap's notification away.
  ///
  /// - Parameter id: the tap.
  /// - Throws: `BusError`.
  public func dismiss(_ id: String) async throws(BusError) { _ = try await call("Dismiss", [.string(id)]) }

  /// Removes taps from the inbox for good; those that are being opened stay.
  ///
  /// - Parameters:
  ///   - ids: only these, at most 500; nil for all.
  ///   - before: only those that were read before, microseconds since 1970-01-01 00:00 UTC.
  ///   - fromScreen: whether also those on the screen, which are taken from it.
  /// - Returns: how many.
  /// - Throws: `BusError`.
  public func clear(
    ids: [String]? = nil, before: UInt64? = nil, fromScreen: Bool = false
  ) async throws(BusError) -> UInt32 {
    var options: [String: Value] = ["from-screen": .boolean(fromScreen)]
    options["ids"] = ids.map(Value.strings)
    options["before"] = before.map(Value.uint64)
    // A hundred thousand take a while.
    return try await call("Clear", [.dictionary(options)], timeout: .seconds(180)).first?.asUInt32 ?? 0
  }

  /// Has a handler open what a claim covers from here on, without a question.
  ///
  /// - Parameters:
  ///   - handler: the desktop id.
  ///   - claim: a domain, `*.` and a domain, or a scheme and a colon.
  /// - Throws: `BusError`.
  public func prefer(_ handler: String, for claim: String) async throws(BusError) {
    _ = try await call("Prefer", [.string(handler), .string(claim)])
  }

  /// Has a handler not be offered.
  ///
  /// - Parameters:
  ///   - handler: the desktop id; it need not be installed.
  ///   - claim: for what; nil for all that it claims.
  /// - Throws: `BusError`.
  public func block(_ handler: String, for claim: String? = nil) async throws(BusError) {
    _ = try await call("Block", [.string(handler), .string(claim ?? "")])
  }

  /// Takes back what was preferred, allowed and blocked.
  ///
  /// - Parameters:
  ///   - handler: the desktop id; nil for all handlers.
  ///   - claim: for what; nil for everything.
  /// - Throws: `BusError`.
  public func forget(_ handler: String? = nil, for claim: String? = nil) async throws(BusError) {
    _ = try await call("Forget", [.string(handler ?? ""), .string(claim ?? "")])
  }

  /// Says whether the session is locked, for lockers that tell nobody.
  ///
  /// - Parameter locked: no tag is looked for while it is.
  /// - Throws: `BusError`.
  public func setLocked(_ locked: Bool) async throws(BusError) { _ = try await call("SetLocked", [.boolean(locked)]) }

  /// Makes the agent read the desktop entries and its configuration again.
  ///
  /// - Parameter timeout: how long the agent has to answer.
  /// - Throws: `BusError`; `org.tagroute.Error.InvalidConfiguration` where the configuration is broken.
  public func reload(timeout: Duration = .seconds(25)) async throws(BusError) {
    _ = try await call("Reload", timeout: timeout)
  }

  /// Makes the agent read the desktop entries again, for who only wants to know of handlers: `agent.conf`, which may be in the middle of
  /// being edited, is left alone.
  ///
  /// - Parameter timeout: how long the agent has to answer.
  /// - Throws: `BusError`.
  public func reloadHandlers(timeout: Duration = .seconds(25)) async throws(BusError) {
    _ = try await call("ReloadHandlers", timeout: timeout)
  }

  /// Tells of taps as they come and end.
  ///
  /// - Returns: the events from now on.
  /// - Throws: `BusError` where the bus refuses.
  public func events() async throws(BusError) -> AsyncStream<Event> {
    let signals = try await connection.signals(
      MatchRule(sender: Names.Agent.busName, path: path, interface: Names.Agent.interface))
    let (stream, continuation) = AsyncStream.makeStream(of: Event.self)
    let task = Task {
      for await signal in signals {
        switch (signal.member, signal.arguments.first?.asString, signal.arguments.dropFirst().first?.asString) {
        case ("TapReceived", let id?, _): continuation.yield(.received(id: id))
        case ("TapClosed", let id?, let state?): continuation.yield(.closed(id: id, state: state))
        case ("TapsCleared", _, _):
          continuation.yield(.cleared(count: signal.arguments.first?.asUInt32 ?? 0))
        default: break
        }
      }
      continuation.finish()
    }
    continuation.onTermination = { _ in task.cancel() }
    return stream
  }

  private func call(
    _ member: String, _ arguments: [Value] = [], interface: String = Names.Agent.interface,
    timeout: Duration = .seconds(25)
  ) async throws(BusError) -> [Value] {
    try await connection.call(
      Names.Agent.busName, path, interface, member, arguments, timeout: timeout, autoStart: false)
  }
}
