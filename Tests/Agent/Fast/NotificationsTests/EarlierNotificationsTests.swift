import Testing

@testable import Notifications

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
