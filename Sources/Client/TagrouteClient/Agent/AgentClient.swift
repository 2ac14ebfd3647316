public import Bus
public import EventLoop
import Names

/// A client on the session bus for the agent of the user's session (`org.tagroute.Agent1`).
///
/// No call starts the agent. If it is not running, calls fail with `BusError.Name.nameHasNoOwner`.
public struct AgentClient: Sendable {
  /// A change of a tap, or of the agent itself.
  public enum Event: Sendable, Hashable {
    /// An agent owns the bus name: it was started, or replaces another one. Read its status and taps again. An event of
    /// one of its taps may come first.
    case appeared
    /// The agent is gone, or the connection to the bus is lost.
    case disappeared
    /// The tap was stored and is about to be shown.
    case received(id: String)
    /// The tap has ended as `delivered`, `dismissed`, `failed` or `expired`. Later versions may add values.
    case closed(id: String, state: String)
    /// The tag of this tap was taken from the reader.
    case removed(id: String)
    /// This many taps were removed from the inbox by `Clear`.
    case cleared(count: UInt32)
    /// A tap was stored that waits to be sent. `takeOutgoing` has it.
    case outgoingAvailable
  }

  private let connection: Connection
  private let busName: String
  private let path: ObjectPath

  /// - Parameter connection: a connection to the session bus.
  /// - Throws: only if the agent's constant path were invalid.
  public init(_ connection: Connection) throws(BusError) { try self.init(connection, busName: Names.Agent.busName) }

  /// A client for an agent that owns another name, beside the one of the session.
  package init(_ connection: Connection, busName: String) throws(BusError) {
    self.connection = connection
    self.busName = busName
    path = try ObjectPath(Names.Agent.path)
  }

  /// Connects to the session bus.
  ///
  /// - Parameters:
  ///   - address: the bus, by default the session's own.
  ///   - loop: the event loop of the connection.
  /// - Returns: the client; the agent itself need not run.
  /// - Throws: `BusError` if there is no bus.
  public static func connect(to address: BusAddress = .session, on loop: EventLoop) async throws(BusError)
    -> AgentClient
  {
    try AgentClient(try await Connection.open(address, on: loop))
  }

  /// Gets the status of the agent.
  ///
  /// - Parameter timeout: how long the agent has to reply.
  /// - Returns: nil if no agent is running.
  /// - Throws: `BusError`.
  public func status(timeout: Duration = .seconds(25)) async throws(BusError) -> AgentStatus? {
    do throws(BusError) {
      let reply = try await call(
        "GetAll", [.string(Names.Agent.interface)], interface: "org.freedesktop.DBus.Properties", timeout: timeout)
      let properties = reply.first?.asDictionary ?? [:]
      return AgentStatus(
        version: properties["Version"]?.asString ?? "",
        interfaceVersion: properties["InterfaceVersion"]?.asUInt32 ?? 0,
        headless: properties["Headless"]?.asBool ?? false,
        registered: properties["Registered"]?.asBool ?? false,
        registrationError: AgentStatus.RegistrationError(properties["RegistrationError"]),
        configurationError: properties["ConfigurationError"]?.asString ?? "",
        configurationTime: properties["ConfigurationTime"]?.asUInt64,
        outgoing: properties["Outgoing"]?.asDictionary.map(AgentStatus.Outgoing.init))
    } catch {
      guard error.name == BusError.Name.serviceUnknown || error.name == BusError.Name.nameHasNoOwner else {
        throw error
      }
      return nil
    }
  }

  /// Asks which app would open a URI, without opening it.
  ///
  /// - Parameter uri: the URI as a tag would hold it, at most 8 KiB.
  /// - Returns: the answer. For a refused URI it contains the reason.
  /// - Throws: `BusError`.
  public func resolve(_ uri: String) async throws(BusError) -> Resolution {
    Resolution(try await call("Resolve", [.string(uri)]).first?.asDictionary ?? [:])
  }

  /// Asks what a tag would do, without doing it.
  ///
  /// - Parameters:
  ///   - uid: the tag's UID, at most 10 bytes.
  ///   - message: the encoded NDEF message; nil for a tag without one.
  ///   - technology: the technology, such as `type-2`.
  ///   - reader: the object path of the reader.
  /// - Returns: the answer.
  /// - Throws: `BusError`; `org.freedesktop.DBus.Error.UnknownMethod` if the agent is older.
  public func resolve(
    uid: [UInt8] = [], message: [UInt8]? = nil, technology: String? = nil, reader: String? = nil
  ) async throws(BusError) -> Resolution {
    var tag: [String: Value] = ["uid": .bytes(uid)]
    tag["message"] = message.map(Value.bytes)
    tag["technology"] = technology.map(Value.string)
    tag["reader"] = reader.map(Value.string)
    return Resolution(try await call("ResolveTag", [.dictionary(tag)]).first?.asDictionary ?? [:])
  }

  /// Asks what the tag of a stored tap would do now. An older agent is asked about its link alone.
  package func resolve(_ tap: TapDescription) async throws(BusError) -> Resolution {
    do throws(BusError) {
      let message = tap.message?.isEmpty == true ? nil : tap.message
      return try await resolve(uid: tap.uid, message: message, technology: tap.technology, reader: tap.reader)
    } catch {
      guard error.name == BusError.Name.unknownMethod, !tap.uri.isEmpty else { throw error }
      return try await resolve(tap.uri)
    }
  }

  /// Gets the handlers, sorted by desktop id.
  ///
  /// - Parameter timeout: how long the agent has to reply.
  /// - Returns: the handlers, including those with a problem.
  /// - Throws: `BusError`.
  public func handlers(timeout: Duration = .seconds(25)) async throws(BusError) -> [HandlerDescription] {
    (try await call("ListHandlers", timeout: timeout).first?.asArray ?? []).map {
      HandlerDescription($0.asDictionary ?? [:])
    }
  }

  /// Gets taps, the newest first.
  ///
  /// - Parameters:
  ///   - id: only this tap, with its message.
  ///   - state: only taps in this state.
  ///   - limit: the most taps to return, up to 1000.
  ///   - before: only taps that were stored before the tap with this id.
  ///   - beforeSequence: only taps with a lesser `sequence`, to read a longer list page by page.
  ///   - withMessages: whether to include messages and all other values. The reply may then have fewer than `limit`
  ///     taps although there are more. An empty reply is the end.
  /// - Returns: the taps.
  /// - Throws: `BusError`.
  public func taps(
    id: String? = nil, state: String? = nil, limit: UInt32 = 100, before: String? = nil,
    beforeSequence: UInt64? = nil, withMessages: Bool = false
  ) async throws(BusError) -> [TapDescription] {
    var options = InboxFilter(states: state.map { [$0] }).options
    options["id"] = id.map(Value.string)
    return try await taps(options, limit, before, beforeSequence, withMessages)
  }

  /// Gets the taps that a filter chooses, the newest first.
  ///
  /// - Parameters:
  ///   - filter: which taps.
  ///   - limit: the most taps to return, up to 1000.
  ///   - before: only taps that were stored before the tap with this id.
  ///   - beforeSequence: only taps with a lesser `sequence`, to read a longer list page by page.
  ///   - withMessages: as for `taps(id:state:limit:before:beforeSequence:withMessages:)`.
  /// - Returns: the taps.
  /// - Throws: `BusError`.
  public func taps(
    _ filter: InboxFilter, limit: UInt32 = 100, before: String? = nil, beforeSequence: UInt64? = nil,
    withMessages: Bool = false
  ) async throws(BusError) -> [TapDescription] {
    try await taps(filter.options, limit, before, beforeSequence, withMessages)
  }

  private func taps(
    _ options: [String: Value], _ limit: UInt32, _ before: String?, _ beforeSequence: UInt64?, _ withMessages: Bool
  ) async throws(BusError) -> [TapDescription] {
    var options = options
    options["limit"] = .uint32(limit)
    options["before"] = before.map(Value.string)
    options["before-sequence"] = beforeSequence.map(Value.uint64)
    if withMessages { options["messages"] = .boolean(true) }
    return try await taps(options)
  }

  /// Counts the taps that a filter chooses.
  ///
  /// - Parameter filter: which taps; by default all.
  /// - Returns: how many there are.
  /// - Throws: `BusError`; `org.freedesktop.DBus.Error.UnknownMethod` if the agent is older.
  public func count(_ filter: InboxFilter = InboxFilter()) async throws(BusError) -> UInt64 {
    try await call("CountInbox", [.dictionary(filter.options)]).first?.asUInt64 ?? 0
  }

  /// Gets the taps with ids that begin with a prefix, in the order of their ids.
  ///
  /// - Parameters:
  ///   - prefix: the beginning of an id.
  ///   - limit: the most taps to return, up to 1000.
  /// - Returns: the taps, without their messages.
  /// - Throws: `BusError`.
  public func taps(idPrefix prefix: String, limit: UInt32) async throws(BusError) -> [TapDescription] {
    try await taps(["id-prefix": .string(prefix), "limit": .uint32(limit)])
  }

  private func taps(_ options: [String: Value]) async throws(BusError) -> [TapDescription] {
    let reply = try await call("ListInbox", [.dictionary(options)])
    return (reply.first?.asArray ?? []).map { TapDescription($0.asDictionary ?? [:]) }
  }

  /// Hands over a tap's message to its handler, and waits until the handler has taken it.
  ///
  /// - Parameters:
  ///   - id: the tap.
  ///   - handler: the desktop id of a candidate; nil for the one that a click would open.
  ///   - activationToken: an xdg-activation token to pass on.
  /// - Throws: `BusError`; `org.tagroute.Error.Failed` if the handler did not take it.
  public func open(_ id: String, handler: String? = nil, activationToken: String? = nil) async throws(BusError) {
    var options: [String: Value] = [:]
    options["handler"] = handler.map(Value.string)
    options["activation-token"] = activationToken.map(Value.string)
    // A handler may take a minute to start. The agent has its own limit.
    _ = try await call("Open", [.string(id), .dictionary(options)], timeout: .seconds(180))
  }

  /// Closes a tap's notification.
  ///
  /// - Parameter id: the tap.
  /// - Throws: `BusError`.
  public func dismiss(_ id: String) async throws(BusError) { _ = try await call("Dismiss", [.string(id)]) }

  /// Removes taps from the inbox for good. Taps that are being opened stay.
  ///
  /// - Parameters:
  ///   - ids: only these, at most 500; nil for all.
  ///   - before: only taps read before this time, in microseconds since 1970-01-01 00:00 UTC.
  ///   - fromScreen: whether to remove taps on the screen too, with their notifications.
  /// - Returns: the number of removed taps.
  /// - Throws: `BusError`.
  public func clear(
    ids: [String]? = nil, before: UInt64? = nil, fromScreen: Bool = false
  ) async throws(BusError) -> UInt32 {
    var options: [String: Value] = ["from-screen": .boolean(fromScreen)]
    options["ids"] = ids.map(Value.strings)
    options["before"] = before.map(Value.uint64)
    // A hundred thousand taps take a while.
    return try await call("Clear", [.dictionary(options)], timeout: .seconds(180)).first?.asUInt32 ?? 0
  }

  /// Gets the taps that wait to be sent to another machine, in the order in which they were stored. They wait until
  /// `acknowledgeOutgoing`.
  ///
  /// - Parameters:
  ///   - limit: the most taps to return, up to 1000.
  ///   - after: only taps with a greater `sequence`; nil for all.
  /// - Returns: the taps, with their messages. The reply may have fewer than `limit` taps although there are more. An
  ///   empty reply is the end. Numbers from 2^52 are preliminary: the inbox's file could not be written yet.
  /// - Throws: `BusError`; `org.freedesktop.DBus.Error.UnknownMethod` if the agent is older.
  public func takeOutgoing(limit: UInt32 = 20, after: UInt64? = nil) async throws(BusError) -> [TapDescription] {
    var options: [String: Value] = ["limit": .uint32(limit)]
    options["after-sequence"] = after.map(Value.uint64)
    let reply = try await call("TakeOutgoing", [.dictionary(options)])
    return (reply.first?.asArray ?? []).map { TapDescription($0.asDictionary ?? [:]) }
  }

  /// Reports that taps were sent, so that they do not wait any more.
  ///
  /// - Parameter ids: the taps; any number. Ids of other taps have no effect.
  /// - Throws: `BusError`; some of the taps may then wait no more.
  public func acknowledgeOutgoing(_ ids: [String]) async throws(BusError) {
    for first in stride(from: 0, to: ids.count, by: 500) {
      _ = try await call("AcknowledgeOutgoing", [.strings(Array(ids[first..<min(first + 500, ids.count)]))])
    }
  }

  /// Makes a handler open all links that a claim covers, without a question.
  ///
  /// - Parameters:
  ///   - handler: the desktop id.
  ///   - claim: a domain, `*.` and a domain, a scheme and a colon, or a type of records.
  /// - Throws: `BusError`.
  public func prefer(_ handler: String, for claim: String) async throws(BusError) {
    _ = try await call("Prefer", [.string(handler), .string(claim)])
  }

  /// Stops offering a handler.
  ///
  /// - Parameters:
  ///   - handler: the desktop id; it need not be installed.
  ///   - claim: the claim to block; nil for all of its claims.
  /// - Throws: `BusError`.
  public func block(_ handler: String, for claim: String? = nil) async throws(BusError) {
    _ = try await call("Block", [.string(handler), .string(claim ?? "")])
  }

  /// Takes back preferences, permissions and blocks.
  ///
  /// - Parameters:
  ///   - handler: the desktop id; nil for all handlers.
  ///   - claim: the claim; nil for all claims.
  /// - Throws: `BusError`.
  public func forget(_ handler: String? = nil, for claim: String? = nil) async throws(BusError) {
    _ = try await call("Forget", [.string(handler ?? ""), .string(claim ?? "")])
  }

  /// Sets whether the session is locked, for lockers that send no signals.
  ///
  /// - Parameter locked: whether it is locked. The daemon does not poll for tags meanwhile.
  /// - Throws: `BusError`.
  public func setLocked(_ locked: Bool) async throws(BusError) { _ = try await call("SetLocked", [.boolean(locked)]) }

  /// Makes this computer show its name, with a sound.
  ///
  /// - Throws: `BusError`; `org.freedesktop.DBus.Error.UnknownMethod` if the agent is older.
  public func identify() async throws(BusError) { _ = try await call("Identify", [.dictionary([:])]) }

  /// Makes the agent read the desktop entries and its configuration again.
  ///
  /// - Parameter timeout: how long the agent has to reply.
  /// - Throws: `BusError`; `org.tagroute.Error.InvalidConfiguration` if the configuration is invalid.
  public func reload(timeout: Duration = .seconds(25)) async throws(BusError) {
    _ = try await call("Reload", timeout: timeout)
  }

  /// Makes the agent read only the desktop entries again. `agent.conf` is not read, because the user may be editing it.
  ///
  /// - Parameter timeout: how long the agent has to reply.
  /// - Throws: `BusError`.
  public func reloadHandlers(timeout: Duration = .seconds(25)) async throws(BusError) {
    _ = try await call("ReloadHandlers", timeout: timeout)
  }

  /// Reports new taps and ended taps, and an agent that comes or goes.
  ///
  /// - Returns: the events from now on. A tap that changed while no agent ran, or while the connection was lost, has none.
  /// - Throws: `BusError` if the bus refuses.
  public func events() async throws(BusError) -> AsyncStream<Event> {
    let signals = try await connection.signals(
      MatchRule(sender: busName, path: path, interface: Names.Agent.interface))
    let owners = try await connection.owners(of: busName)
    let (stream, continuation) = AsyncStream.makeStream(of: Event.self)
    let tasks = [
      Task {
        for await signal in signals {
          if let event = Event(signal) { continuation.yield(event) }
        }
        continuation.finish()
      },
      Task {
        // The first one is the present owner, and no change.
        for await owner in owners.dropFirst() { continuation.yield(owner == nil ? .disappeared : .appeared) }
      },
    ]
    continuation.onTermination = { _ in for task in tasks { task.cancel() } }
    return stream
  }

  func call(
    _ member: String, _ arguments: [Value] = [], interface: String = Names.Agent.interface,
    timeout: Duration = .seconds(25)
  ) async throws(BusError) -> [Value] {
    try await connection.call(
      busName, path, interface, member, arguments, timeout: timeout, autoStart: false)
  }
}

extension AgentClient.Event {
  /// Nil for a signal that is unknown, or has other arguments.
  init?(_ signal: ReceivedSignal) {
    let arguments = signal.arguments
    switch (signal.member, arguments.first?.asString, arguments.dropFirst().first?.asString) {
    case ("TapReceived", let id?, _): self = .received(id: id)
    case ("TapClosed", let id?, let state?): self = .closed(id: id, state: state)
    case ("TagRemoved", let id?, _): self = .removed(id: id)
    case ("TapsCleared", _, _): self = .cleared(count: arguments.first?.asUInt32 ?? 0)
    case ("OutgoingAvailable", _, _): self = .outgoingAvailable
    default: return nil
    }
  }
}
