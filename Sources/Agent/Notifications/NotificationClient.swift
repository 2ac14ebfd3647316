package import Bus
package import Names

/// A client of `org.freedesktop.Notifications`. It works with any server, and through every change of the server.
///
/// Performs the actions of ``NotificationBoard``, on the connection's loop. The connection must stay open while a
/// notification may be up, because servers tie a notification to the connection of its sender.
package actor NotificationClient {
  private let connection: Connection
  private let clock: any Clock<Duration>
  private let isMuted: Bool
  private var board = NotificationBoard {
    // From the system's random generator, so that no other program on the bus can guess a key.
    "." + [UInt64.random(in: .min ... .max), .random(in: .min ... .max)].map { String($0, radix: 16) }.joined()
  }
  private let continuation: AsyncStream<NotificationEvent>.Continuation
  /// Of `Notify` and `CloseNotification`.
  private var callsUnderWay = 0
  /// Those that have become empty since `closeAll()`; nil before it.
  private var gone: [NotificationPlace]?
  /// Resumed when all calls have ended, or when the time for them is over.
  private var ending: CheckedContinuation<Void, Never>?
  /// For servers, in `closeAll()`.
  static let endingWait: Duration = .milliseconds(300)

  /// Events that the reader has not handled yet, and the tasks that wait for the reader.
  private var dueEvents = 0
  private var settling: [CheckedContinuation<Void, Never>] = []
  /// From this number of unhandled events on, ``settled()`` waits.
  static let maximumDueEvents = 32

  /// The events of all notifications, in order. For one reader, which calls ``handled()`` after each event.
  package nonisolated let events: AsyncStream<NotificationEvent>

  package nonisolated var unownedExecutor: UnownedSerialExecutor { connection.loop.asUnownedSerialExecutor() }

  /// `connection` is to the session bus. Notifications that are shown before ``run()`` wait for it. A muted client
  /// calls no server.
  package init(on connection: Connection, clock: any Clock<Duration> = ContinuousClock(), isMuted: Bool = false) {
    self.connection = connection
    self.clock = clock
    self.isMuted = isMuted
    (events, continuation) = AsyncStream.makeStream(of: NotificationEvent.self)
  }

  /// Follows the server until the task is cancelled or the connection closed. Throws if the bus refuses to send us
  /// signals.
  package func run() async throws(BusError) {
    let rule = MatchRule(path: Self.path, interface: Self.interface)
    let signals = try await connection.signals(rule)
    let owners = try await connection.owners(of: Self.name)
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.follow(signals) }
      group.addTask { await self.follow(owners) }
      await group.next()
      group.cancelAll()
    }
  }

  /// Now, or as soon as there is a server. A notification that is up under `key` or `previous` is replaced. No more
  /// events of `previous` are reported.
  package func show(_ notification: Notification, as key: NotificationKey, replacing previous: NotificationKey? = nil) {
    // The program is about to end, and could not react to the buttons.
    guard gone == nil, !isMuted else { return }
    handle(.show(key, notification, replacing: previous))
  }

  /// Takes over notifications that an earlier run may have left on the screen. Call this before the first `show`. Show
  /// or close every name after this.
  package func takeOver(_ places: [NotificationKey: NotificationPlace]) {
    if !isMuted { handle(.left(places)) }
  }

  /// No more events of the notification are reported, unless it was clicked just before.
  package func close(_ key: NotificationKey) {
    handle(.close(key))
  }

  /// Closes all notifications for good. Returns when the server has replied to all calls, or after 300 ms. A
  /// notification without a reply yet is closed once the server reports its id. It would otherwise stay beside those of
  /// the next run. Returns the places that are empty.
  package func closeAll() async -> [NotificationPlace] {
    guard gone == nil else { return [] }
    gone = []
    handle(.closeAll)
    if callsUnderWay > 0 {
      await withCheckedContinuation { continuation in
        ending = continuation
        Task {
          try? await clock.sleep(for: Self.endingWait)
          end()
        }
      }
    }
    return gone ?? []
  }

  /// Called by the reader of ``events`` after each event.
  package func handled() {
    dueEvents -= 1
    guard dueEvents < Self.maximumDueEvents else { return }
    for continuation in settling { continuation.resume() }
    settling = []
  }

  /// Waits for the reader of ``events``. Call this between many notifications, so that events do not pile up.
  package func settled() async {
    while dueEvents >= Self.maximumDueEvents { await withCheckedContinuation { settling.append($0) } }
  }

  private func report(_ event: NotificationEvent) {
    dueEvents += 1
    continuation.yield(event)
  }

  private func end() {
    ending?.resume()
    ending = nil
  }

  private func callHasEnded() {
    callsUnderWay -= 1
    if callsUnderWay == 0 { end() }
  }

  // MARK: Incoming

  private func follow(_ owners: AsyncStream<String?>) async {
    for await owner in owners { handle(.ownerChanged(owner)) }
    handle(.ownerChanged(nil))
  }

  private func follow(_ signals: SignalStream) async {
    for await signal in signals {
      guard let id = signal.arguments.first?.asUInt32 else { continue }
      let detail = signal.arguments.count > 1 ? signal.arguments[1] : nil
      switch signal.member {
      case "NotificationClosed": handle(.signal(.closed(reason: detail?.asUInt32 ?? 4), id: id, sender: signal.sender))
      case "ActionInvoked":
        guard let key = detail?.asString else { continue }
        handle(.signal(.action(key), id: id, sender: signal.sender))
      case "ActivationToken":
        // An invalid token does not end the wait for a valid one.
        guard let token = detail?.asString, Names.Handler.isActivationToken(token) else { continue }
        handle(.signal(.token(token), id: id, sender: signal.sender))
      default: continue
      }
    }
  }

  // MARK: Outgoing

  private func handle(_ event: NotificationBoard.Event) {
    for action in board.handle(event) { perform(action) }
  }

  private func perform(_ action: NotificationBoard.Action) {
    switch action {
    case .describe(let owner): Task { handle(.described(await describe(owner))) }
    case .activateServer:
      Task {
        let arguments: [Value] = [.string(Self.name), .uint32(0)]
        let reply = try? await connection.call(
          "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "StartServiceByName", arguments)
        if reply == nil { handle(.activationFailed) }
      }
    case .notify(let slot, let call, let owner, let arguments):
      callsUnderWay += 1
      Task {
        handle(await notify(slot: slot, call: call, owner: owner, arguments))
        callHasEnded()
      }
    case .closeNotification(let place):
      callsUnderWay += 1
      Task {
        if await close(place) {
          gone?.append(place)
          report(.gone(place))
        }
        callHasEnded()
      }
    case .forget(let place): report(.gone(place))
    case .wait(let timer, let duration):
      Task {
        try? await clock.sleep(for: duration)
        handle(.timeout(timer))
      }
    case .report(let event): report(event)
    }
  }

  /// Returns whether the place is empty.
  private func close(_ place: NotificationPlace) async -> Bool {
    do throws(BusError) {
      _ = try await connection.call(place.owner, Self.path, Self.interface, "CloseNotification", [.uint32(place.id)])
    } catch {
      // An error from the server means that there was no such notification. Without a reply, the result is unknown.
      let unanswered: Set = [
        BusError.Name.timeout, BusError.Name.noReply, BusError.Name.disconnected, BusError.Name.cancelled,
        BusError.Name.limitsExceeded,
      ]
      return !unanswered.contains(error.name)
    }
    return true
  }

  /// Asks a server for its name and its capabilities. If it does not report capabilities, buttons and markup are
  /// assumed, as all known servers have them: showing `&amp;` is better than reading a tag's text as markup. The name
  /// is then left empty, so that the server is asked again.
  private func describe(_ owner: String) async -> NotificationServer {
    async let capabilities = try? connection.call(owner, Self.path, Self.interface, "GetCapabilities")
    async let information = try? connection.call(owner, Self.path, Self.interface, "GetServerInformation")
    async let bus = try? connection.call(
      "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetId")
    let words = (await information ?? []).map { $0.asString ?? "" }
    let able = await capabilities?.first?.asStrings
    return NotificationServer(
      bus: await bus?.first?.asString ?? "", owner: owner, name: able == nil ? "" : words.first ?? "",
      version: words.count > 2 ? words[2] : "", capabilities: Set(able ?? ["actions", "body", "body-markup"]))
  }

  private func notify(
    slot: Int, call: Int, owner: String, _ arguments: NotifyArguments
  ) async -> NotificationBoard.Event {
    do throws(BusError) {
      // The notification is up even if the reply comes late. Giving up would show it twice. The call ends when the
      // server leaves the bus.
      let reply = try await connection.call(
        owner, Self.path, Self.interface, "Notify", arguments.values, timeout: nil)
      return .notified(slot: slot, call: call, id: reply.first?.asUInt32 ?? 0)
    } catch {
      return .refused(slot: slot, call: call, reason: "\(error)")
    }
  }

  private static let name = "org.freedesktop.Notifications"
  private static let path: ObjectPath = "/org/freedesktop/Notifications"
  private static let interface = "org.freedesktop.Notifications"
}

extension NotifyArguments {
  /// Of `Notify`: `susssasa{sv}i`.
  var values: [Value] {
    let shown = notification
    var hints: [String: Value] = ["urgency": .byte(shown.urgency.rawValue)]
    if shown.isTransient { hints["transient"] = .boolean(true) }
    if !shown.category.isEmpty { hints["category"] = .string(shown.category) }
    if !shown.desktopEntry.isEmpty { hints["desktop-entry"] = .string(shown.desktopEntry) }
    if let sound { hints[sound.name == nil ? "suppress-sound" : "sound-name"] = sound.hint }
    return [
      .string(shown.applicationName), .uint32(replaces), .string(shown.icon), .string(shown.summary.string),
      .string(body), .strings(actions), .dictionary(hints), .int32(shown.timeout),
    ]
  }
}

extension NotificationSound {
  /// The value of `sound-name`, or of `suppress-sound` for silence.
  fileprivate var hint: Value { name.map { .string($0) } ?? .boolean(true) }
}
