package import Bus
import EventLoop
import Glibc
import Names
package import Rig

/// An app that implements `org.tagroute.Handler1`, as `org.example.Menu` on the session bus.
package actor HandlerStandIn {
  /// One call of `HandleTag`.
  package struct Handed: Sendable, Hashable {
    package let uri: String
    package let message: [UInt8]
    /// Activation token and tap id.
    package let platformData: [String: Value]
  }

  /// The behaviour when called.
  package enum Mood: Sendable {
    case takes
    /// Replies with an error.
    case refuses
    /// Does not reply until `answer()`.
    case hangs
  }

  /// The app's desktop entry, for a folder that the agent searches.
  package static let desktopEntry = desktopEntry(program: "/bin/true")

  private static func desktopEntry(program: String) -> String {
    """
    [Desktop Entry]
    Type=Application
    Name=Menu
    Icon=menu
    Exec=\(program)
    DBusActivatable=true
    Implements=org.tagroute.Handler1;

    [org.tagroute.Handler1]
    Domains=menu.example.com;
    """
  }
  package static let desktopID = "org.example.Menu.desktop"

  /// Installs the app as the system's, so that the agent opens it without asking the user. A test that does not run as
  /// root cannot create files of root. It allows the app in the user's configuration instead. The agent must not be
  /// running yet. `program` is started if the app is not on the bus.
  package static func install(in installation: Installation, program: String = "/bin/true") throws {
    let file = try installation.directory.write(desktopEntry(program: program), to: "share/applications/\(desktopID)")
    guard geteuid() != 0 else { return }
    try installation.directory.write(
      "[\(desktopID)]\nFile=\(file)\nLaunch=D-Bus, \(program)\nAllowed=menu.example.com;\n",
      to: "config/tagroute/handlers.conf")
  }

  private let connection: Connection
  private var mood = Mood.takes
  private let handed: Arrivals<Handed>
  private let (answers, answering) = AsyncStream.makeStream(of: Void.self)

  private let removals: Arrivals<[Value]>

  /// How often the app was called.
  package var count: Int { handed.all.count }

  package nonisolated var unownedExecutor: UnownedSerialExecutor { connection.loop.asUnownedSerialExecutor() }

  /// Starts the app. It owns its name when this returns, and reconnects after a restart of the bus.
  package static func start(on address: String) async throws -> HandlerStandIn {
    let connection = try await Connection.open(BusAddress(address), on: EventLoop(label: "handler"))
    let handler = HandlerStandIn(connection)
    let method = ExportedMethod(
      Names.Handler.handleTag,
      in: [Argument("uri", "s"), Argument("message", "ay"), Argument("platform_data", "a{sv}")]
    ) { _, call in
      try await handler.handle(call)
      return []
    }
    let removed = ExportedMethod(
      Names.Handler.tagRemoved, in: [Argument("tap_id", "s"), Argument("tag", "a{sv}")]
    ) { _, call in
      await handler.remove(call.arguments)
      return []
    }
    try await connection.export(
      [ExportedInterface(Names.Handler.interface, methods: [method, removed], limits: .tagMessage)],
      at: "/org/example/Menu")
    try await connection.standIn(for: "org.example.Menu")
    return handler
  }

  private init(_ connection: Connection) {
    self.connection = connection
    handed = Arrivals(of: "call of HandleTag", on: connection.loop)
    removals = Arrivals(of: "call of TagRemoved", on: connection.loop)
  }

  package func set(_ mood: Mood) { self.mood = mood }

  /// Replies to all pending calls.
  package func answer() { answering.finish() }

  /// Leaves the bus, as a crash would.
  package func leave() async { await connection.crash() }

  /// The next call that no earlier call of this function has returned.
  package func next() async throws -> Handed { try await handed.next() }

  /// The arguments of the next call of `TagRemoved` that no earlier call of this function has returned.
  package func nextRemoval() async throws -> [Value] { try await removals.next() }

  private func remove(_ arguments: [Value]) { removals.append(arguments) }

  private func handle(_ call: IncomingCall) async throws {
    guard call.arguments.count == 3 else { throw BusError.invalidArguments("HandleTag takes three arguments") }
    let call = Handed(
      uri: call.arguments[0].asString ?? "", message: call.arguments[1].asBytes ?? [],
      platformData: call.arguments[2].asDictionary ?? [:])
    handed.append(call)
    switch mood {
    case .takes: return
    case .refuses: throw BusError.failed("the kitchen is closed")
    case .hangs: for await _ in answers {}
    }
  }
}
