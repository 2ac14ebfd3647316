import EventLoop
import Testing

@testable import Inbox

struct InboxTests {
  private let inbox = Inbox(.memory, now: { sampleTime }, report: { _ in })

  @Test func `a tap is stored and returned unchanged`() async throws {
    let bare = Tap(
      id: "b", time: Timestamp(microseconds: 0), message: [], technology: "", uri: nil, title: "", handler: nil)
    #expect(await inbox.receive(sampleTap("a")).isNew)
    #expect(await inbox.receive(bare).isNew)

    let stored = try await inbox.tap("a")
    #expect(stored == StoredTap(tap: sampleTap("a"), state: .received, changed: sampleTime))
    #expect(try await inbox.tap("b").tap == bare)
  }

  @Test func `an id is stored once and its state is kept`() async throws {
    #expect(await inbox.receive(sampleTap("a")).isNew)
    try await inbox.move("a", to: .shown)
    #expect(await !inbox.receive(sampleTap("a", message: [9])).isNew)
    #expect(await !inbox.refuse(sampleTap("a"), detail: "no").isNew)

    #expect(try await inbox.tap("a").state == .shown)
    #expect(try await inbox.tap("a").tap.message == sampleTap("a").message)
    #expect(try await inbox.list().count == 1)
  }

  @Test func `a refused tap is stored as failed with the reason`() async throws {
    #expect(await inbox.refuse(sampleTap("a"), detail: "the scheme is never opened").isNew)
    #expect(try await inbox.tap("a").state == .failed)
    #expect(try await inbox.tap("a").reason == TapReason(.refused, detail: "the scheme is never opened"))
  }

  @Test func `an inbox without history keeps a tap while it may be opened`() async throws {
    let inbox = Inbox(.memoryWhileOpen(), now: { sampleTime }, report: { _ in })
    for id in ["a", "b", "c"] { #expect(await inbox.receive(sampleTap(id)).isNew) }
    #expect(await inbox.refuse(sampleTap("refused"), detail: "no").isNew)
    try await inbox.move("a", to: .dismissed)
    try await inbox.move("b", to: .opening)
    try await inbox.move("b", to: .failed)
    #expect(try await inbox.list().map(\.id) == ["c", "b"])
    try await inbox.move("b", to: .opening)
    try await inbox.move("b", to: .delivered)
    #expect(try await inbox.list().map(\.id) == ["c"])
  }

  @Test func `an unknown id is an error that names it`() async throws {
    let read = await #expect(throws: InboxError.self) { try await inbox.tap("nobody") }
    #expect(read?.code == .unknownTap)
    #expect(read?.message.contains("nobody") == true)
    let moved = await #expect(throws: InboxError.self) { try await inbox.move("nobody", to: .shown) }
    #expect(moved?.code == .unknownTap)
  }

  @Test func `a list continues where it ended, although taps were removed`() async throws {
    for id in ["a", "b", "c", "d"] { #expect(await inbox.refuse(sampleTap(id), detail: "no").isNew) }
    let page = try await inbox.list(InboxQuery(limit: 2))
    #expect(page.map(\.id) == ["d", "c"])
    #expect(try await inbox.clear(InboxClearing(ids: ["c"])) == ["c"])
    let next = InboxQuery(states: [.failed], limit: 2, beforeSequence: page.last?.sequence)
    #expect(try await inbox.list(next).map(\.id) == ["b", "a"])
  }

  @Test func `a list with messages ends at the size limit, and has at least one tap`() async throws {
    for (id, size) in [("a", 10), ("b", 4), ("c", 3), ("d", 3)] {
      #expect(await inbox.receive(sampleTap(id, message: [UInt8](repeating: 1, count: size))).isNew)
    }
    let first = try await inbox.list(InboxQuery(), bytes: 7)
    #expect(first.map(\.stored.tap.id) == ["d", "c"] && first.map(\.stored.tap.message.count) == [3, 3])
    let second = try await inbox.list(InboxQuery(beforeSequence: first.last?.sequence), bytes: 7)
    #expect(second.map(\.stored.tap.id) == ["b"])
    let third = try await inbox.list(InboxQuery(beforeSequence: second.last?.sequence), bytes: 7)
    #expect(third.map(\.stored) == [try await inbox.tap("a")])
    #expect(try await inbox.list(InboxQuery(beforeSequence: third.last?.sequence), bytes: 7).isEmpty)
  }

  @Test func `a list is bounded, ordered and filtered`() async throws {
    for index in 0..<5 { _ = await inbox.receive(sampleTap("\(index)")) }
    try await inbox.move("3", to: .shown)

    #expect(try await inbox.list(InboxQuery(limit: 2)).map(\.id) == ["4", "3"])
    #expect(try await inbox.list(InboxQuery(newestFirst: false, limit: 2)).map(\.id) == ["0", "1"])
    #expect(try await inbox.list(InboxQuery(states: [.shown])).map(\.id) == ["3"])
    #expect(try await inbox.list(InboxQuery(states: [])).isEmpty)
    #expect(InboxQuery(limit: .max).limit == InboxQuery.maximumLimit)
    #expect(InboxQuery(limit: -1).limit == 1)
  }

  @Test func `a long list is read in pages, each before the last tap of the previous page`() async throws {
    for index in 0..<7 {
      _ = await inbox.receive(sampleTap("\(index)"))
      if index % 2 == 0 { try await inbox.move("\(index)", to: .expired) }
    }
    #expect(try await inbox.list(InboxQuery(limit: 3)).map(\.id) == ["6", "5", "4"])
    #expect(try await inbox.list(InboxQuery(limit: 3, before: "4")).map(\.id) == ["3", "2", "1"])
    #expect(try await inbox.list(InboxQuery(before: "0")).isEmpty)
    #expect(try await inbox.list(InboxQuery(states: [.expired], limit: 2, before: "5")).map(\.id) == ["4", "2"])
    #expect(
      try await inbox.list(InboxQuery(states: [.expired, .received], limit: 3, before: "5")).map(\.id)
        == ["4", "3", "2"])
    let error = await #expect(throws: InboxError.self) { try await inbox.list(InboxQuery(before: "nobody")) }
    #expect(error?.code == .unknownTap)
  }

  @Test func `taps are found by the beginning of their ids`() async throws {
    for id in ["ab-1", "ab-2", "abc", "b"] { _ = await inbox.receive(sampleTap(id)) }
    #expect(await inbox.list(idPrefix: "ab", limit: 10).map(\.id) == ["ab-1", "ab-2", "abc"])
    #expect(await inbox.list(idPrefix: "ab-", limit: 1).map(\.id) == ["ab-1"])
    #expect(await inbox.list(idPrefix: "abc", limit: 2).map(\.id) == ["abc"])
    #expect(await inbox.list(idPrefix: "c", limit: 2).isEmpty)
  }

  @Test func `after a restart waiting taps are shown again, and an opening tap has failed`() async throws {
    let ways: [(String, [TapState])] = [
      ("received", []), ("shown", [.shown]), ("opening", [.shown, .opening]),
      ("delivered", [.opening, .delivered]), ("dismissed", [.dismissed]), ("failed", [.opening, .failed]),
    ]
    for (id, way) in ways {
      _ = await inbox.receive(sampleTap(id))
      for state in way {
        try await inbox.move(
          id, to: state, reason: state == .failed ? TapReason(.notStarted, detail: "it hangs") : .none)
      }
    }

    _ = await inbox.refuse(sampleTap("refused", uri: nil), detail: "no")
    let resumed = await inbox.resume(maximum: 10).waiting
    #expect(resumed.map(\.id) == ["received", "shown", "opening", "failed"])
    #expect(resumed.map(\.state) == [.received, .shown, .failed, .failed])
    #expect(resumed.map(\.reason.code.rawValue) == ["", "", "ended-while-opening", "not-started"])
    #expect(try await inbox.tap("opening").state == .failed)
    #expect(try await inbox.tap("shown").state == .shown)
  }

  @Test func `after a restart the newest taps are shown, and older waiting ones expire`() async throws {
    for index in 0..<6 { _ = await inbox.receive(sampleTap("\(index)")) }
    try await inbox.move("1", to: .opening)
    try await inbox.move("1", to: .failed, reason: TapReason(.notStarted, detail: "it hangs"))
    let resumption = await inbox.resume(maximum: 3)
    #expect(resumption.waiting.map(\.id) == ["3", "4", "5"])
    #expect(resumption.expired == ["0", "1", "2"])
    for id in resumption.expired { #expect(try await inbox.tap(id).state == .expired) }
    #expect(try await inbox.tap("0").reason == TapReason(.madeRoom))
    #expect(try await inbox.tap("1").reason == TapReason(.notStarted, detail: "it hangs"))
  }

  @Test func `the handler that opens a tap is stored`() async throws {
    _ = await inbox.receive(sampleTap("a"))
    try await inbox.move("a", to: .opening, handler: "org.example.Other.desktop")
    #expect(try await inbox.tap("a").tap.handler == "org.example.Other.desktop")
    try await inbox.move("a", to: .failed)
    #expect(try await inbox.list().map(\.handler) == ["org.example.Other.desktop"])
  }

  @Test func `an inbox without history drops a failed tap with its notification, and time limits apply`() async throws {
    let time = Locked(sampleTime)
    let inbox = Inbox(
      .memoryWhileOpen(), retention: Retention(days: 1), now: { time.withLock(\.self) }, report: { _ in })
    for id in ["failed", "open"] { _ = await inbox.receive(sampleTap(id)) }
    for state in [TapState.opening, .failed] { try await inbox.move("failed", to: state) }
    try await inbox.move("failed", to: .expired)
    #expect(try await inbox.list().map(\.id) == ["open"])
    time.withLock { $0 = Timestamp(microseconds: $0.microseconds + 2 * 86_400_000_000) }
    #expect(await inbox.prune() == ["open"])
    #expect(try await inbox.list().isEmpty)
  }

  @Test func `an inbox without history still recognizes the last finished taps`() async throws {
    let inbox = Inbox(.memoryWhileOpen(), now: { sampleTime }, report: { _ in })
    #expect(await inbox.refuse(sampleTap("refused"), detail: "no").isNew)
    #expect(await !inbox.refuse(sampleTap("refused"), detail: "no").isNew)
    for index in 0..<64 {
      #expect(await inbox.receive(sampleTap("\(index)")).isNew)
      try await inbox.move("\(index)", to: .dismissed)
    }
    for index in 0..<64 { #expect(await !inbox.receive(sampleTap("\(index)")).isNew) }
    #expect(await inbox.refuse(sampleTap("refused"), detail: "no").isNew, "the inbox remembers 64 finished taps")
    #expect(try await inbox.list().isEmpty)
  }
}
