import EventLoop
import Glibc
import Rig
import Testing

@testable import Inbox

struct RetentionTests {
  @Test func `finished taps are removed by age`() async throws {
    let inbox = Inbox(.memory, retention: Retention(days: 30), now: { sampleTime }, report: { _ in })
    _ = await inbox.receive(sampleTap("old", time: sampleTime.before(days: 31)))
    _ = await inbox.receive(sampleTap("young", time: sampleTime.before(days: 29)))
    for id in ["old", "young"] { try await inbox.move(id, to: .dismissed) }

    #expect(await inbox.prune() == [])
    #expect(try await inbox.list().map(\.id) == ["young"])
  }

  @Test func `more finished taps than the maximum are removed at once, the oldest first`() async throws {
    let inbox = Inbox(.memory, retention: Retention(maximumTaps: 3), now: { sampleTime }, report: { _ in })
    for index in 0..<6 {
      _ = await inbox.receive(sampleTap("\(index)"))
      try await inbox.move("\(index)", to: .dismissed)
    }
    #expect(try await inbox.list().map(\.id) == ["5", "4", "3"])
  }

  @Test func `more waiting taps than the maximum expire at once, the oldest first, and are returned`() async throws {
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

  @Test func `opening taps may exceed the maximum, and the newest tap is stored anyway`() async throws {
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

  @Test func `a tap that is too old at a start expires and is not shown again`() async throws {
    let inbox = Inbox(.memory, retention: Retention(days: 1), now: { sampleTime }, report: { _ in })
    _ = await inbox.receive(sampleTap("old", time: sampleTime.before(days: 2)))
    _ = await inbox.receive(sampleTap("young"))
    let left = await inbox.resume(maximum: 10)
    #expect(left.waiting.map(\.id) == ["young"])
    #expect(left.expired == ["old"])
    #expect(try await inbox.tap("old").reason == TapReason(.overdue))
  }

  @Test func `taps removed by age are erased from the file`() async throws {
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

  @Test func `removed data goes through no temporary file`() throws {
    // 2 is MEMORY: https://www.sqlite.org/pragma.html#pragma_temp_store
    #expect(try TapStore(path: ":memory:").database.run("PRAGMA temp_store") == [[.integer(2)]])
  }

  @Test func `an unlimited day count does not trap`() {
    #expect(sampleTime.before(days: .max).microseconds == .min)
    #expect(Timestamp(microseconds: .min).before(days: 1).microseconds == .min)
  }
}

/// A failed tap stays on the screen while it may be tried again. That time is limited.
struct FailedTapTests {
  private func failed(_ id: String, in inbox: Inbox, at time: Timestamp = sampleTime) async throws {
    _ = await inbox.receive(sampleTap(id, time: time))
    try await inbox.move(id, to: .opening)
    try await inbox.move(id, to: .failed, reason: TapReason(.notStarted, detail: "it is not there"))
  }

  @Test func `a failed tap leaves the screen by age`() async throws {
    let inbox = Inbox(.memory, retention: Retention(days: 30), now: { sampleTime }, report: { _ in })
    try await failed("old", in: inbox, at: sampleTime.before(days: 31))
    try await failed("young", in: inbox, at: sampleTime.before(days: 29))
    #expect(await inbox.prune() == ["old"])
    #expect(try await inbox.list(InboxQuery(states: [.failedOffScreen])).map(\.id) == ["old"])
    #expect(await inbox.resume(maximum: 10).waiting.map(\.id) == ["young"])
  }

  @Test func `a failed tap is removed if there are too many taps, and is returned`() async throws {
    let inbox = Inbox(.memory, retention: Retention(maximumTaps: 2), now: { sampleTime }, report: { _ in })
    for id in ["a", "b"] { try await failed(id, in: inbox) }
    #expect(await inbox.receive(sampleTap("c")) == Receipt(isNew: true, expired: ["a"]))
  }

  @Test func `after its notification is closed, a failed tap is not shown after a restart but keeps its reason`()
    async throws
  {
    let time = Locked(sampleTime)
    let inbox = Inbox(.memory, now: { time.withLock(\.self) }, report: { _ in })
    try await failed("a", in: inbox)
    time.withLock { $0 = Timestamp(microseconds: $0.microseconds + 1) }
    try await inbox.move("a", to: .failedOffScreen, reason: try await inbox.tap("a").reason)
    #expect(await inbox.resume(maximum: 10).waiting.isEmpty)
    let tap = try await inbox.tap("a")
    #expect(tap.reason.code == .notStarted && tap.changed == sampleTime)
  }
}

struct ClearingTests {
  private func filled(_ inbox: Inbox) async throws {
    let ways: [(String, [TapState])] = [
      ("received", []), ("shown", [.shown]), ("opening", [.opening]), ("delivered", [.opening, .delivered]),
      ("dismissed", [.dismissed]), ("failed", [.opening, .failed]), ("expired", [.expired]),
    ]
    for (number, (id, way)) in ways.enumerated() {
      _ = await inbox.receive(sampleTap(id, time: Timestamp(microseconds: Int64(number))))
      for state in way { try await inbox.move(id, to: state) }
    }
    _ = await inbox.refuse(sampleTap("refused", time: Timestamp(microseconds: 7)), detail: "")
  }

  static let cases: [(InboxClearing, Set<String>)] = [
    (InboxClearing(), ["delivered", "dismissed", "expired", "refused"]),
    (InboxClearing(onScreen: ["shown", "failed"]), ["delivered", "dismissed", "expired", "refused"]),
    (
      InboxClearing(onScreen: ["shown", "failed", "opening"], includesOnScreen: true),
      ["shown", "delivered", "dismissed", "failed", "expired", "refused"]
    ),
    (InboxClearing(before: Timestamp(microseconds: 5)), ["delivered", "dismissed"]),
    // A failed tap without a notification is about to get one.
    (InboxClearing(ids: ["failed", "opening", "shown", "nobody"], onScreen: ["shown"]), []),
    (InboxClearing(ids: ["failed", "refused", "expired"]), ["refused", "expired"]),
    (InboxClearing(ids: ["shown", "received"], onScreen: ["shown"], includesOnScreen: true), ["shown"]),
    (InboxClearing(ids: []), []),
  ]

  @Test(arguments: cases)
  func `clear removes finished taps, shown taps only on request, and never an opening tap`(
    clearing: InboxClearing, expected: Set<String>
  ) async throws {
    let inbox = Inbox(.memory, now: { sampleTime }, report: { _ in })
    try await filled(inbox)
    let before = Set(try await inbox.list().map(\.id))
    #expect(Set(try await inbox.clear(clearing)) == expected)
    #expect(Set(try await inbox.list().map(\.id)) == before.subtracting(expected))
    // The daemon sends a tap again, and it is not stored a second time.
    for id in expected { #expect(await !inbox.receive(sampleTap(id)).isNew) }
  }

  @Test func `many taps are removed in portions`() async throws {
    let inbox = Inbox(.memory, retention: Retention(maximumTaps: 3000), now: { sampleTime }, report: { _ in })
    for number in 0..<2500 { _ = await inbox.refuse(sampleTap("\(number)"), detail: "") }
    var portions: [Int] = []
    repeat {
      portions.append(try await inbox.clear(InboxClearing()).count)
    } while portions.last == InboxClearing.portion
    #expect(portions == [1000, 1000, 500])
  }

  @Test func `removed taps are erased from the file, and the file shrinks`() async throws {
    let temporary = try TemporaryDirectory()
    let inbox = Inbox(.file(directory: temporary.path, name: "inbox.sqlite"), now: { sampleTime }, report: { _ in })
    let secret = Array("the-secret-of-the-tag".utf8)
    for number in 0..<300 {
      _ = await inbox.refuse(sampleTap("\(number)", message: secret + [UInt8](repeating: 7, count: 2000)), detail: "")
    }
    func content() throws -> [UInt8] {
      try ["", "-wal"].flatMap { try readFile(temporary.path + "/inbox.sqlite" + $0) }
    }
    #expect(try content().firstRange(of: secret) != nil)
    #expect(try await inbox.clear(InboxClearing()).count == 300)
    await inbox.compact()
    let left = try content()
    #expect(left.firstRange(of: secret) == nil)
    #expect(left.count < 100_000)
  }

  @Test func `a single removed tap is overwritten in place`() async throws {
    let temporary = try TemporaryDirectory()
    let inbox = Inbox(.file(directory: temporary.path, name: "inbox.sqlite"), now: { sampleTime }, report: { _ in })
    for number in 0..<50 {
      let text = Array("secret-\(number)-".utf8)
      _ = await inbox.refuse(sampleTap("\(number)", message: text + [UInt8](repeating: 7, count: 500)), detail: "")
    }
    #expect(try await inbox.clear(InboxClearing(ids: ["20"])) == ["20"])
    await inbox.compact()
    let left = try ["", "-wal"].flatMap { try readFile(temporary.path + "/inbox.sqlite" + $0) }
    #expect(left.firstRange(of: Array("secret-20-".utf8)) == nil)
    #expect(left.firstRange(of: Array("secret-21-".utf8)) != nil)
  }

  @Test(arguments: [(true, false), (false, true)])
  func `clear removes the files moved aside, but not if it is limited to some ids`(
    isAll: Bool, isLeft: Bool
  ) async throws {
    let temporary = try TemporaryDirectory()
    let aside = try temporary.write("what was on tags", to: "inbox.sqlite.damaged-7")
    let log = try temporary.write("what was on tags", to: "inbox.sqlite.damaged-7-wal")
    let other = try temporary.write("not of this inbox", to: "inbox.sqlite.damaged-mine")
    let inbox = Inbox(.file(directory: temporary.path, name: "inbox.sqlite"), now: { sampleTime }, report: { _ in })
    _ = await inbox.refuse(sampleTap("a"), detail: "")
    #expect(try await inbox.clear(InboxClearing(ids: isAll ? nil : ["a"])) == ["a"])
    #expect((access(aside, F_OK) == 0) == isLeft)
    #expect((access(log, F_OK) == 0) == isLeft)
    #expect(access(other, F_OK) == 0)
  }

  @Test func `retention removes the files moved aside`() async throws {
    let temporary = try TemporaryDirectory()
    let limit = sampleTime.before(days: 30).microseconds
    let old = try temporary.write("", to: "inbox.sqlite.unusable-\(limit - 1)")
    let young = try temporary.write("", to: "inbox.sqlite.unusable-\(limit)")
    let inbox = Inbox(
      .file(directory: temporary.path, name: "inbox.sqlite"), retention: Retention(days: 30), now: { sampleTime },
      report: { _ in })
    _ = await inbox.prune()
    #expect(access(old, F_OK) != 0)
    #expect(access(young, F_OK) == 0)
  }
}
