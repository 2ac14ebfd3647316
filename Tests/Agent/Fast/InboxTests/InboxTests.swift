import EventLoop
import Glibc
import NDEF
import Names
import Rig
import Testing

@testable import Inbox

struct InboxTests {
  private let inbox = Inbox(.memory, now: { sampleTime }, report: { _ in })

  @Test func `a tap is stored and returned unchanged`() async throws {
    let bare = Tap(
      TagRead(id: "b", time: 0, reader: "", technology: "", uid: [], bytes: []), uri: nil, title: "",
      receiver: TapReceiver())
    #expect(await inbox.receive(sampleTap("a")).isNew)
    #expect(await inbox.receive(bare).isNew)

    let stored = try await inbox.tap("a")
    #expect(stored == sampleTap("a").being(.received))
    #expect(try await inbox.tap("b") == bare.being(.received))
  }

  @Test func `an id is stored once and its state is kept`() async throws {
    #expect(await inbox.receive(sampleTap("a")).isNew)
    try await inbox.move("a", to: .shown)
    #expect(await !inbox.receive(sampleTap("a", message: [9])).isNew)
    #expect(await !inbox.refuse(sampleTap("a"), detail: "no").isNew)

    #expect(try await inbox.tap("a").state == .shown)
    #expect(try await inbox.tap("a").read.bytes == sampleTap("a").read.bytes)
    #expect(try await inbox.list().count == 1)
  }

  @Test func `a refused tap is stored as failed with the reason`() async throws {
    #expect(await inbox.refuse(sampleTap("a"), detail: "the scheme is never opened").isNew)
    #expect(try await inbox.tap("a").state == .failedOffScreen)
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
    let next = InboxQuery(states: TapState.named("failed"), limit: 2, beforeSequence: page.last?.sequence)
    #expect(try await inbox.list(next).map(\.id) == ["b", "a"])
  }

  @Test func `a list with messages ends at the size limit, and has at least one tap`() async throws {
    for (id, size) in [("a", 10), ("b", 4), ("c", 3), ("d", 3)] {
      #expect(await inbox.receive(sampleTap(id, message: [UInt8](repeating: 1, count: size))).isNew)
    }
    let first = try await inbox.list(InboxQuery(), bytes: 7)
    #expect(first.map(\.stored.id) == ["d", "c"] && first.map(\.stored.read.bytes.count) == [3, 3])
    let second = try await inbox.list(InboxQuery(beforeSequence: first.last?.sequence), bytes: 7)
    #expect(second.map(\.stored.id) == ["b"])
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

  @Test func `after a restart the newest taps are shown, and older ones expire or stay failed`() async throws {
    for index in 0..<6 { _ = await inbox.receive(sampleTap("\(index)")) }
    try await inbox.move("1", to: .opening)
    try await inbox.move("1", to: .failed, reason: TapReason(.notStarted, detail: "it hangs"))
    let resumption = await inbox.resume(maximum: 3)
    #expect(resumption.waiting.map(\.id) == ["3", "4", "5"])
    #expect(resumption.expired == ["0", "2"])
    for id in resumption.expired { #expect(try await inbox.tap(id).state == .expired) }
    #expect(try await inbox.tap("1").state == .failedOffScreen)
    #expect(try await inbox.tap("0").reason == TapReason(.madeRoom))
    #expect(try await inbox.tap("1").reason == TapReason(.notStarted, detail: "it hangs"))
  }

  @Test func `the handler that opens a tap is stored`() async throws {
    _ = await inbox.receive(sampleTap("a"))
    try await inbox.move(
      "a", to: .opening, receiver: TapReceiver(handler: "org.example.Other.desktop", rule: "a", program: "/p"))
    let receiver = TapReceiver(handler: "org.example.Other.desktop", rule: "a", program: "/p")
    #expect(try await inbox.tap("a").receiver == receiver)
    try await inbox.move("a", to: .failed)
    #expect(try await inbox.list().map(\.receiver) == [receiver])
  }

  @Test func `an inbox without history drops a failed tap with its notification, and time limits apply`() async throws {
    let time = Locked(sampleTime)
    let inbox = Inbox(
      .memoryWhileOpen(), retention: Retention(days: 1), now: { time.withLock(\.self) }, report: { _ in })
    for id in ["failed", "open"] { _ = await inbox.receive(sampleTap(id)) }
    for state in [TapState.opening, .failed] { try await inbox.move("failed", to: state) }
    try await inbox.move("failed", to: .failedOffScreen)
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

struct TapStateTests {
  /// Every pair of states: the listed transitions are allowed and all others are rejected.
  static let allowed: [TapState: Set<TapState>] = [
    .received: [.shown, .opening, .dismissed, .failed, .failedOffScreen, .expired],
    .shown: [.opening, .dismissed, .failed, .failedOffScreen, .expired],
    .opening: [.delivered, .failed], .delivered: [.failed], .dismissed: [.opening, .delivered],
    .failed: [.opening, .dismissed, .delivered, .failed, .failedOffScreen],
    .failedOffScreen: [.opening, .dismissed, .delivered, .failedOffScreen],
    .expired: [.opening, .dismissed, .expired],
  ]

  /// The shortest way from a new tap to each state.
  static let ways: [TapState: [TapState]] = [
    .received: [], .shown: [.shown], .opening: [.opening], .delivered: [.opening, .delivered],
    .dismissed: [.dismissed], .failed: [.failed], .failedOffScreen: [.failed, .failedOffScreen], .expired: [.expired],
  ]

  @Test(arguments: TapState.allCases, TapState.allCases)
  func `a transition in the table is stored, and any other is an error`(
    from: TapState, to: TapState
  ) async throws {
    let inbox = Inbox(.memory, now: { sampleTime }, report: { _ in })
    _ = await inbox.receive(sampleTap("a"))
    for state in try #require(Self.ways[from]) { try await inbox.move("a", to: state) }

    if try #require(Self.allowed[from]).contains(to) {
      try await inbox.move("a", to: to, reason: TapReason(.handlerFailed, detail: "why"))
      #expect(try await inbox.tap("a").state == to)
      #expect(try await inbox.tap("a").reason == TapReason(.handlerFailed, detail: "why"))
    } else {
      let error = await #expect(throws: InboxError.self) { try await inbox.move("a", to: to) }
      #expect(error?.code == .illegalTransition)
      #expect(try await inbox.tap("a").state == from)
    }
  }

  @Test func `a failed tap has one name, on the screen and off it`() {
    #expect(TapState.named("failed") == [.failed, .failedOffScreen] && TapState.named("expired") == [.expired])
    #expect(TapState.named("failed-off-screen").isEmpty)
    #expect(TapState.allCases.filter { $0.name != $0.rawValue } == [.failedOffScreen])
  }

  @Test func `the open states are those that a crash leaves unfinished`() {
    #expect(Set(TapState.allCases.filter(\.isOpen)) == [.received, .shown, .opening])
  }
}

/// An inbox without history: it keeps only the taps that are on the screen.
struct NothingKeptTests {
  private let temporary: TemporaryDirectory
  private let notices = Reports()
  private let reports = Reports()

  init() throws { temporary = try TemporaryDirectory() }

  private func keeping() -> Inbox {
    Inbox(.file(directory: temporary.path, name: "inbox.sqlite"), now: { sampleTime }, report: { _ in })
  }

  private func keepingNothing() -> Inbox {
    Inbox(
      .memoryWhileOpen(directory: temporary.path, name: "inbox.sqlite"), now: { sampleTime }, notice: notices.report,
      report: reports.report)
  }

  private func isThere(_ name: String) -> Bool { access(temporary.path + "/" + name, F_OK) == 0 }

  @Test func `an earlier history is removed with a notice`() async throws {
    let before = keeping()
    _ = await before.refuse(sampleTap("a"), detail: "")
    // Files that a killed process leaves.
    for suffix in ["-wal", "-shm"] { try temporary.write("what was on tags", to: "left" + suffix) }
    await before.close()
    for suffix in ["-wal", "-shm"] { rename(temporary.file("left" + suffix), temporary.file("inbox.sqlite" + suffix)) }
    try temporary.write("what was on tags", to: "inbox.sqlite.damaged-7")
    let inbox = keepingNothing()
    #expect(await inbox.receive(sampleTap("b")).isNew)
    for suffix in ["", "-wal", "-shm", ".damaged-7"] { #expect(!isThere("inbox.sqlite" + suffix), "\(suffix)") }
    #expect(notices.all.count == 1 && notices.all.first?.contains("inbox.sqlite was removed") == true)
    #expect(reports.all.isEmpty)
    await inbox.close()
    _ = await keepingNothing().receive(sampleTap("c"))
    #expect(notices.all.count == 1)
  }

  @Test func `a history that another agent uses stays until that agent ends`() async throws {
    let other = keeping()
    _ = await other.receive(sampleTap("a"))
    let inbox = keepingNothing()
    for _ in 0..<2 { #expect(await inbox.retryFile(maximum: 10) == nil) }
    #expect(isThere("inbox.sqlite"))
    #expect(reports.all.count == 1 && reports.all.first?.contains("in use by another process") == true)
    await other.close()
    _ = await inbox.retryFile(maximum: 10)
    #expect(!isThere("inbox.sqlite"))
    #expect(notices.all.count == 1)
  }

  @Test func `the next run gets only the notifications on the screen`() async throws {
    let first = keepingNothing()
    for (number, id) in ["waits", "opened", "gone"].enumerated() {
      _ = await first.receive(sampleTap(id))
      try await first.show(id, at: place(UInt32(number)))
    }
    // Its notification is closed only after the tap was delivered.
    for state in [TapState.opening, .delivered] { try await first.move("opened", to: state) }
    await first.leave([place(2)])
    await first.showOther(at: place(3))
    #expect(
      try String(decoding: readFile(temporary.file("inbox.sqlite.screen")), as: UTF8.self)
        == "bus :1.7 0\nbus :1.7 1\nbus :1.7 3\n")
    // Closing has the same effect as a kill here.
    await first.close()

    let second = keepingNothing()
    let left = await second.resume(maximum: 10)
    #expect(left.waiting.isEmpty && left.places.isEmpty)
    #expect(Set(left.otherPlaces) == [place(0), place(1), place(3)])
    await second.leave(left.otherPlaces)
    #expect(!isThere("inbox.sqlite.screen"))
  }

  @Test func `a tap on the screen is cleared on request, unless it is being opened`() async throws {
    let inbox = keepingNothing()
    for (number, id) in ["a", "b", "opening"].enumerated() {
      _ = await inbox.receive(sampleTap(id))
      try await inbox.show(id, at: place(UInt32(number)))
    }
    try await inbox.move("opening", to: .opening)
    let onScreen: Set = ["a", "b", "opening"]
    #expect(try await inbox.clear(InboxClearing(onScreen: onScreen)).isEmpty)
    #expect(try await inbox.clear(InboxClearing(ids: ["a"], onScreen: onScreen, includesOnScreen: true)) == ["a"])
    #expect(try await inbox.clear(InboxClearing(onScreen: onScreen, includesOnScreen: true)) == ["b"])
    #expect(try await inbox.list().map(\.id) == ["opening"])
    #expect(await !inbox.receive(sampleTap("a")).isNew)
    // Their notifications are still on the screen.
    #expect(await inbox.resume(maximum: 10).otherPlaces == [place(0), place(1)])
  }

  @Test func `invalid lines in the file of notification places are ignored`() async throws {
    try temporary.write(
      "bus :1.7 1\nbus :1.7 -1\n\nbus :1.7\nbus :1.7 1 2\nbus :1.7 99999999999\n\u{0}", to: "inbox.sqlite.screen")
    #expect(await keepingNothing().resume(maximum: 10).otherPlaces == [place(1)])
  }
}
