import Glibc
import Names
import Rig
import Testing

@testable import Inbox

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
    await inbox.outgoing(limit: 100, bytes: .max).map(\.stored.tap.id)
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
