package import Bus
import EventLoop
package import Rig

/// A notification server for tests. It records every `Notify`, and clicks and closes notifications for a test.
///
/// By default it behaves like dunst: it sends signals only to the caller, gives no activation tokens, and closes every
/// notification after a click.
package actor NotificationServerStandIn {
  /// A `Notify` call as it arrived.
  package struct Shown: Sendable, Hashable {
    /// The id that the server gave it.
    package let id: UInt32
    /// The caller's unique name.
    package let sender: String
    package let applicationName: String
    /// The id to replace; 0 for none.
    package let replaces: UInt32
    /// The icon's name or path.
    package let icon: String
    package let summary: String
    package let body: String
    /// Keys and labels in turn. A key with a dot is cut before the dot.
    package let actions: [String]
    /// The actions as they arrived.
    package let sentActions: [String]
    package let hints: [String: Value]
    /// The timeout in milliseconds; -1 and 0 as in the specification.
    package let timeout: Int32

    /// Whether it shows a tap, rather than a reader session or a problem.
    package var isTap: Bool { hints["category"] == .string("x-tagroute.tap") }

    /// The key of an action as it arrived; an unknown key is returned as it is.
    package func sentKey(_ action: String) -> String {
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

  /// The notifications on the screen, by id.
  package private(set) var onScreen: [UInt32: Shown] = [:] {
    didSet { if oldValue.count < onScreen.count { mostOnScreen = max(mostOnScreen, onScreen.count) } }
  }
  /// The most notifications that were on the screen at once.
  package private(set) var mostOnScreen = 0
  private var mostAlike: [String: Int] = [:]
  /// Every `Notify` so far.
  package var all: [Shown] { notified.all }
  /// How often a caller asked for the capabilities.
  package private(set) var capabilityRequests = 0

  package nonisolated var unownedExecutor: UnownedSerialExecutor { connection.loop.asUnownedSerialExecutor() }

  /// Starts a server that owns `org.freedesktop.Notifications` when this returns. It reports this name and these
  /// capabilities.
  package static func start(
    on address: BusAddress, name: String = "mako",
    capabilities: [String] = ["actions", "body", "body-markup", "icon-static"], firstID: UInt32 = 1
  ) async throws -> NotificationServerStandIn {
    let connection = try await Connection.open(address, on: EventLoop(label: "notification-server"))
    let server = NotificationServerStandIn(connection, name: name, capabilities: capabilities, firstID: firstID)
    try await server.begin()
    // It answers as long as the test runs, and leaves the bus with the last reference.
    atEndOfTest { withExtendedLifetime(server) {} }
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
        ) { [weak self] _, call in [.uint32(try await self?.notify(call) ?? 0)] },
        ExportedMethod("CloseNotification", in: [Argument("id", "u")], out: []) { [weak self] _, call in
          await self?.closeNotification(call)
          return []
        },
        ExportedMethod("GetCapabilities", in: [], out: [Argument("capabilities", "as")]) { [weak self] _, _ in
          [.strings(try await self?.getCapabilities() ?? [])]
        },
        ExportedMethod(
          "GetServerInformation", in: [],
          out: [
            Argument("name", "s"), Argument("vendor", "s"), Argument("version", "s"), Argument("spec_version", "s"),
          ]
        ) { [information] _, _ in information.map { .string($0) } },
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

  // MARK: For tests

  /// The next `Notify` that no earlier call of this function has returned, as soon as it arrives.
  package func next() async throws -> Shown { try await notified.next() }

  /// The next `Notify` that shows a tap. Skips all others.
  package func nextTap() async throws -> Shown {
    while true {
      let shown = try await next()
      if shown.isTap { return shown }
    }
  }

  /// Drops the calls of `Notify` that ``next()`` has returned, for a measurement with very many.
  package nonisolated func forget() { notified.forget() }

  /// The id of the next `CloseNotification` that no earlier call of this function has returned, as soon as it arrives.
  package func nextClosed() async throws -> UInt32 { try await closed.next() }

  /// The most notifications that were on the screen at once with this first line of the body, up to the first ` · ` in
  /// it.
  package func mostAtOnce(_ line: String) -> Int { mostAlike[line] ?? 0 }

  private static func line(of body: String) -> String {
    let line = body.prefix { $0 != "\n" }
    return String(line.firstRange(of: " · ").map { line[..<$0.lowerBound] } ?? line)
  }

  /// Clicks a notification as a user would: sends the token if there is one, the action, and the close. The action is
  /// `default`, or a button's key as in ``Shown/actions``.
  package func click(_ shown: Shown, action: String = "default", token: String? = nil) async throws {
    // Before the caller can react to the action and show another notification.
    onScreen[shown.id] = nil
    if let token { try await emit("ActivationToken", [.uint32(shown.id), .string(token)], to: shown.sender) }
    try await emit("ActionInvoked", [.uint32(shown.id), .string(shown.sentKey(action))], to: shown.sender)
    try await close(shown, reason: 2)
  }

  /// Clicks “More…”, and then a button of the notification that follows. In between it waits, like a person who reads the
  /// buttons: for one second, the agent takes a click as meant for the first notification.
  package func clickMore(_ shown: Shown, action: String) async throws {
    try await click(shown, action: "more")
    let more = try await next()
    try await Task.sleep(for: .seconds(2))
    try await click(more, action: action)
  }

  /// Closes a notification without a click. The reason is 1 expired, 2 dismissed, 3 closed or 4 undefined.
  package func close(_ shown: Shown, reason: UInt32) async throws {
    onScreen[shown.id] = nil
    try await emit("NotificationClosed", [.uint32(shown.id), .uint32(reason)], to: shown.sender)
  }

  /// Sends one signal, as any server might. Without a destination, it is broadcast.
  package func emit(_ member: String, _ arguments: [Value], to destination: String? = nil) async throws {
    try await connection.emit(
      path: Self.path, interface: Self.interface, member: member, arguments, destination: destination)
  }

  /// Replies to every further `Notify` with this error; nil accepts them again.
  package func refuse(with error: BusError?) { refusal = error }

  /// Shows further notifications without replying until ``answer()``, like a busy server.
  package func hold() { held = [] }

  /// Replies to all pending calls, and to further ones at once.
  package func answer() {
    for continuation in held ?? [] { continuation.resume() }
    held = nil
  }

  /// Changes the capabilities without a signal, as xfce4-notifyd does in do-not-disturb; nil replies with an error.
  package func setCapabilities(_ capabilities: [String]?) { self.capabilities = capabilities }

  /// Leaves the bus, as a crash would. Another server can then take the name.
  package func stop() async { await connection.crash() }

  // MARK: For callers

  private func notify(_ call: IncomingCall) async throws -> UInt32 {
    if let refusal { throw refusal }
    let arguments = call.arguments
    guard arguments.count == 8 else { throw BusError.invalidArguments("Notify takes eight arguments") }
    let replaces = arguments[1].asUInt32 ?? 0
    // Like GNOME Shell: a notification belongs to its connection as long as the connection exists.
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

/// An X server without a screen, for real notification servers.
package struct VirtualScreen: Sendable {
  package let process: ChildProcess
  /// The server's `DISPLAY`, with a number that the server chose.
  package let display: String

  /// Starts a server, which accepts clients when this returns. The size is width and height in pixels.
  package init(size: String = "800x600") async throws {
    let program = try BuiltProducts.systemProgram("Xvfb", package: "xvfb")
    process = try ChildProcess(
      program, ["-displayfd", "1", "-noreset", "-screen", "0", "\(size)x24", "-nolisten", "tcp"])
    var seen = 0
    while true {
      try await process.line(containing: "", after: seen)
      seen += 1
      guard let number = Int(await process.standardOutput().prefix { $0.isNumber }) else { continue }
      display = ":\(number)"
      return
    }
  }
}
