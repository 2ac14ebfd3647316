public import Bus
import Names

/// A client of `org.freedesktop.Notifications`, whatever server that is, and through every change of it.
///
/// Carries out what ``NotificationBoard`` decides. Lives on the connection's loop, and needs the connection for as long as
/// something may be on the screen: servers tie a notification to the connection that sent it.
public actor NotificationClient {
  private let connection: Connection
  private let clock: any Clock<Duration>
  private var board = NotificationBoard {
    // From the system's generator: nobody else on the bus may guess a key.
    "." + [UInt64.random(in: .min ... .max), .random(in: .min ... .max)].map { String($0, radix: 16) }.joined()
  }
  private let continuation: AsyncStream<NotificationEvent>.Continuation
  /// Calls of `Notify` and `CloseNotification` under way.
  private var callsUnderWay = 0
  /// What has gone since everything is to go; nil before.
  private var gone: [NotificationPlace]?
  /// Goes on when everything has gone, or it has taken too long.
  private var ending: CheckedContinuation<Void, Never>?
  /// How long servers have at the end.
  static let endingWait: Duration = .milliseconds(300)

  /// Events that their reader is not done with, and who waits for it.
  private var dueEvents = 0
  private var settling: [CheckedContinuation<Void, Never>] = []
  /// So many events may be due.
  static let maximumDueEvents = 32

  /// What became of the notifications, in order, for one reader, who calls ``handled()`` after each.
  public nonisolated let events: AsyncStream<NotificationEvent>

  /// The connection's loop.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { connection.loop.asUnownedSerialExecutor() }

  /// Nothing happens before ``run()``; what is shown until then waits.
  ///
  /// - Parameters:
  ///   - connection: to the session bus.
  ///   - clock: what the time-outs are measured by.
  public init(on connection: Connection, clock: any Clock<Duration> = ContinuousClock()) {
    self.connection = connection
    self.clock = clock
    (events, continuation) = AsyncStream.makeStream(of: NotificationEvent.self)
  }

  /// Follows the server until the task is cancelled or the connection closed.
  ///
  /// - Throws: `BusError` where the bus does not let us listen.
  public func run() async throws(BusError) {
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

  /// Shows a notification, now or as soon as there is a server.
  ///
  /// - Parameters:
  ///   - notification: what to show.
  ///   - key: the caller's name for it; one that is up under this name is replaced.
  ///   - previous: the name of one whose place it takes where that is still up. Nothing more is reported of that one.
  public func show(_ notification: Notification, as key: NotificationKey, replacing previous: NotificationKey? = nil) {
    // Nobody would answer its buttons.
    guard gone == nil else { return }
    handle(.show(key, notification, replacing: previous))
  }

  /// Takes over what an earlier run may have left on the screen; before anything is shown.
  ///
  /// - Parameter places: where each was. Every name has to be shown or closed after this.
  public func takeOver(_ places: [NotificationKey: NotificationPlace]) { handle(.left(places)) }

  /// Takes a notification away. Nothing more is reported of it, unless it was clicked just before.
  public func close(_ key: NotificationKey) {
    handle(.close(key))
  }

  /// Takes all notifications away for good, and returns when the server has heard of it, or does not answer within 300 ms. What it is just
  /// taking is closed as soon as it says under which number: it would stay up beside what the next run shows.
  ///
  /// - Returns: where nothing is any more.
  public func closeAll() async -> [NotificationPlace] {
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

  /// The reader of ``events`` is done with one.
  public func handled() {
    dueEvents -= 1
    guard dueEvents < Self.maximumDueEvents else { return }
    for continuation in settling { continuation.resume() }
    settling = []
  }

  /// Waits for the reader of ``events``: what shows one notification after another calls this in between, or events would pile up.
  public func settled() async {
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

  // MARK: What comes in

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
        // What is no token does not end the wait for one.
        guard let token = detail?.asString, Names.Handler.isActivationToken(token) else { continue }
        handle(.signal(.token(token), id: id, sender: signal.sender))
      default: continue
      }
    }
  }

  // MARK: What goes out

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

  /// - Returns: whether nothing is there any more.
  private func close(_ place: NotificationPlace) async -> Bool {
    do throws(BusError) {
      _ = try await connection.call(place.owner, Self.path, Self.interface, "CloseNotification", [.uint32(place.id)])
    } catch {
      // A server's own error says that there was nothing to close; without an answer nobody knows.
      let unanswered: Set = [
        BusError.Name.timeout, BusError.Name.noReply, BusError.Name.disconnected, BusError.Name.cancelled,
        BusError.Name.limitsExceeded,
      ]
      return !unanswered.contains(error.name)
    }
    return true
  }

  /// What the server says it is. One that does not say what it can do is taken for one with buttons that reads markup, as all known ones
  /// are: to show `&amp;` is better than to read what stands on a tag as markup. It has no name then, so that it is asked again.
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
      // However late the answer comes, the notification is up by then; given up, it would be shown a second time. A server that
      // leaves the bus ends the call.
      let reply = try await connection.call(
        owner, Self.path, Self.interface, "Notify", arguments.values, timeout: nil)
      return .notified(slot: slot, call: call, id: reply.first?.asUInt32 ?? 0)
    } catch {
      return .refused(slot: slot, call: call, reason: "\(error)")
    }
  }

  /// The name every server owns.
  private static let name = "org.freedesktop.Notifications"
  private static let path: ObjectPath = "/org/freedesktop/Notifications"
  private static let interface = "org.freedesktop.Notifications"
}

extension NotifyArguments {
  /// The arguments of `Notify`, `susssasa{sv}i`.
  var values: [Value] {
    var hints: [String: Value] = ["urgency": .byte(urgency)]
    if isTransient { hints["transient"] = .boolean(true) }
    if !category.isEmpty { hints["category"] = .string(category) }
    if !desktopEntry.isEmpty { hints["desktop-entry"] = .string(desktopEntry) }
    return [
      .string(applicationName), .uint32(replaces), .string(icon), .string(summary), .string(body), .strings(actions),
      .dictionary(hints), .int32(timeout),
    ]
  }
}
