import Names
import Testing

@testable import Inbox

/// The notification that shows a tap.
struct ScreenPlaceTests {
  private let inbox = Inbox(.memory, now: { sampleTime }, report: { _ in })

  @Test func `a tap with a notification is shown, and the notification's previous tap loses its place`() async throws {
    for id in ["a", "b"] { _ = await inbox.receive(sampleTap(id)) }
    try await inbox.show("a", at: place(5))
    #expect(try await inbox.tap("a").state == .shown)
    #expect(try await inbox.tap("a").place == place(5))
    try await inbox.move("a", to: .dismissed, reason: TapReason(.tappedAgain))
    try await inbox.show("b", at: place(5))
    #expect(try await inbox.tap("a").place == nil)
    #expect(try await inbox.tap("b").place == place(5))
    await inbox.leave([place(4), NotificationPlace(bus: "bus", owner: ":1.8", id: 5)])
    #expect(try await inbox.tap("b").place == place(5))
    await inbox.leave([place(5)])
    #expect(try await inbox.tap("b").place == nil)
    #expect(try await inbox.tap("b").state == .shown)
    await #expect(throws: InboxError.self) { try await inbox.show("nobody", at: place(6)) }
  }

  @Test func `the next run gets every notification that may be on the screen, for any tap state`() async throws {
    let ways: [(String, [TapState])] = [
      ("waits", []), ("opened", [.opening]), ("over", [.opening, .delivered]), ("dismissed", [.dismissed]),
    ]
    for (number, (id, way)) in ways.enumerated() {
      _ = await inbox.receive(sampleTap(id))
      try await inbox.show(id, at: place(UInt32(number)))
      for state in way { try await inbox.move(id, to: state) }
    }
    _ = await inbox.receive(sampleTap("nowhere"))
    let left = await inbox.resume(maximum: 10)
    #expect(left.waiting.map(\.id) == ["waits", "opened", "nowhere"])
    #expect(left.places == ["waits": place(0), "opened": place(1), "over": place(2), "dismissed": place(3)])
  }

  @Test func `a notification without a tap is returned until it is closed`() async throws {
    await inbox.showOther(at: place(1))
    await inbox.showOther(at: place(2))
    _ = await inbox.refuse(sampleTap("a"), detail: "")
    try await inbox.show("a", at: place(3))
    #expect(try await inbox.clear(InboxClearing()) == ["a"])
    #expect(await inbox.resume(maximum: 10).otherPlaces == [place(1), place(2), place(3)])
    await inbox.leave([place(1), place(3)])
    #expect(await inbox.resume(maximum: 10).otherPlaces == [place(2)])
    // A notification that shows a tap again is no longer one without a tap.
    _ = await inbox.receive(sampleTap("b"))
    try await inbox.show("b", at: place(2))
    #expect(await inbox.resume(maximum: 10).otherPlaces == [])
  }

  @Test func `at most 256 notifications without a tap are stored, the newest ones`() async throws {
    for number in 0..<300 { await inbox.showOther(at: place(UInt32(number))) }
    #expect(await inbox.resume(maximum: 10).otherPlaces == (44..<300).map { place($0) })
  }
}
