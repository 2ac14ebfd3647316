public import Bus
public import EventLoop
import Names

/// A client on the system bus for the daemon (`org.tagroute.Tagroute1`).
///
/// No call starts the daemon. If it is not running, calls fail with `BusError.Name.nameHasNoOwner`.
public struct DaemonClient: Sendable {
  private let connection: Connection
  private let path: ObjectPath

  /// - Parameter connection: a connection to the system bus.
  /// - Throws: only if the daemon's constant path were invalid.
  public init(_ connection: Connection) throws(BusError) {
    self.connection = connection
    path = try ObjectPath(Names.Daemon.path)
  }

  /// Connects to the system bus.
  ///
  /// - Parameters:
  ///   - address: the bus, by default the system's own.
  ///   - loop: the event loop of the connection.
  /// - Returns: the client; the daemon itself need not run.
  /// - Throws: `BusError` if there is no bus.
  public static func connect(to address: BusAddress = .system, on loop: EventLoop) async throws(BusError)
    -> DaemonClient
  {
    try DaemonClient(try await Connection.open(address, on: loop))
  }

  /// Gets the daemon's public status.
  ///
  /// - Parameter timeout: how long the daemon has for each of two replies.
  /// - Returns: the status, with the readers that are in both replies.
  /// - Throws: `BusError`; `nameHasNoOwner` if the daemon is not running.
  public func status(timeout: Duration = .seconds(25)) async throws(BusError) -> DaemonStatus {
    let reply = try await connection.call(
      Names.Daemon.busName, path, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects", timeout: timeout,
      autoStart: false)
    var readers: [String: ReaderStatus] = [:]
    for (path, interfaces) in objects(reply.first) {
      guard let properties = interfaces[Names.Daemon.readerInterface] else { continue }
      readers[path] = ReaderStatus(
        path: path, name: properties["Name"]?.asString ?? "", device: properties["Device"]?.asString ?? "",
        seat: properties["Seat"]?.asString ?? "", state: properties["State"]?.asString ?? "",
        stateReason: properties["StateReason"]?.asString ?? "",
        technologies: properties["Technologies"]?.asStrings ?? [],
        counters: (properties["Counters"]?.asDictionary ?? [:]).compactMapValues(\.asUInt64))
    }
    let all = try await connection.call(
      Names.Daemon.busName, path, "org.freedesktop.DBus.Properties", "GetAll",
      [.string(Names.Daemon.managerInterface)], timeout: timeout, autoStart: false)
    let properties = all.first?.asDictionary ?? [:]
    let order = properties["Readers"]?.asObjectPaths?.map(\.string) ?? []
    return DaemonStatus(
      version: properties["Version"]?.asString ?? "",
      interfaceVersion: properties["InterfaceVersion"]?.asUInt32 ?? 0,
      enabled: properties["Enabled"]?.asBool ?? false,
      scanning: properties["Scanning"]?.asBool ?? false,
      suspendReasons: properties["SuspendReasons"]?.asStrings ?? [],
      readers: order.compactMap { readers[$0] },
      configurationError: properties["ConfigurationError"]?.asString ?? "",
      configurationTime: properties["ConfigurationTime"]?.asUInt64,
      stationUser: properties["StationUser"]?.asString ?? "",
      stationActive: properties["StationActive"]?.asBool ?? false)
  }

  /// Switches background scanning on or off for the whole machine. The daemon keeps the setting over a restart.
  ///
  /// - Parameter isEnabled: whether the daemon may poll for tags, if no other reason forbids it.
  /// - Throws: `BusError`; `org.tagroute.Error.NotAuthorized` if polkit does not allow it.
  public func setEnabled(_ isEnabled: Bool) async throws(BusError) {
    _ = try await connection.call(
      Names.Daemon.busName, path, "org.freedesktop.DBus.Properties", "Set",
      [.string(Names.Daemon.managerInterface), .string("Enabled"), .variant(.boolean(isEnabled))], autoStart: false)
  }

  /// Finds out whether the user of this program may use a reader now. The user's session has to be the active, unlocked
  /// one of a seat with a reader that is neither absent nor failed. The reader may be in use.
  ///
  /// - Parameter timeout: how long the daemon has to reply.
  /// - Returns: whether a reader session is possible. The daemon does not ask polkit, which may still refuse one.
  /// - Throws: `BusError`; `nameHasNoOwner` if the daemon is not running, `unknownMethod` if its interface version is
  ///   1.
  public func readingAvailable(timeout: Duration = .seconds(25)) async throws(BusError) -> Bool {
    try await manager("ReadingAvailable", [], timeout: timeout).first?.asBool ?? false
  }

  /// Records what passes between the daemon and a reader, for a report of a fault. The trace holds what is stored on the
  /// tags that are read meanwhile. The reader starts again first, and after the trace unless a reader session has it.
  ///
  /// - Parameter reader: the reader's object path; nil for the first one that is ready.
  /// - Returns: a socket. Each message is a line of JSON (docs/traces.md). It ends when the daemon ends the trace, after
  ///   ten minutes at the latest. Releasing the descriptor ends the trace.
  /// - Throws: `BusError`; `unknownMethod` if the daemon is too old; `org.tagroute.Error.NotAuthorized` if the user may
  ///   not read tags; `NotPossible` if there is no such reader, or another trace of it is being recorded.
  public func recordReader(_ reader: ObjectPath? = nil) async throws(BusError) -> FileDescriptor {
    let options: [String: Value] = reader.map { ["reader": .objectPath($0)] } ?? [:]
    guard let trace = try await manager("RecordReader", [.dictionary(options)]).first?.asUnixFD else {
      throw BusError(
        name: BusError.Name.inconsistentMessage, message: "the daemon has answered without a trace")
    }
    return trace
  }

  /// Reports when the daemon, or one of its readers, changes, appears or disappears.
  ///
  /// - Returns: an element for each change, and one at once. Call `status()` for the details.
  /// - Throws: `BusError` if the bus refuses.
  public func changes() async throws(BusError) -> AsyncStream<Void> {
    let properties = try await connection.signals(
      MatchRule(
        sender: Names.Daemon.busName, pathNamespace: path, interface: "org.freedesktop.DBus.Properties",
        member: "PropertiesChanged"))
    let objects = try await connection.signals(
      MatchRule(sender: Names.Daemon.busName, path: path, interface: "org.freedesktop.DBus.ObjectManager"))
    let owners = try await connection.owners(of: Names.Daemon.busName)
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let tasks = [
      Task { for await _ in properties { continuation.yield() } },
      Task { for await _ in objects { continuation.yield() } },
      Task { for await _ in owners { continuation.yield() } },
    ]
    continuation.onTermination = { _ in for task in tasks { task.cancel() } }
    continuation.yield()
    return stream
  }

  func manager(
    _ member: String, _ arguments: [Value], timeout: Duration = .seconds(60)
  ) async throws(BusError) -> [Value] {
    try await connection.call(
      Names.Daemon.busName, path, Names.Daemon.managerInterface, member, arguments, timeout: timeout,
      autoStart: false)
  }

  /// The reply of `GetManagedObjects`, `a{oa{sa{sv}}}`, as Swift dictionaries.
  private func objects(_ value: Value?) -> [String: [String: [String: Value]]] {
    guard case .dictionary(_, _, let entries)? = value else { return [:] }
    var result: [String: [String: [String: Value]]] = [:]
    for entry in entries {
      guard let path = entry.key.asObjectPath?.string, case .dictionary(_, _, let interfaces) = entry.value else {
        continue
      }
      for interface in interfaces {
        guard let name = interface.key.asString else { continue }
        result[path, default: [:]][name] = interface.value.asDictionary ?? [:]
      }
    }
    return result
  }
}

/// The daemon's public status: whether it scans, and if not, why.
public struct DaemonStatus: Sendable, Hashable {
  /// The daemon's version, `major.minor.patch`.
  public var version: String
  /// The version of its interfaces; 0 for a daemon from before they had a version.
  public var interfaceVersion: UInt32 = 0
  /// The main switch of background scanning.
  public var enabled: Bool
  /// Whether at least one reader is polling for tags now.
  public var scanning: Bool
  /// Why no reader is polling, with the names of `org.tagroute.Tagroute1.SuspendReasons`; empty while one is.
  public var suspendReasons: [String]
  /// The readers, in the order in which they were found.
  public var readers: [ReaderStatus]
  /// The error in the latest configuration; empty if there is none. With an error, the previous one stays in force.
  public var configurationError = ""
  /// When the configuration in force was read, in microseconds since 1970; nil if the daemon does not report it.
  public var configurationTime: UInt64?
  /// The user whose agent gets the taps while no other user is at the machine; empty if the machine is not a station.
  public var stationUser = ""
  /// Whether the agent of `stationUser` gets the taps now.
  public var stationActive = false
}

/// The daemon's public status of a reader.
public struct ReaderStatus: Sendable, Hashable {
  /// The object path.
  public var path: String
  /// libnfc's name for the device; empty until the device has been opened once.
  public var name: String
  /// The libnfc connection string.
  public var device: String
  /// The seat of the reader.
  public var seat: String
  /// `absent`, `ready`, `scanning`, `in-session`, `released` or `failed`. Later versions may add values.
  public var state: String
  /// For a person: why it is `absent` or `failed`, and what to do; in another state, why it waits for another program.
  /// Empty otherwise.
  public var stateReason: String
  /// The kinds of tags that it polls for, such as `type-2`. Later versions may add values.
  public var technologies: [String] = []
  /// Since the daemon started: `placements` of tags, `messages` and `problems` of their reading, `restarts` of its
  /// process. No event reports a change. Later versions may add keys.
  public var counters: [String: UInt64] = [:]
}
