public import Bus
import EventLoop

/// A notification server for tests: records every `Notify`, and clicks and closes when told to.
///
/// By default as dunst is: signals to the caller alone, no activation tokens, everything closed after a click.
public actor NotificationServerStandIn {
  /// A `Notify` call as it arrived.
  public struct Shown: Sendable, Hashable {
    /// The id that was given for it.
    public let id: UInt32
    /// The caller's unique name.
    public let sender: String
    /// The arguments of the call, in the specification's words.
    public let applicationName: String
    /// The id to replace; 0 for none.
    public let replaces: UInt32
    /// The icon's name or path.
    public let icon: String
    /// The title.
    public let summary: String
    /// The text.
    public let body: String
    /// Key, label, key, label; the keys without what they end in behind a dot.
    public let actions: [String]
    /// The same as they came.
    public let sentActions: [String]
    /// The hints.
    public let hints: [String: Value]
    /// Milliseconds; -1 and 0 as the specification says.
    public let timeout: Int32

    /// Whether it shows a tap, and not a reader session or that something is wrong.
    public var isTap: Bool { hints["category"] == .string("x-tagroute.tap") }

    /// The key of an action as it came; an unknown one as it is.
    public func sentKey(_ action: String) -> String {
      stride(from: 0, to: actions.count, by: 2).first { actions[$0] == action }.map { sentActions[$0] } ?? action
    }
  }

  private let connection: Connection
  private var capabilities: [String]?
  private let information: [String]
  private var lastID: UInt32
  private let notified: Arrivals<Shown>
  private let closed: Arrivals<UInt32>
  private var refusal: BusError?
  private var held: [CheckedContinuation<Void, Never>]?

  /// What is up, by id.
  public private(set) var onScreen: [UInt32: Shown] = [:] {
    didSet { if oldValue.count < onScreen.count { mostOnScreen = max(mostOnScreen, onScreen.count) } }
  }
  /// The most that were ever up at once.
  public private(set) var mostOnScreen = 0
  private var mostAlike: [String: Int] = [:]
  /// Every `Notify` so far.
  public var all: [Shown] { notified.all }
  /// How often the capabilities were asked for.
  public private(set) var capabilityRequests = 0

  /// The connection's loop.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { connection.loop.asUnownedSerialExecutor() }

  /// Starts a server that owns `org.freedesktop.Notifications` when this returns.
  ///
  /// - Parameters:
  ///   - address: the bus.
  ///   - name: what it calls itself.
  ///   - capabilities: what it can do.
  ///   - firstID: the id of its first notification.
  /// - Returns: the running server.
  /// - Throws: `BusError` where the bus is away or the name is taken.
  public static func start(
    on address: BusAddress, name: String = "mako",
    capabilities: [String] = ["actions", "body", "body-markup", "icon-static"], firstID: UInt32 = 1
  ) async throws -> NotificationServerStandIn {
    let connection = try await Connection.open(address, on: EventLoop(label: "notification-server"))
    let server = NotificationServerStandIn(connection, name: name, capabilities: capabilities, firstID: firstID)
    try await server.begin()
    return server
  }

  private init(_ connection: Connection, name: String, capabilities: [String], firstID: UInt32) {
    self.connection = connection
    self.capabilities = capabilities
    information = [name, "tagroute", "1.0", "1.2"]
    lastID = firstID - 1
    notified = Arrivals(of: "call of Notify", on: connection.loop)
    closed = Arrivals(of: "call of CloseNotification", on: connection.loop)
  }

  private func begin() async throws {
    let interface = ExportedInterface(
      Self.interface,
      methods: [
        ExportedMethod(
          "Notify",
          in: [
            Argument("app_name", "s"), Argument("replaces_id", "u"), Argument("app_icon", "s"),
            Argument("summary", "s"), Argument("body", "s"), Argument("actions", "as"), Argument("hints", "a{sv}"),
            Argument("expire_timeout", "i"),
          ], out: [Argument("id", "u")]
        ) { [weak self] call in [.uint32(try await self?.notify(call) ?? 0)] },
        ExportedMethod("CloseNotification", in: [Argument("id", "u")], out: []) { [weak self] call in
          await self?.closeNotification(call)
          return []
        },
        ExportedMethod("GetCapabilities", in: [], out: [Argument("capabilities", "as")]) { [weak self] _ in
          [.strings(try await self?.getCapabilities() ?? [])]
        },
        ExportedMethod(
          "GetServerInformation", in: [],
          out: [
            Argument("name", "s"), Argument("vendor", "s"), Argument("version", "s"), Argument("spec_version", "s"),
          ]
        ) { [information] _ in information.map { .string($0) } },
      ],
      properties: [],
      signals: [
        ExportedSignal("NotificationClosed", [Argument("id", "u"), Argument("reason", "u")]),
        ExportedSignal("ActionInvoked", [Argument("id", "u"), Argument("action_key", "s")]),
        ExportedSignal("ActivationToken", [Argument("id", "u"), Argument("activation_token", "s")]),
      ])
    try await connection.export([interface], at: Self.path)
    try await connection.standIn(for: Self.name)
  }

  // MARK: What tests do

  /// The next `Notify` that no earlier call of this has returned, as soon as it arrives.
  ///
  /// - Throws: `RigError` if none comes.
  public func next() async throws -> Shown { try await notified.next() }

  /// The next `Notify` that shows a tap; others are passed over.
  ///
  /// - Throws: `RigError` if none comes.
  public func nextTap() async throws -> Shown {
    while true {
      let shown = try await next()
      if shown.isTap { return shown }
    }
  }

  /// The id of the next `CloseNotification` that no earlier call of this has returned, as soon as it arrives.
  ///
  /// - Throws: `RigError` if none comes.
  public func nextClosed() async throws -> UInt32 { try await closed.next() }

  /// The most notifications that were ever up at once whose bodies begin with the same line, up to the first ` · ` in it.
  public func mostAtOnce(_ line: String) -> Int { mostAlike[line] ?? 0 }

  private static func line(of body: String) -> String {
    let line = body.prefix { $0 != "\n" }
    return String(line.firstRange(of: " · ").map { line[..<$0.lowerBound] } ?? line)
  }

  /// The user clicks: the token where there is one, the action, and the close.
  ///
  /// - Parameters:
  ///   - shown: the notification.
  ///   - action: `default`, or a button's key as in ``Shown/actions``.
  ///   - token: the activation token, sent before the action.
  /// - Throws: `BusError` where the bus is away.
  public func click(_ shown: Shown, action: String = "default", token: String? = nil) async throws {
    if let token { try await emit("ActivationToken", [.uint32(shown.id), .string(token)], to: shown.sender) }
    try await emit("ActionInvoked", [.uint32(shown.id), .string(shown.sentKey(action))], to: shown.sender)
    try await close(shown, reason: 2)
  }

  /// The notification goes without a click.
  ///
  /// - Parameters:
  ///   - shown: the notification.
  ///   - reason: 1 expired, 2 dismissed, 3 closed, 4 undefined.
  /// - Throws: `BusError` where the bus is away.
  public func close(_ shown: Shown, reason: UInt32) async throws {
    onScreen[shown.id] = nil
    try await emit("NotificationClosed", [.uint32(shown.id), .uint32(reason)], to: shown.sender)
  }

  /// Sends one signal, as any server might.
  ///
  /// - Parameters:
  ///   - member: the signal's name.
  ///   - arguments: its arguments.
  ///   - destination: the only receiver; nil broadcasts.
  /// - Throws: `BusError` where the bus is away.
  public func emit(_ member: String, _ arguments: [Value], to destination: String? = nil) async throws {
    try await connection.emit(
      path: Self.path, interface: Self.interface, member: member, arguments, destination: destination)
  }

  /// Answers every further `Notify` with this error; nil lets them pass again.
  public func refuse(with error: BusError?) {
    refusal = error
  }

  /// Shows what comes from here on, and does not answer before ``answer()``, as a server that is busy.
  public func hold() { held = [] }

  /// Answers what it has not answered, and at once from here on.
  public func answer() {
    for continuation in held ?? [] { continuation.resume() }
    held = nil
  }

  /// Changes what it can do, without a word to anybody, as xfce4-notifyd does in do-not-disturb; nil answers with an error.
  public func setCapabilities(_ capabilities: [String]?) {
    self.capabilities = capabilities
  }

  /// Leaves the bus, as a crash would; another server may have the name from then on.
  public func stop() async { await connection.crash() }

  // MARK: What callers do

  private func notify(_ call: IncomingCall) async throws -> UInt32 {
    if let refusal { throw refusal }
    let arguments = call.arguments
    guard arguments.count == 8 else { throw BusError.invalidArguments("Notify takes eight arguments") }
    let replaces = arguments[1].asUInt32 ?? 0
    // As GNOME Shell: what another connection has shown is its own for as long as it is there.
    if let other = onScreen[replaces]?.sender, other != call.sender, try await isOnBus(other) {
      throw BusError.invalidArguments("Invalid notification ID")
    }
    let isUp = onScreen[replaces] != nil
    if !isUp { lastID += 1 }
    let sent = arguments[5].asStrings ?? []
    let actions = sent.enumerated().map { index, word in
      index.isMultiple(of: 2) ? String(word.prefix { $0 != "." }) : word
    }
    let shown = Shown(
      id: isUp ? replaces : lastID, sender: call.sender, applicationName: arguments[0].asString ?? "",
      replaces: replaces, icon: arguments[2].asString ?? "", summary: arguments[3].asString ?? "",
      body: arguments[4].asString ?? "", actions: actions, sentActions: sent,
      hints: arguments[6].asDictionary ?? [:], timeout: arguments[7].asInt32 ?? -1)
    onScreen[shown.id] = shown
    let line = Self.line(of: shown.body)
    mostAlike[line] = max(mostAlike[line] ?? 0, onScreen.values.count { Self.line(of: $0.body) == line })
    notified.append(shown)
    if held != nil { await withCheckedContinuation { held?.append($0) } }
    return shown.id
  }

  private func isOnBus(_ name: String) async throws -> Bool {
    let reply = try await connection.call(
      "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameHasOwner", [.string(name)])
    return reply.first?.asBool ?? false
  }

  private func closeNotification(_ call: IncomingCall) {
    guard let id = call.arguments.first?.asUInt32 else { return }
    onScreen[id] = nil
    closed.append(id)
  }

  private func getCapabilities() throws -> [String] {
    capabilityRequests += 1
    guard let capabilities else { throw BusError.failed("not yet") }
    return capabilities
  }

  private static let name = "org.freedesktop.Notifications"
  private static let path: ObjectPath = "/org/freedesktop/Notifications"
  private static let interface = "org.freedesktop.Notifications"
}
