import Rig
import Testing

@testable import Notifications

struct NotificationBoardTests {
  private typealias Event = NotificationBoard.Event

  /// How one server reports a click: the signals in order, and the token that has to arrive.
  struct ClickScript: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let signals: [@Sendable (NotificationBoard) -> NotificationBoard.Event]
    let token: String?
    let isClosedByUs: Bool
  }

  private static func signal(
    _ signal: NotificationBoard.Signal, id: UInt32 = 5, sender: String = ":1.7"
  ) -> @Sendable (NotificationBoard) -> NotificationBoard.Event {
    let event = SendableEvent(signal: signal, id: id, sender: sender)
    return { _ in .signal(event.signal, id: event.id, sender: event.sender) }
  }

  private struct SendableEvent: Sendable {
    let signal: NotificationBoard.Signal
    let id: UInt32
    let sender: String
  }

  static let clicks: [ClickScript] = [
    ClickScript(
      testDescription: "GNOME Shell 43: token, click and close, each sent again by a connection that owns no name",
      signals: [
        signal(.token("t")), signal(.token("t"), sender: ":1.9"), signal(.action("default")),
        signal(.action("default"), sender: ":1.9"), signal(.closed(reason: 2)),
        signal(.closed(reason: 2), sender: ":1.9"),
      ], token: "t", isClosedByUs: true),
    ClickScript(
      testDescription: "token after the click",
      signals: [signal(.action("default")), signal(.token("t")), signal(.closed(reason: 2))], token: "t",
      isClosedByUs: true),
    ClickScript(
      testDescription: "dunst, xfce4-notifyd: no token",
      signals: [signal(.action("default")), signal(.closed(reason: 2))],
      token: nil, isClosedByUs: false),
    ClickScript(
      testDescription: "closed first", signals: [signal(.closed(reason: 2)), signal(.action("default"))], token: nil,
      isClosedByUs: false),
    ClickScript(
      testDescription: "Plasma: closed first, reason 3, with a token",
      signals: [signal(.closed(reason: 3)), signal(.token("t")), signal(.action("default"))], token: "t",
      isClosedByUs: false),
    ClickScript(
      testDescription: "LXQt: never closed", signals: [signal(.action("default"))], token: nil, isClosedByUs: true),
    ClickScript(
      testDescription: "a second click while the token is awaited",
      signals: [signal(.action("default")), signal(.action("open"))], token: nil, isClosedByUs: true),
    ClickScript(
      testDescription: "mako: broadcast, with other programs' ids and unknown keys between",
      signals: [
        signal(.action("default"), id: 6), signal(.token("x"), id: 6), signal(.action("reply")), signal(.token("t")),
        signal(.action("default")),
      ], token: "t", isClosedByUs: true),
  ]

  @Test(arguments: clicks) func `one click is reported once, with its token`(script: ClickScript) {
    var board = board(showing: "a", id: 5)
    var actions = script.signals.flatMap { board.handle($0(board)) }
    for timer in actions.timers { actions += board.handle(.timeout(timer)) }

    #expect(actions.reports == [.activated(NotificationKey("a"), action: "open", token: script.token)])
    #expect(actions.closed == (script.isClosedByUs ? [5] : []))
    // Later signals are ignored.
    #expect(board.handle(.signal(.action("default"), id: 5, sender: ":1.7")).isEmpty)
  }

  @Test(
    arguments: [
      (1, NotificationCloseReason.expired), (2, .dismissed), (3, .closed), (4, .undefined), (0, .undefined),
      (77, .undefined),
    ] as [(UInt32, NotificationCloseReason)])
  func `a closed notification is reported when a click can no longer follow`(
    reason: UInt32, expected: NotificationCloseReason
  ) throws {
    var board = board(showing: "a", id: 5)
    let actions = board.handle(.signal(.closed(reason: reason), id: 5, sender: ":1.7"))
    #expect(actions.reports.isEmpty)
    guard case .wait(let timer, let duration)? = actions.last else { throw RigError("no time-out was started") }
    #expect(duration == .seconds(2))
    #expect(board.handle(.timeout(timer)).reports == [.closed(NotificationKey("a"), expected)])
    #expect(board.handle(.timeout(timer)).isEmpty)
  }

  @Test func `signals that arrive before the reply to Notify are kept for it`() {
    var board = board()
    let shown = board.handle(.show(NotificationKey("a"), sampleNotification(), replacing: nil))
    #expect(board.handle(.signal(.token("t"), id: 5, sender: ":1.7")).isEmpty)
    #expect(board.handle(.signal(.action("default"), id: 5, sender: ":1.7")).isEmpty)
    #expect(
      board.answer(shown, id: 5).reports == [
        .shown(NotificationKey("a"), at: .sample(id: 5)), .activated(NotificationKey("a"), action: "open", token: "t"),
      ])
  }

  @Test func `a second tap of the same tag replaces its notification`() {
    var board = board(showing: "a", id: 5)
    let replaced = board.handle(.show(NotificationKey("b"), sampleNotification(), replacing: NotificationKey("a")))
    #expect(replaced.calls.map(\.replaces) == [5])
    #expect(board.answer(replaced, id: 5).reports == [.shown(NotificationKey("b"), at: .sample(id: 5))])

    let clicked = board.handle(.signal(.action("open"), id: 5, sender: ":1.7"))
    let done = clicked.timers.flatMap { board.handle(.timeout($0)) }
    #expect(done.reports == [.activated(NotificationKey("b"), action: "open", token: nil)])
  }

  /// The same link and text with another subject.
  private func other() -> Notification {
    var other = sampleNotification()
    other.subject = "https://other.example/"
    return other
  }

  @Test func `a notification with another subject is shown as new, and a late click is ignored`() {
    var board = board(showing: "a", id: 5)
    let replaced = board.handle(.show(NotificationKey("b"), other(), replacing: NotificationKey("a")))
    #expect(replaced.first == .closeNotification(.sample(id: 5)) && replaced.calls.map(\.replaces) == [0])
    for action in ["default", "open"] {
      #expect(board.handle(.signal(.action(action), id: 5, sender: ":1.7")).isEmpty)
    }
    let answered = board.answer(replaced, id: 6)
    #expect(answered.reports == [.shown(NotificationKey("b"), at: .sample(id: 6))])
    #expect(board.handle(.signal(.action("open"), id: 5, sender: ":1.7")).isEmpty)
  }

  @Test(arguments: ["default", "open"])
  func `a click on a notification that has just replaced another only shows it again`(action: String) {
    var board = board(showing: "a", id: 5)
    let swapped = board.answer(
      board.handle(.show(NotificationKey("b"), other(), replacing: NotificationKey("a"))), id: 6)
    let clicked = board.handle(.signal(.action(action), id: 6, sender: ":1.7"))
    #expect(clicked.first == .closeNotification(.sample(id: 6)) && clicked.calls.map(\.replaces) == [0])
    #expect(clicked.reports.isEmpty)
    _ = board.answer(clicked, id: 7)
    // The time-out of the first notification does not apply to the second.
    for timer in swapped.timers { _ = board.handle(.timeout(timer)) }
    let third = board.answer(board.handle(.signal(.action(action), id: 7, sender: ":1.7")), id: 8)
    #expect(third.reports == [.shown(NotificationKey("b"), at: .sample(id: 8))])
    for timer in third.timers { _ = board.handle(.timeout(timer)) }
    let done = board.handle(.signal(.action(action), id: 8, sender: ":1.7"))
    #expect(
      done.timers.flatMap { board.handle(.timeout($0)) }.reports
        == [.activated(NotificationKey("b"), action: "open", token: nil)])
  }

  @Test func `a double click presses no button of the notification that the first click shows`() {
    var board = board(showing: "a", id: 5)
    let clicked = board.handle(.signal(.action("open"), id: 5, sender: ":1.7"))
    #expect(clicked.timers.flatMap { board.handle(.timeout($0)) }.reports.count == 1)
    var next = other()
    next.takesPlaceOfClicked = true
    let up = board.answer(board.handle(.show(NotificationKey("a"), next, replacing: nil)), id: 6)
    let again = board.handle(.signal(.action("open"), id: 6, sender: ":1.7"))
    #expect(again.reports.isEmpty && again.calls.count == 1)
    let shown = board.answer(again, id: 7)
    for timer in up.timers + shown.timers { _ = board.handle(.timeout(timer)) }
    let done = board.handle(.signal(.action("open"), id: 7, sender: ":1.7"))
    #expect(done.timers.flatMap { board.handle(.timeout($0)) }.reports.count == 1)
  }

  @Test func `a replacement closed before the reply to Notify is reported, and a late click counts`()
    throws
  {
    var board = board(showing: "a", id: 5)
    let swap = board.handle(.show(NotificationKey("b"), other(), replacing: NotificationKey("a")))
    _ = board.handle(.signal(.closed(reason: 2), id: 6, sender: ":1.7"))
    let ends = board.answer(swap, id: 6).timers.flatMap { board.handle(.timeout($0)) }
    #expect(ends.reports == [.closed(NotificationKey("b"), .dismissed)])

    _ = board.put("c", id: 7)
    let up = board.answer(board.handle(.show(NotificationKey("d"), other(), replacing: NotificationKey("c"))), id: 8)
    _ = board.handle(.signal(.closed(reason: 2), id: 8, sender: ":1.7"))
    for timer in up.timers { _ = board.handle(.timeout(timer)) }
    let clicked = board.handle(.signal(.action("open"), id: 8, sender: ":1.7"))
    #expect(clicked.timers.flatMap { board.handle(.timeout($0)) }.reports.count == 1)
  }

  @Test func `a notification with another subject waits for the pending Notify`() {
    var board = board()
    let first = board.handle(.show(NotificationKey("a"), sampleNotification(), replacing: nil))
    #expect(board.handle(.show(NotificationKey("b"), other(), replacing: NotificationKey("a"))).isEmpty)
    _ = board.handle(.signal(.action("default"), id: 5, sender: ":1.7"))
    let second = board.answer(first, id: 5)
    #expect(second.first == .closeNotification(.sample(id: 5)) && second.calls.map(\.replaces) == [0])
    let answered = board.answer(second, id: 6)
    #expect(answered.reports == [.shown(NotificationKey("b"), at: .sample(id: 6))])
  }

  @Test func `a button is accepted only by its shown key, which no other program can guess`() {
    let suffixes = Suffixes()
    var board = NotificationBoard { suffixes.next() }
    _ = board.handle(.ownerChanged(":1.7"))
    _ = board.handle(.described(.sample(name: "mako")))
    let first = board.handle(.show(NotificationKey("a"), sampleNotification(), replacing: nil))
    #expect(first.calls.map(\.actions) == [["default", "Open", "open.1", "Open"]])
    _ = board.answer(first, id: 5)
    for guess in ["open", "open.", "open.2", "allow", ".1"] {
      #expect(board.handle(.signal(.action(guess), id: 5, sender: ":1.7")).isEmpty)
    }
    // LXQt keeps the old buttons when a notification is replaced.
    let same = board.handle(.show(NotificationKey("a"), sampleNotification(body: "More"), replacing: nil))
    #expect(same.calls.map(\.actions) == first.calls.map(\.actions))
    _ = board.answer(same, id: 5)
    let different = board.handle(.show(NotificationKey("a"), other(), replacing: nil))
    #expect(different.calls.map(\.actions) == [["default", "Open", "open.2", "Open"]])
    _ = board.answer(different, id: 6)
    #expect(board.handle(.signal(.action("open.1"), id: 6, sender: ":1.7")).isEmpty)
    #expect(!board.handle(.signal(.action("open.2"), id: 6, sender: ":1.7")).isEmpty)
  }

  @Test func `a click while the same notification is shown again counts`() {
    var board = board(showing: "a", id: 5)
    let again = board.handle(.show(NotificationKey("a"), sampleNotification(body: "Another text"), replacing: nil))
    #expect(again.calls.map(\.replaces) == [5])
    _ = board.handle(.signal(.token("t"), id: 5, sender: ":1.7"))
    _ = board.handle(.signal(.action("default"), id: 5, sender: ":1.7"))
    #expect(
      board.answer(again, id: 5).reports == [
        .shown(NotificationKey("a"), at: .sample(id: 5)), .activated(NotificationKey("a"), action: "open", token: "t"),
      ])
  }

  @Test func `a click does not answer another notification that the same tap shows meanwhile`() {
    var copying = sampleNotification("No app opens this link")
    copying.buttons = [NotificationButton(key: "copy", label: "Copy")]
    copying.defaultAction = copying.buttons[0]
    for (before, after) in [(copying, sampleNotification()), (sampleNotification("Open in A"), sampleNotification())] {
      var board = board()
      _ = board.answer(board.handle(.show(NotificationKey("a"), before, replacing: nil)), id: 5)
      let again = board.handle(.show(NotificationKey("a"), after, replacing: nil))
      _ = board.handle(.signal(.token("t"), id: 5, sender: ":1.7"))
      _ = board.handle(.signal(.action("default"), id: 5, sender: ":1.7"))
      let answered = board.answer(again, id: 6)
      #expect(answered.reports == [.shown(NotificationKey("a"), at: .sample(id: 6))])
      #expect(!answered.timers.contains { if case .token = $0 { true } else { false } })
    }
  }

  @Test(arguments: [("copy", "copy"), ("default", "default")])
  func `a click on the notification itself reports its default action`(key: String, reported: String) {
    var notification = sampleNotification()
    notification.buttons = [NotificationButton(key: "copy", label: "Copy")]
    // The default action may have a key that no button has.
    notification.defaultAction = NotificationButton(key: key, label: "Copy")
    var board = board()
    _ = board.answer(board.handle(.show(NotificationKey("a"), notification, replacing: nil)), id: 5)
    let clicked = board.handle(.signal(.action("default"), id: 5, sender: ":1.7"))
    let done = clicked.timers.flatMap { board.handle(.timeout($0)) }
    #expect(done.reports == [.activated(NotificationKey("a"), action: reported, token: nil)])
  }

  @Test func `the time-out of an earlier close does not end a later one`() throws {
    var board = board(showing: "a", id: 5)
    let first = try #require(board.handle(.signal(.closed(reason: 1), id: 5, sender: ":1.7")).timers.first)
    _ = board.put("b", id: 6, replacing: "a")
    let second = try #require(board.handle(.signal(.closed(reason: 2), id: 6, sender: ":1.7")).timers.first)

    #expect(board.handle(.timeout(first)).isEmpty)
    // So a late click is still accepted.
    #expect(board.handle(.signal(.token("t"), id: 6, sender: ":1.7")).isEmpty)
    #expect(board.handle(.timeout(second)).reports == [.closed(NotificationKey("b"), .dismissed)])
  }

  @Test func `a replacement of a closed notification is shown as new`() {
    var board = board(showing: "a", id: 5)
    _ = board.handle(.signal(.closed(reason: 2), id: 5, sender: ":1.7"))
    let actions = board.handle(.show(NotificationKey("b"), sampleNotification(), replacing: NotificationKey("a")))
    #expect(actions.calls.map(\.replaces) == [0])
  }

  @Test func `a click is not lost if a replacement arrives while its token is pending`() {
    var board = board(showing: "a", id: 5)
    let clicked = board.handle(.signal(.action("default"), id: 5, sender: ":1.7"))
    let shown = board.handle(.show(NotificationKey("b"), sampleNotification(), replacing: NotificationKey("a")))
    #expect(shown.calls.map(\.replaces) == [0])
    let done = clicked.timers.flatMap { board.handle(.timeout($0)) }
    #expect(done.reports == [.activated(NotificationKey("a"), action: "open", token: nil)])
  }

  @Test func `a notification that the caller closes is closed at once or when the server has shown it`() {
    var board = board(showing: "a", id: 5)
    #expect(board.handle(.close(NotificationKey("a"))) == [.closeNotification(.sample(id: 5))])
    #expect(board.handle(.signal(.closed(reason: 3), id: 5, sender: ":1.7")).isEmpty)

    let shown = board.handle(.show(NotificationKey("b"), sampleNotification(), replacing: nil))
    #expect(board.handle(.close(NotificationKey("b"))).isEmpty)
    #expect(board.answer(shown, id: 6) == [.closeNotification(.sample(id: 6))])
    #expect(board.handle(.close(NotificationKey("nobody"))).isEmpty)
  }

  @Test func `a refused replacement that was closed in the meantime leaves no notification`() {
    var board = board(showing: "a", id: 5)
    let replaced = board.handle(.show(NotificationKey("b"), sampleNotification(), replacing: NotificationKey("a")))
    #expect(board.handle(.close(NotificationKey("b"))).isEmpty)
    #expect(board.refuse(replaced) == [.closeNotification(.sample(id: 5))])
  }
}
