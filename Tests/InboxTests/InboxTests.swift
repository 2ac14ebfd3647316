import Testing

@testable import Inbox

struct InboxTests {
  @Test func `a tap comes back as it went in`() async throws {
    let inbox = Inbox(.memory, now: { sampleTime }, report: { _ in })
    let bare = Tap(
      id: "b", time: Timestamp(microseconds: 0), message: [], technology: "", uri: nil, title: "", handler: nil)
    #expect(try await inbox.receive(sampleTap("a")))
    #expect(try await inbox.receive(bare))

    let stored = try await inbox.tap("a")
    #expect(stored == StoredTap(tap: sampleTap("a"), state: .received, changed: sampleTime, reason: ""))
    #expect(try await inbox.tap("b").tap == bare)
  }

  @Test func `the same id is stored once and its state is kept`() async throws {
    let inbox = Inbox(.memory, now: { sampleTime }, report: { _ in })
    #expect(try await inbox.receive(sampleTap("a")))
    try await inbox.move("a", to: .shown)
    #expect(try await !inbox.receive(sampleTap("a", message: [9])))
    #expect(try await !inbox.refuse(sampleTap("a"), reason: "no"))

    #expect(try await inbox.tap("a").state == .shown)
    #expect(try await inbox.tap("a").tap.message == sampleTap("a").message)
    #expect(try await inbox.list().count == 1)
  }

  @Test func `a tap that nobody may open is stored as failed with the reason`() async throws {
    let inbox = Inbox(.memory, now: { sampleTime }, report: { _ in })
    #expect(try await inbox.refuse(sampleTap("a"), reason: "the scheme is never opened"))
    #expect(try await inbox.tap("a").state == .failed)
    #expect(try await inbox.tap("a").reason == "the scheme is never opened")
  }

  @Test func `where nothing is kept a tap is there while it may be opened`() async throws {
    let inbox = Inbox(.memoryWhileOpen, now: { sampleTime }, report: { _ in })
    for id in ["a", "b", "c"] { #expect(try await inbox.receive(sampleTap(id))) }
    #expect(try await inbox.refuse(sampleTap("refused"), reason: "no"))
    try await inbox.move("a", to: .dismissed)
    try await inbox.move("b", to: .opening)
    try await inbox.move("b", to: .failed)
    #expect(try await inbox.list().map(\.id) == ["c", "b"])
    try await inbox.move("b", to: .opening)
    try await inbox.move("b", to: .delivered)
    #expect(try await inbox.list().map(\.id) == ["c"])
  }

  @Test func `an id that is not there is an error that names it`() async throws {
    let inbox = Inbox(.memory, now: { sampleTime }, report: { _ in })
    let read = await #expect(throws: InboxError.self) { try await inbox.tap("nobody") }
    #expect(read?.code == .unknownTap)
    #expect(read?.message.contains("nobody") == true)
    let moved = await #expect(throws: InboxError.self) { try await inbox.move("nobody", to: .shown) }
    #expect(moved?.code == .unknownTap)
  }

  @Test func `a list is bounded, ordered and filtered`() async throws {
    let inbox = Inbox(.memory, now: { sampleTime }, report: { _ in })
    for index in 0..<5 { _ = try await inbox.receive(sampleTap("\(index)")) }
    try await inbox.move("3", to: .shown)

    #expect(try await inbox.list(InboxQuery(limit: 2)).map(\.id) == ["4", "3"])
    #expect(try await inbox.list(InboxQuery(newestFirst: false, limit: 2)).map(\.id) == ["0", "1"])
    #expect(try await inbox.list(InboxQuery(states: [.shown])).map(\.id) == ["3"])
    #expect(try await inbox.list(InboxQuery(states: [])).isEmpty)
    #expect(InboxQuery(limit: .max).limit == InboxQuery.maximumLimit)
    #expect(InboxQuery(limit: -1).limit == 1)
  }

  @Test func `what a restart finds is shown again, and what was being opened is failed`() async throws {
    let inbox = Inbox(.memory, now: { sampleTime }, report: { _ in })
    let ways: [(String, [TapState])] = [
      ("received", []), ("shown", [.shown]), ("opening", [.shown, .opening]),
      ("delivered", [.opening, .delivered]), ("dismissed", [.dismissed]), ("failed", [.failed]),
    ]
    for (id, way) in ways {
      _ = try await inbox.receive(sampleTap(id))
      for state in way { try await inbox.move(id, to: state) }
    }

    let resumed = try await inbox.resume(reason: "it may have been opened")
    #expect(resumed.map(\.id) == ["received", "shown", "opening"])
    #expect(resumed.map(\.state) == [.received, .shown, .failed])
    #expect(resumed.last?.reason == "it may have been opened")
    #expect(try await inbox.tap("opening").state == .failed)
    #expect(try await inbox.tap("shown").state == .shown)
  }
}
