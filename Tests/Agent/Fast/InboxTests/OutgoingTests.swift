import EventLoop
import Glibc
import NDEF
import Names
import Rig
import Testing

@testable import Inbox

struct OutgoingTests {
  private let inbox = Inbox(.memory, retention: Retention(maximumTaps: 3), now: { sampleTime }, report: { _ in })

  private func waiting(_ inbox: Inbox, limit: Int = 100, after sequence: Int64? = nil) async -> [String] {
    await inbox.outgoing(limit: limit, after: sequence, bytes: .max).map(\.stored.id)
  }

  private func counts(_ inbox: Inbox) async -> [Int64] {
    let counts = await inbox.outgoingCounts()
    return [Int64(counts.waiting), counts.dropped]
  }

  private func keep(_ id: String, in inbox: Inbox, time: Timestamp = sampleTime, message: [UInt8] = [1]) async {
    let tap = sampleTap(id, time: time, message: message)
    _ = await inbox.keep(tap, as: .dismissed, because: .none, outgoing: true)
  }

  @Test func `taps wait in the order in which they were stored, until they are acknowledged`() async throws {
    _ = await inbox.receive(sampleTap("not"))
    _ = await inbox.receive(sampleTap("b"), outgoing: true)
    await keep("a", in: inbox, time: sampleTime.before(days: 1))
    _ = await inbox.receive(sampleTap("c"), outgoing: true)
    for state in [TapState.opening, .delivered] { try await inbox.move("b", to: state) }
    #expect(await waiting(inbox) == ["b", "a", "c"])
    #expect(await waiting(inbox, limit: 2) == ["b", "a"])
    let first = try #require(await inbox.outgoing(limit: 1, bytes: 0).first)
    #expect(first.stored.state == .delivered && first.stored.read.bytes == sampleTap("b").read.bytes)
    #expect(await waiting(inbox, after: first.sequence) == ["a", "c"])
    // The first tap in the order, not the one that was read first.
    #expect(await inbox.outgoingCounts() == OutgoingCounts(waiting: 3, oldest: sampleTime, dropped: 0))

    await inbox.acknowledge(["b", "c", "not", "nobody", "b"])
    #expect(await waiting(inbox) == ["a"])
    // They stay in the history, and a change of state does not bring the mark back.
    try await inbox.move("c", to: .shown)
    #expect(try await inbox.list().map(\.id) == ["c", "a", "b", "not"])
    await inbox.acknowledge(["a"])
    #expect(await waiting(inbox).isEmpty)
    #expect(await counts(inbox) == [0, 0])
  }

  @Test func `a tap that is sent again by the daemon does not wait a second time`() async {
    _ = await inbox.receive(sampleTap("a"), outgoing: true)
    await inbox.acknowledge(["a"])
    #expect(await !inbox.receive(sampleTap("a"), outgoing: true).isNew)
    #expect(await waiting(inbox).isEmpty)
  }

  @Test func `an answer is bounded by the size of the messages, and has at least one tap`() async {
    for id in ["a", "b", "c"] { await keep(id, in: inbox, message: [UInt8](repeating: 1, count: 1000)) }
    #expect(await inbox.outgoing(limit: 10, bytes: 2000).map(\.stored.id) == ["a", "b"])
    #expect(await inbox.outgoing(limit: 10, bytes: 1).map(\.stored.id) == ["a"])
  }

  @Test func `taps that wait do not count as taps to keep until they are acknowledged`() async throws {
    for number in 0..<10 { await keep("\(number)", in: inbox) }
    for id in ["x", "y", "z"] { #expect(await inbox.receive(sampleTap(id)) == Receipt(isNew: true, expired: [])) }
    #expect(await waiting(inbox) == (0..<10).map(String.init))
    // The oldest finished ones make room.
    await inbox.acknowledge((0..<5).map(String.init))
    #expect(try await inbox.list().map(\.id) == ["z", "y", "x"] + (5..<10).reversed().map(String.init))
    #expect(await counts(inbox) == [5, 0])
  }

  @Test func `beyond the maximum, the oldest taps are given up and counted, and stay in the history`() throws {
    let store = try TapStore(path: ":memory:")
    for number in 0..<6 {
      _ = try store.put(
        sampleTap("\(number)").being(.dismissed, outgoing: true))
    }
    #expect(try Set(store.giveUpOutgoing(before: nil, keeping: 4)) == ["0", "1"])
    #expect(try store.outgoing(after: 0, limit: 10).map(\.id) == ["2", "3", "4", "5"])
    #expect(try store.dropped() == 2)
    #expect(try store.count() == 2)
    #expect(try store.giveUpOutgoing(before: nil, keeping: 4).isEmpty)
    #expect(try store.dropped() == 2)
  }

  @Test func `taps that are too old are given up and counted`() async {
    let time = Locked(sampleTime)
    let inbox = Inbox(.memory, retention: Retention(days: 1), now: { time.withLock(\.self) }, report: { _ in })
    _ = await inbox.receive(sampleTap("old"), outgoing: true)
    let later = Timestamp(microseconds: sampleTime.microseconds + 2 * 86_400_000_000)
    time.withLock { $0 = later }
    await keep("new", in: inbox, time: later)
    #expect(await inbox.prune() == ["old"])
    #expect(await waiting(inbox) == ["new"])
    #expect(await counts(inbox) == [1, 1])
  }

  @Test func `clear removes taps that wait, and counts them`() async throws {
    _ = await inbox.receive(sampleTap("shown"), outgoing: true)
    for id in ["a", "b", "sent"] { await keep(id, in: inbox) }
    await inbox.acknowledge(["sent"])
    #expect(try await Set(inbox.clear(InboxClearing(onScreen: ["shown"]))) == ["a", "b", "sent"])
    #expect(await waiting(inbox) == ["shown"])
    #expect(await counts(inbox) == [1, 2])
  }

  @Test func `without a history, taps wait in memory until they are acknowledged`() async throws {
    let inbox = Inbox(.memoryWhileOpen(), now: { sampleTime }, report: { _ in })
    for id in ["a", "b", "c"] { _ = await inbox.receive(sampleTap(id), outgoing: true) }
    for id in ["a", "b"] { try await inbox.move(id, to: .dismissed) }
    #expect(await waiting(inbox) == ["a", "b", "c"])
    await inbox.acknowledge(["a", "c"])
    #expect(await waiting(inbox) == ["b"])
    // The acknowledged tap that is over is gone. The other one is still on the screen.
    #expect(try await Set(inbox.list().map(\.id)) == ["b", "c"])
    #expect(try await inbox.clear(InboxClearing(onScreen: ["c"])) == ["b"])
    #expect(await counts(inbox) == [0, 1])
  }

  @Test func `taps that wait in memory are bounded by the size of their messages`() async {
    let inbox = Inbox(.memoryWhileOpen(), now: { sampleTime }, report: { _ in })
    let message = [UInt8](repeating: 1, count: Retention.maximumOutgoingBytes / 4)
    for number in 0..<6 { await keep("\(number)", in: inbox, message: message) }
    #expect(await waiting(inbox) == ["2", "3", "4", "5"])
    #expect(await counts(inbox) == [4, 2])
  }
}

/// The taps that wait to be sent, over a crash, a full disk and damage.
struct OutgoingFileTests {
  private let temporary: TemporaryDirectory
  private let reports = Reports()

  init() throws { temporary = try TemporaryDirectory() }

  private func inbox(in directory: String? = nil, pages: Int = 0) -> Inbox {
    Inbox(
      .file(directory: directory ?? temporary.path, name: "inbox.sqlite"), maximumPages: pages, now: { sampleTime },
      report: reports.report)
  }

  private func keep(_ ids: [String], in inbox: Inbox) async {
    for id in ids { _ = await inbox.keep(sampleTap(id), as: .dismissed, because: .none, outgoing: true) }
  }

  private func waiting(_ inbox: Inbox) async -> [String] {
    await inbox.outgoing(limit: 100, bytes: .max).map(\.stored.id)
  }

  /// Copies the files as a process leaves them that is killed now, to the folder `name`. Returns its path.
  private func killed(_ name: String) throws -> String {
    mkdir(temporary.file(name), 0o700)
    for suffix in ["", "-wal"] {
      let bytes = try readFile(temporary.file("inbox.sqlite" + suffix))
      try temporary.write(bytes, to: "\(name)/inbox.sqlite\(suffix)", mode: 0o600)
    }
    return temporary.file(name)
  }

  @Test func `a tap and its place in the outbox are one commit`() async throws {
    let first = inbox()
    await keep(["a"], in: first)
    _ = await first.receive(sampleTap("b"), outgoing: true)
    let stored = inbox(in: try killed("stored"))
    #expect(try await stored.list().map(\.id) == ["b", "a"])
    #expect(await waiting(stored) == ["a", "b"])

    await first.acknowledge(["a", "b"])
    let sent = inbox(in: try killed("sent"))
    #expect(try await sent.list().map(\.id) == ["b", "a"])
    #expect(await waiting(sent).isEmpty)
    // The tap on the screen is loaded at a start. Its changes do not bring the mark back.
    try await sent.move("b", to: .shown)
    #expect(await waiting(sent).isEmpty)
    #expect(reports.all.isEmpty)
  }

  @Test func `the number of dropped taps survives a kill`() async throws {
    let first = inbox()
    await keep(["a", "b", "c"], in: first)
    #expect(try await first.clear(InboxClearing(ids: ["a", "b"])).count == 2)
    let second = inbox(in: try killed("second"))
    #expect(await second.outgoingCounts() == OutgoingCounts(waiting: 1, oldest: sampleTime, dropped: 2))
  }

  @Test func `on a full disk, taps wait in memory, and what was sent is not sent again`() async throws {
    let first = inbox(pages: 12)
    await keep(["a", "b"], in: first)
    let large = sampleTap("large", message: [UInt8](repeating: 1, count: 60_000))
    _ = await first.keep(large, as: .dismissed, because: .none, outgoing: true)
    #expect(reports.all.count == 1)
    #expect(await waiting(first) == ["a", "b", "large"])
    let last = try #require(await first.outgoing(limit: 100, bytes: .max).last)
    #expect(last.sequence >= Names.Agent.firstUnsavedSequence)
    await first.acknowledge(["a", "nobody"])
    #expect(await waiting(first) == ["b", "large"])
    #expect(await first.outgoingCounts().waiting == 2)
    #expect(try await !first.tap("a").isOutgoing)
    #expect(await first.acknowledged == ["a"])

    await first.setMaximumPages(1000)
    await keep(["c"], in: first)
    #expect(reports.all.count == 2)
    #expect(await waiting(first) == ["b", "large", "c"])
    await first.close()
    let second = inbox()
    #expect(await waiting(second) == ["b", "large", "c"])
    #expect(await second.outgoingCounts().dropped == 0)
  }

  @Test func `with a lost file, the taps that only it has are counted as dropped, and the others still wait`()
    async throws
  {
    let first = inbox()
    await keep(["a", "b", "c"], in: first)
    #expect(try await first.clear(InboxClearing(ids: ["a"])) == ["a"])
    _ = await first.receive(sampleTap("shown"), outgoing: true)
    // Another program deletes the file while it is used.
    for suffix in ["", "-wal"] { unlink(temporary.file("inbox.sqlite" + suffix)) }
    await keep(["next"], in: first)
    #expect(reports.all.count == 1 && reports.all.first?.contains("its history is lost") == true)
    #expect(await waiting(first) == ["shown", "next"])
    #expect(await first.outgoingCounts().dropped == 3)
    await first.close()
    #expect(await inbox().outgoingCounts() == OutgoingCounts(waiting: 2, oldest: sampleTime, dropped: 3))
  }

  @Test func `if taps are not to be kept any more, those that wait stay in memory`() async throws {
    let inbox = inbox()
    await keep(["a", "b", "c"], in: inbox)
    await inbox.acknowledge(["b"])
    await inbox.configure(.memoryWhileOpen(directory: temporary.path, name: "inbox.sqlite"), Retention())
    #expect(access(temporary.file("inbox.sqlite"), F_OK) != 0)
    #expect(await waiting(inbox) == ["a", "c"])
    await inbox.configure(.file(directory: temporary.path, name: "inbox.sqlite"), Retention())
    _ = await inbox.retryFile(maximum: 10)
    #expect(await waiting(inbox) == ["a", "c"])
    #expect(await inbox.outgoingCounts().dropped == 0)
  }

  @Test func `the waiting taps of a file that is removed at the start are counted as dropped`() async throws {
    let first = inbox()
    await keep(["a", "b"], in: first)
    await first.close()
    let second = Inbox(
      .memoryWhileOpen(directory: temporary.path, name: "inbox.sqlite"), now: { sampleTime }, report: reports.report)
    await keep(["c"], in: second)
    #expect(await waiting(second) == ["c"])
    #expect(await second.outgoingCounts().dropped == 2)
  }
}
