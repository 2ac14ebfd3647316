import Synchronization
import Testing

@testable import Inbox

struct InboxTests {
  @Test func `a tap comes back as it went in`() async throws {
    let inbox = Inbox(.memory, now: { sampleTime }, report: { _ in })
    let bare = Tap(
      id: "b", time: Timestamp(microseconds: 0), message: [], technology: "", uri: nil, title: "", handler: nil)
    #expect(try await inbox.receive(sampleTap("a")).isNew)
    #expect(try await inbox.receive(bare).isNew)

    let stored = try await inbox.tap("a")
    #expect(stored == StoredTap(tap: sampleTap("a"), state: .received, changed: sampleTime, reason: ""))
    #expect(try await inbox.tap("b").tap == bare)
  }

  @Test func `the same id is stored once and its state is kept`() async throws {
    let inbox = Inbox(.memory, now: { sampleTime }, report: { _ in })
    #expect(try await inbox.receive(sampleTap("a")).isNew)
    try await inbox.move("a", to: .shown)
    #expect(try await !inbox.receive(sampleTap("a", message: [9])).isNew)
    #expect(try await !inbox.refuse(sampleTap("a"), reason: "no").isNew)

    #expect(try await inbox.tap("a").state == .shown)
    #expect(try await inbox.tap("a").tap.message == sampleTap("a").message)
    #expect(try await inbox.list().count == 1)
  }

  @Test func `a tap that nobody may open is stored as failed with the reason`() async throws {
    let inbox = Inbox(.memory, now: { sampleTime }, report: { _ in })
    #expect(try await inbox.refuse(sampleTap("a"), reason: "the scheme is never opened").isNew)
    #expect(try await inbox.tap("a").state == .failed)
    #expect(try await inbox.tap("a").reason == "the scheme is never opened")
  }

  @Test func `where nothing is kept a tap is there while it may be opened`() async throws {
    let inbox = Inbox(.memoryWhileOpen, now: { sampleTime }, report: { _ in })
    for id in ["a", "b", "c"] { #expect(try await inbox.receive(sampleTap(id)).isNew) }
    #expect(try await inbox.refuse(sampleTap("refused"), reason: "no").isNew)
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
      ("delivered", [.opening, .delivered]), ("dismissed", [.dismissed]), ("failed", [.opening, .failed]),
    ]
    for (id, way) in ways {
      _ = try await inbox.receive(sampleTap(id))
      for state in way { try await inbox.move(id, to: state, reason: state == .failed ? "it hangs" : "") }
    }

    _ = try await inbox.refuse(sampleTap("refused", uri: nil), reason: "no")
    let resumed = try await inbox.resume(reason: "it may have been opened", maximum: 10).waiting
    #expect(resumed.map(\.id) == ["received", "shown", "opening", "failed"])
    #expect(resumed.map(\.state) == [.received, .shown, .failed, .failed])
    #expect(resumed.map(\.reason) == ["", "", "it may have been opened", "it hangs"])
    #expect(try await inbox.tap("opening").state == .failed)
    #expect(try await inbox.tap("shown").state == .shown)
  }

  @Test func `of what a restart finds the newest are shown, and older ones that wait expire`() async throws {
    let inbox = Inbox(.memory, now: { sampleTime }, report: { _ in })
    for index in 0..<6 { _ = try await inbox.receive(sampleTap("\(index)")) }
    for state in [TapState.opening, .failed] { try await inbox.move("1", to: state) }
    let resumption = try await inbox.resume(reason: "", maximum: 3)
    #expect(resumption.waiting.map(\.id) == ["3", "4", "5"])
    #expect(resumption.expired == ["0", "2"])
    #expect(try await inbox.tap("0").state == .expired)
    #expect(try await inbox.tap("1").state == .failed)
  }

  @Test func `who opens a tap is stored with its opening`() async throws {
    let inbox = Inbox(.memory, now: { sampleTime }, report: { _ in })
    _ = try await inbox.receive(sampleTap("a"))
    try await inbox.move("a", to: .opening, handler: "org.example.Other.desktop")
    #expect(try await inbox.tap("a").tap.handler == "org.example.Other.desktop")
    try await inbox.move("a", to: .failed)
    #expect(try await inbox.list().map(\.handler) == ["org.example.Other.desktop"])
  }

  @Test func `where nothing is kept a failed tap goes with its notification, and its time ends for good`() async throws
  {
    let time = Mutex(sampleTime)
    let inbox = Inbox(
      .memoryWhileOpen, retention: Retention(days: 1), now: { time.withLock(\.self) }, report: { _ in })
    for id in ["failed", "open"] { _ = try await inbox.receive(sampleTap(id)) }
    for state in [TapState.opening, .failed] { try await inbox.move("failed", to: state) }
    for id in ["failed", "open"] { try await inbox.leaveScreen(id) }
    #expect(try await inbox.list().map(\.id) == ["open"])
    time.withLock { $0 = Timestamp(microseconds: $0.microseconds + 2 * 86_400_000_000) }
    #expect(try await inbox.prune() == ["open"])
    #expect(try await inbox.list().isEmpty)

    let keeping = Inbox(.memory, now: { sampleTime }, report: { _ in })
    _ = try await keeping.receive(sampleTap("a"))
    for state in [TapState.opening, .failed] { try await keeping.move("a", to: state) }
    try await keeping.leaveScreen("a")
    #expect(try await keeping.tap("a").state == .failed)
  }

  @Test func `where nothing is kept the last taps that are over are still known`() async throws {
    let inbox = Inbox(.memoryWhileOpen, now: { sampleTime }, report: { _ in })
    #expect(try await inbox.refuse(sampleTap("refused"), reason: "no").isNew)
    #expect(try await !inbox.refuse(sampleTap("refused"), reason: "no").isNew)
    for index in 0..<64 {
      #expect(try await inbox.receive(sampleTap("\(index)")).isNew)
      try await inbox.move("\(index)", to: .dismissed)
    }
    for index in 0..<64 { #expect(try await !inbox.receive(sampleTap("\(index)")).isNew) }
    #expect(try await inbox.refuse(sampleTap("refused"), reason: "no").isNew, "64 are remembered, and no more")
    #expect(try await inbox.list().isEmpty)
  }
}
