import EventLoop
import Testing
import TestSupport

@testable import Inbox

struct RetentionTests {
  @Test func `finished taps go by age`() async throws {
    let inbox = Inbox(.memory, retention: Retention(days: 30), now: { sampleTime }, report: { _ in })
    _ = await inbox.receive(sampleTap("old", time: sampleTime.before(days: 31)))
    _ = await inbox.receive(sampleTap("young", time: sampleTime.before(days: 29)))
    for id in ["old", "young"] { try await inbox.move(id, to: .dismissed) }

    #expect(await inbox.prune() == [])
    #expect(try await inbox.list().map(\.id) == ["young"])
  }

  @Test func `the oldest finished taps go by number, at once and without a prune`() async throws {
    let inbox = Inbox(.memory, retention: Retention(maximumTaps: 3), now: { sampleTime }, report: { _ in })
    for index in 0..<6 {
      _ = await inbox.receive(sampleTap("\(index)"))
      try await inbox.move("\(index)", to: .dismissed)
    }
    #expect(try await inbox.list().map(\.id) == ["5", "4", "3"])
  }

  @Test func `the oldest that wait go by number too, at once, and are named`() async throws {
    let inbox = Inbox(.memory, retention: Retention(maximumTaps: 3), now: { sampleTime }, report: { _ in })
    _ = await inbox.receive(sampleTap("opening"))
    try await inbox.move("opening", to: .opening)
    for index in 0..<2 { #expect(await inbox.receive(sampleTap("\(index)")).expired == []) }
    try await inbox.move("1", to: .shown)
    for index in 2..<200 {
      #expect(await inbox.receive(sampleTap("\(index)")) == Receipt(isNew: true, expired: ["\(index - 2)"]))
    }
    #expect(try await inbox.list().map(\.id) == ["199", "198", "opening"])
    #expect(await !inbox.receive(sampleTap("197")).isNew)
    #expect(await inbox.prune() == [])
  }

  @Test func `what is being opened stays over the maximum, and the newest tap is taken all the same`() async throws {
    let inbox = Inbox(.memory, retention: Retention(maximumTaps: 1), now: { sampleTime }, report: { _ in })
    for id in ["a", "b"] {
      #expect(await inbox.receive(sampleTap(id)) == Receipt(isNew: true, expired: []))
      try await inbox.move(id, to: .opening)
    }
    #expect(await inbox.receive(sampleTap("c")).isNew)
    #expect(try await inbox.list().map(\.id) == ["c", "b", "a"])
  }

  @Test func `a waiting tap that is too old expires`() async throws {
    let inbox = Inbox(.memory, retention: Retention(days: 1), now: { sampleTime }, report: { _ in })
    _ = await inbox.receive(sampleTap("old", time: sampleTime.before(days: 2)))
    #expect(await inbox.prune() == ["old"])
    #expect(await inbox.prune() == [])
    await #expect(throws: InboxError.self) { try await inbox.tap("old") }
  }

  @Test func `one that is too old at a start expires, and is not shown once more`() async throws {
    let inbox = Inbox(.memory, retention: Retention(days: 1), now: { sampleTime }, report: { _ in })
    _ = await inbox.receive(sampleTap("old", time: sampleTime.before(days: 2)))
    _ = await inbox.receive(sampleTap("young"))
    let left = await inbox.resume(maximum: 10)
    #expect(left.waiting.map(\.id) == ["young"])
    #expect(left.expired == ["old"])
    #expect(try await inbox.tap("old").reason == TapReason(.overdue))
  }

  @Test func `what it removed is no longer in the file`() async throws {
    let temporary = try TemporaryDirectory()
    let time = Locked(sampleTime)
    let inbox = Inbox(
      .file(directory: temporary.path, name: "inbox.sqlite"), now: { time.withLock(\.self) }, report: { _ in })
    func isThere(_ text: String) throws -> Bool {
      try ["", "-wal"].contains {
        try readFile(temporary.path + "/inbox.sqlite" + $0).firstRange(of: Array(text.utf8)) != nil
      }
    }
    for number in 0..<50 {
      let message = Array("secret-\(number)-".utf8) + [UInt8](repeating: 7, count: 500)
      _ = await inbox.refuse(sampleTap("\(number)", message: message), detail: "")
    }
    #expect(try isThere("secret-20-"))
    time.withLock { $0 = Timestamp(microseconds: $0.microseconds + 31 * 86_400_000_000) }
    let young = sampleTap("young", time: time.withLock(\.self), message: Array("secret-young-".utf8))
    _ = await inbox.refuse(young, detail: "")
    #expect(await inbox.prune() == [])
    #expect(try !isThere("secret-20-"))
    #expect(try isThere("secret-young-"))
  }

  @Test func `what is removed goes through no temporary file`() throws {
    // 2 is MEMORY: https://www.sqlite.org/pragma.html#pragma_temp_store
    #expect(try TapStore(path: ":memory:").database.run("PRAGMA temp_store") == [[.integer(2)]])
  }

  @Test func `a day count beyond all time does not trap`() {
    #expect(sampleTime.before(days: .max).microseconds == .min)
    #expect(Timestamp(microseconds: .min).before(days: 1).microseconds == .min)
  }
}

/// A tap that failed is on the screen for as long as it may be tried again, and that is not for ever.
struct FailedTapTests {
  private func failed(_ id: String, in inbox: Inbox, at time: Timestamp = sampleTime) async throws {
    _ = await inbox.receive(sampleTap(id, time: time))
    try await inbox.move(id, to: .opening)
    try await inbox.move(id, to: .failed, reason: TapReason(.notStarted, detail: "it is not there"))
  }

  @Test func `its time ends by age, and its notification with it`() async throws {
    let inbox = Inbox(.memory, retention: Retention(days: 30), now: { sampleTime }, report: { _ in })
    try await failed("old", in: inbox, at: sampleTime.before(days: 31))
    try await failed("young", in: inbox, at: sampleTime.before(days: 29))
    #expect(await inbox.prune() == ["old"])
    #expect(await inbox.resume(maximum: 10).waiting.map(\.id) == ["young"])
  }

  @Test func `it makes room by number, and is named`() async throws {
    let inbox = Inbox(.memory, retention: Retention(maximumTaps: 2), now: { sampleTime }, report: { _ in })
    for id in ["a", "b"] { try await failed(id, in: inbox) }
    #expect(await inbox.receive(sampleTap("c")) == Receipt(isNew: true, expired: ["a"]))
  }

  @Test func `once its notification is gone a restart does not show it again, and the list still says why`()
    async throws
  {
    let inbox = Inbox(.memory, now: { sampleTime }, report: { _ in })
    try await failed("a", in: inbox)
    try await inbox.move("a", to: .expired, reason: try await inbox.tap("a").reason)
    #expect(await inbox.resume(maximum: 10).waiting.isEmpty)
    #expect(try await inbox.tap("a").reason.code == .notStarted)
  }

  @Test func `one that was refused is over, and never shown`() async throws {
    let inbox = Inbox(.memory, now: { sampleTime }, report: { _ in })
    _ = await inbox.refuse(sampleTap("a"), detail: "no")
    #expect(await inbox.resume(maximum: 10).waiting.isEmpty)
    #expect(try await inbox.tap("a").state == .failed)
  }
}
