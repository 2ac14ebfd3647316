import Testing

@testable import Notifications

/// Servers that start, stop, refuse calls or lack capabilities.
struct ServerLifeTests {
  private let a = NotificationKey("a")

  @Test func `without a server notifications wait, one server is activated, and it shows them`() {
    var board = NotificationBoard { "" }
    #expect(board.handle(.show(a, sampleNotification(), replacing: nil)) == [.activateServer])
    #expect(board.handle(.show(NotificationKey("b"), sampleNotification(), replacing: nil)).isEmpty)
    #expect(board.handle(.activationFailed).isEmpty)
    #expect(board.handle(.ownerChanged(":1.7")) == [.describe(owner: ":1.7")])

    let actions = board.handle(.described(.sample()))
    #expect(actions.first == .report(.serverChanged(.sample())))
    #expect(actions.calls.count == 2)
  }

  @Test func `the next server shows the notifications of a dead server, without their old ids`() {
    var board = board(showing: "a", id: 5)
    let gone = board.handle(.ownerChanged(nil))
    #expect(gone.reports == [.serverChanged(nil)])
    #expect(gone.last == gone.timers.first.map { .wait($0, NotificationBoard.activationWait) })
    _ = board.handle(.ownerChanged(":1.8"))
    let actions = board.handle(.described(.sample(":1.8")))
    #expect(actions.calls.map(\.replaces) == [0])
    #expect(board.answer(actions, id: 1).reports == [.shown(a, at: .sample(":1.8", id: 1))])
    // The old server's id and late signals are ignored now.
    #expect(board.handle(.signal(.action("default"), id: 5, sender: ":1.7")).isEmpty)
    #expect(board.handle(.signal(.action("default"), id: 1, sender: ":1.7")).isEmpty)
    #expect(board.handle(.signal(.action("default"), id: 1, sender: ":1.8")).timers.count == 1)
  }

  @Test func `notifications on a server that lost its name are closed there`() {
    var board = board(showing: "a", id: 5)
    let b = NotificationKey("b")
    let replaced = board.handle(.show(b, sampleNotification(), replacing: nil)) + board.put("c", id: 6)
    let again = board.handle(.show(b, sampleNotification(), replacing: NotificationKey("c")))
    #expect(again.isEmpty)
    let left = board.handle(.ownerChanged(":1.8"))
    #expect(left.closed == [5, 6] && left.first == .closeNotification(.sample(id: 5)))
    // A call that the old server accepts after that.
    #expect(board.answer(Array(replaced.prefix(1)), id: 7) == [.closeNotification(.sample(id: 7))])
    #expect(board.handle(.described(.sample(":1.8"))).calls.count == 3)
  }

  @Test func `a notification due for replacement on a server that lost its name is closed there`() {
    var board = board(showing: "a", id: 5)
    let replaced = board.handle(.show(NotificationKey("b"), sampleNotification(), replacing: a))
    #expect(board.handle(.ownerChanged(":1.8")).closed.isEmpty)
    #expect(board.refuse(replaced) == [.closeNotification(.sample(id: 5))])
  }

  @Test func `a late reply of an old server only closes its notification`() {
    var board = board()
    let shown = board.handle(.show(a, sampleNotification(), replacing: nil))
    _ = board.handle(.ownerChanged(":1.8"))
    #expect(board.answer(shown, id: 5) == [.closeNotification(.sample(id: 5))])
    #expect(board.answer(shown, id: 5).isEmpty)
    #expect(board.handle(.described(.sample(":1.7"))).isEmpty)
    #expect(board.handle(.described(.sample(":1.8"))).calls.count == 1)
  }

  @Test(
    arguments: [
      (3, true), (4, true), (1, false), (2, false),
    ] as [(UInt32, Bool)])
  func `notifications that a server closes before it exits are shown again, others are not`(
    reason: UInt32, isShownAgain: Bool
  ) {
    var board = board(showing: "a", id: 5)
    _ = board.handle(.signal(.closed(reason: reason), id: 5, sender: ":1.7"))
    let gone = board.handle(.ownerChanged(nil))
    _ = board.handle(.ownerChanged(":1.8"))
    #expect(board.handle(.described(.sample(":1.8"))).calls.isEmpty == !isShownAgain)
    #expect(gone.reports.contains { if case .closed = $0 { true } else { false } } == !isShownAgain)
  }

  @Test func `a click that waits for its token is reported when its server dies`() {
    var board = board(showing: "a", id: 5)
    let clicked = board.handle(.signal(.action("open"), id: 5, sender: ":1.7"))
    #expect(board.handle(.ownerChanged(nil)).reports.first == .activated(a, action: "open", token: nil))
    #expect(clicked.timers.count == 1)
    #expect(clicked.timers.flatMap { board.handle(.timeout($0)) }.isEmpty)
  }

  @Test func `a server that does not return on its own is activated`() throws {
    var board = board(showing: "a", id: 5)
    let timer = try #require(board.handle(.ownerChanged(nil)).timers.first)
    #expect(board.handle(.timeout(timer)) == [.activateServer])
    #expect(board.handle(.timeout(timer)).isEmpty)
    _ = board.handle(.ownerChanged(":1.8"))
    #expect(board.handle(.timeout(timer)).isEmpty)
  }

  @Test func `a server that disappears twice gets the full time to return again`() throws {
    var board = board(showing: "a", id: 5)
    let first = try #require(board.handle(.ownerChanged(nil)).timers.first)
    _ = board.handle(.ownerChanged(":1.8"))
    let second = try #require(board.handle(.ownerChanged(nil)).timers.first)
    #expect(board.handle(.timeout(first)).isEmpty)
    #expect(board.handle(.timeout(second)) == [.activateServer])
  }

  @Test func `only the time-out of the last refusal causes a retry`() throws {
    var board = board()
    let shown = board.handle(.show(a, sampleNotification(), replacing: nil))
    let first = try #require(board.refuse(shown).timers.first)
    let again = board.handle(.show(a, sampleNotification("Again"), replacing: nil))
    let second = try #require(board.refuse(again).timers.first)
    #expect(board.handle(.timeout(first)).isEmpty)
    #expect(board.handle(.timeout(second)).calls.map(\.notification.summary.string) == ["Again"])
  }

  @Test func `a refused notification is retried with growing delays`() {
    var board = board()
    var actions = board.handle(.show(a, sampleNotification(), replacing: nil))
    var delays: [Duration] = []
    for _ in 0..<9 {
      guard case .notify(let slot, let call, _, _)? = actions.first else { break }
      let refused = board.handle(.refused(slot: slot, call: call, reason: "ExcessNotificationGeneration"))
      #expect(refused.reports == [.refused(a, reason: "ExcessNotificationGeneration")])
      for case .wait(let timer, let delay) in refused {
        delays.append(delay)
        actions = board.handle(.timeout(timer))
      }
    }
    #expect(delays.first == .milliseconds(1500))
    #expect(delays.dropFirst().first == .seconds(3))
    #expect(delays.last == .seconds(96))
    #expect(delays.count == 9)
  }

  @Test func `a replaces_id that the server no longer has is dropped at once`() {
    var board = board(showing: "a", id: 5)
    let replaced = board.handle(.show(NotificationKey("b"), sampleNotification(), replacing: a))
    let again = board.refuse(replaced, "InvalidArgs")
    #expect(again.calls.map(\.replaces) == [0])
    #expect(again.reports.isEmpty)
  }

  @Test func `an unidentified server gets safe text and is asked again`() throws {
    let silent = NotificationServer.sample(name: "")
    var board = NotificationBoard { "" }
    _ = board.handle(.ownerChanged(":1.7"))
    _ = board.handle(.show(a, sampleNotification(body: "<b> menu.example.com/"), replacing: nil))
    var actions = board.handle(.described(silent))
    #expect(actions.calls.map(\.body) == ["&lt;b&gt; menu\u{2060}.example\u{2060}.com\u{2060}/"])

    var delays: [Duration] = []
    while case .wait(let timer, let delay)? = actions.last {
      delays.append(delay)
      #expect(board.handle(.timeout(timer)) == [.describe(owner: ":1.7")])
      #expect(board.handle(.timeout(timer)).isEmpty)
      actions = board.handle(.described(silent))
    }
    #expect(delays == [1, 2, 4, 8, 16, 32, 64].map { .seconds($0) })

    _ = board.handle(.ownerChanged(":1.8"))
    let timer = try #require(board.handle(.described(.sample(":1.8", name: ""))).timers.last)
    #expect(board.handle(.timeout(timer)) == [.describe(owner: ":1.8")])
    let known = NotificationServer.sample(":1.8", name: "gnome-shell")
    #expect(board.handle(.described(known)) == [.report(.serverChanged(known))])
    #expect(board.handle(.timeout(timer)).isEmpty)
  }

  @Test func `a server without actions is asked again before each notification`() {
    var board = board(with: .sample(capabilities: ["body"]))
    #expect(board.handle(.show(a, sampleNotification(), replacing: nil)) == [.describe(owner: ":1.7")])
    #expect(board.handle(.show(NotificationKey("b"), sampleNotification(), replacing: nil)).isEmpty)
    let quiet = board.handle(.described(.sample(capabilities: ["body"])))
    #expect(quiet.calls.map(\.actions) == [[], []])

    _ = board.answer(quiet, id: 5)
    let c = board.handle(.show(NotificationKey("c"), sampleNotification(), replacing: nil))
    #expect(c == [.describe(owner: ":1.7")])
    let able = board.handle(.described(.sample()))
    #expect(able.calls.map(\.actions) == Array(repeating: ["default", "Open", "open", "Open"], count: 3))
  }

  @Test(arguments: [true, false])
  func `a server without actions is asked again with growing delays until it gets the buttons`(
    isGone: Bool
  ) throws {
    let quiet = NotificationServer.sample(capabilities: ["body"])
    var board = board(with: quiet)
    _ = board.handle(.show(a, sampleNotification(), replacing: nil))
    var actions = board.handle(.described(quiet))
    _ = board.answer(actions, id: 5)
    if isGone {
      let late = board.handle(.signal(.closed(reason: 1), id: 5, sender: ":1.7")).timers
      #expect(late.flatMap { board.handle(.timeout($0)) }.isEmpty)
    }
    var delays: [Duration] = []
    for _ in 0..<6 {
      guard case .wait(let timer, let delay)? = actions.last else { break }
      delays.append(delay)
      #expect(board.handle(.timeout(timer)) == [.describe(owner: ":1.7")])
      actions = board.handle(.described(quiet))
    }
    #expect(delays == [5, 10, 20, 40, 60, 60].map { .seconds($0) })
    let timer = try #require(actions.timers.last)
    #expect(board.handle(.timeout(timer)) == [.describe(owner: ":1.7")])
    let able = board.handle(.described(.sample()))
    #expect(able.calls.map(\.actions) == [["default", "Open", "open", "Open"]])
    #expect(able.calls.map(\.replaces) == [isGone ? 0 : 5] && able.timers.isEmpty)
  }

  @Test func `a server without actions is not asked again if no notification needs buttons`() throws {
    let quiet = NotificationServer.sample(capabilities: ["body"])
    var board = board(with: quiet)
    _ = board.handle(.show(a, sampleNotification(), replacing: nil))
    let actions = board.handle(.described(quiet))
    _ = board.answer(actions, id: 5)
    #expect(board.handle(.close(a)).closed == [5])
    #expect(board.handle(.timeout(try #require(actions.timers.last))).isEmpty)
  }

  @Test(arguments: [(1, true), (3, true), (4, true), (2, false)] as [(UInt32, Bool)])
  func `a notification that expired without buttons is shown again, a dismissed one is not`(
    reason: UInt32, isShownAgain: Bool
  ) {
    let mute = NotificationServer.sample(capabilities: ["body"])
    var board = board(with: mute)
    _ = board.handle(.show(a, sampleNotification(), replacing: nil))
    _ = board.answer(board.handle(.described(mute)), id: 5)
    let closed = board.handle(.signal(.closed(reason: reason), id: 5, sender: ":1.7"))
    #expect(closed.timers.flatMap { board.handle(.timeout($0)) }.reports.isEmpty == isShownAgain)

    _ = board.handle(.ownerChanged(":1.8"))
    #expect(board.handle(.described(.sample(":1.8", capabilities: ["body"]))).calls.isEmpty)
    _ = board.handle(.ownerChanged(":1.9"))
    #expect(board.handle(.described(.sample(":1.9"))).calls.map(\.replaces) == (isShownAgain ? [0] : []))
  }
}

struct SilentServerTests {
  @Test func `a hanging server gets few calls, and notifications closed meanwhile are not shown`() {
    var board = board()
    let keys = (0..<1000).map { NotificationKey("\($0)") }
    var calls = keys.flatMap { board.handle(.show($0, sampleNotification(), replacing: nil)) }
    #expect(calls.count == NotificationBoard.maximumCalls)
    for key in keys.dropLast(20) { #expect(board.handle(.close(key)).isEmpty) }
    // Now the server replies to one call after another.
    var up: [NotificationKey] = []
    var closed = 0
    while !calls.isEmpty {
      let actions = board.answer([calls.removeFirst()], id: UInt32(up.count + closed + 1))
      up += actions.reports.compactMap(\.shownKey)
      closed += actions.closed.count
      calls += actions.filter { if case .notify = $0 { true } else { false } }
    }
    #expect(up == Array(keys.suffix(20)))
    #expect(closed == NotificationBoard.maximumCalls)
  }
}

/// Notifications that an earlier run of the agent left on the screen.
struct EarlierNotificationsTests {
  private let a = NotificationKey("a")
  private let b = NotificationKey("b")

  /// A board that took over `a`, number 5 of `:1.7`, and then found a server.
  private func board(_ server: NotificationServer = .sample(), closing: Bool = false)
    -> (NotificationBoard, [NotificationBoard.Action])
  {
    var board = NotificationBoard { "" }
    _ = board.handle(.left([a: .sample(id: 5)]))
    if closing { #expect(board.handle(.close(a)).isEmpty) }
    _ = board.handle(.ownerChanged(server.owner))
    let met = board.handle(.described(server))
    return (board, met)
  }

  @Test func `a notification of an earlier run is closed on its server and shown again once`() {
    var (board, met) = board()
    #expect(met == [.report(.serverChanged(.sample()))])
    let shown = board.handle(.show(a, sampleNotification(), replacing: nil))
    #expect(shown.first == .closeNotification(.sample(id: 5)) && shown.calls.map(\.replaces) == [0])
    #expect(board.answer(shown, id: 6).reports == [.shown(a, at: .sample(id: 6))])
    _ = board.handle(.ownerChanged(":1.8"))
    #expect(board.handle(.described(.sample(":1.8"))).closed.isEmpty)
  }

  @Test(arguments: [
    NotificationServer.sample(":1.8"),
    NotificationServer(bus: "other", owner: ":1.7", capabilities: ["actions"]),
    NotificationServer(bus: "", owner: ":1.7", capabilities: ["actions"]),
  ])
  func `another server, or a server on another bus, shows the notification again`(server: NotificationServer) {
    var (board, met) = board(server)
    #expect(met.contains(.forget(.sample(id: 5))))
    #expect(board.handle(.show(a, sampleNotification(), replacing: nil)).calls.map(\.replaces) == [0])
    #expect(board.handle(.close(a)).isEmpty)
  }

  @Test func `the notification of a decided tap is closed as soon as its server is known`() {
    #expect(board(closing: true).1.contains(.closeNotification(.sample(id: 5))))
    #expect(
      !board(.sample(":1.8"), closing: true).1.contains { if case .closeNotification = $0 { true } else { false } })
    var (known, _) = board()
    #expect(known.handle(.close(a)) == [.closeNotification(.sample(id: 5))])
    #expect(known.handle(.close(a)).isEmpty)
  }

  @Test func `a newer tap of the same tag replaces the notification of an earlier run`() {
    var board = NotificationBoard { "" }
    _ = board.handle(.left([a: .sample(id: 5)]))
    _ = board.handle(.show(a, sampleNotification(), replacing: nil))
    _ = board.handle(.show(b, sampleNotification("Again"), replacing: a))
    _ = board.handle(.ownerChanged(":1.7"))
    let met = board.handle(.described(.sample()))
    #expect(met.closed == [5] && met.calls.map(\.notification.summary.string) == ["Again"])
  }

  @Test func `a click on a notification of an earlier run does not answer its replacement`() {
    var (board, _) = board()
    let shown = board.handle(.show(a, sampleNotification(), replacing: nil))
    _ = board.handle(.signal(.action("default"), id: 5, sender: ":1.7"))
    #expect(board.answer(shown, id: 6).timers.isEmpty)
  }
}
