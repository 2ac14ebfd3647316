import Glibc
import Rig
import Testing

@testable import Inbox

/// A file that could not be used at first: the taps that an earlier run left in it, and the taps that memory holds for
/// it.
struct RetryFileTests {
  private let temporary: TemporaryDirectory
  private var directory: String { temporary.path + "/state" }

  init() throws { temporary = try TemporaryDirectory() }

  private func inbox(pages: Int = 0, maximumTaps: Int = 500, reports: Reports = Reports()) -> Inbox {
    Inbox(
      .file(directory: directory, name: "inbox.sqlite"), retention: Retention(maximumTaps: maximumTaps),
      maximumPages: pages, now: { sampleTime }, report: reports.report)
  }

  /// Replaces the directory by a file; `uncover` restores it.
  private func hide() throws {
    rename(directory, directory + ".hidden")
    try temporary.write("", to: "state")
  }

  private func uncover() {
    unlink(directory)
    rename(directory + ".hidden", directory)
  }

  private func fill(_ inbox: Inbox, _ ways: [(String, [TapState])]) async throws {
    for (id, way) in ways {
      _ = await inbox.receive(sampleTap(id))
      for state in way { try await inbox.move(id, to: state) }
    }
  }

  @Test func `taps of an earlier run are resumed when the file can be opened`() async throws {
    let first = inbox()
    try await fill(first, [("shown", [.shown]), ("opening", [.opening]), ("over", [.dismissed]), ("again", [])])
    try await first.show("again", at: place(1))
    await first.showOther(at: place(2))
    await first.close()
    try hide()

    let reports = Reports()
    let second = inbox(reports: reports)
    #expect(await second.resume(maximum: 10).waiting.isEmpty)
    // The daemon sends a tap again if it got no answer for it.
    try await fill(second, [("new", []), ("again", [])])
    try await second.show("again", at: place(3))
    for state in [TapState.opening, .delivered] { try await second.move("again", to: state) }
    await second.showOther(at: place(4))
    #expect(await second.retryFile(maximum: 10) == nil)
    uncover()
    // Neither call opens the file. Otherwise its taps would never be returned to the caller.
    #expect(await second.prune().isEmpty)
    await #expect(throws: InboxError.notWritable) { try await second.clear(InboxClearing()) }
    #expect(InboxError.notWritable.code == .storage)

    let left = try #require(await second.retryFile(maximum: 10))
    #expect(reports.all.last?.contains("again") == true)
    #expect(left.waiting.map(\.id) == ["shown", "opening"])
    #expect(left.waiting.map(\.state) == [.shown, .failed])
    #expect(left.waiting.last?.reason == TapReason(.endedWhileOpening))
    #expect(left.places.isEmpty)
    // The old notification of a tap that was sent again is returned for closing. Its current one is not.
    #expect(Set(left.otherPlaces) == [place(1), place(2)])
    #expect(await second.retryFile(maximum: 10) == nil)
    await second.close()
    let third = inbox()
    #expect(try await third.tap("new").state == .received)
    #expect(try await third.tap("again").state == .delivered)
    #expect(await third.resume(maximum: 10).waiting.map(\.id) == ["shown", "opening", "new"])
  }

  @Test func `taps of another process are returned although the file is full, and saved later`() async throws {
    let first = inbox()
    try await fill(first, [("opening", [.opening])])
    for number in 0..<30 {
      _ = await first.refuse(sampleTap("\(number)", message: [UInt8](repeating: 1, count: 3000)), detail: "")
    }
    func state(_ id: String) throws -> [[SQLiteValue]] {
      try Database(path: directory + "/inbox.sqlite").run("SELECT state FROM taps WHERE id = ?", [.text(id)])
    }
    // The file cannot grow.
    let second = inbox(pages: 1)
    _ = await second.receive(sampleTap("mine", message: [UInt8](repeating: 2, count: 20_000)))
    let taking = Task { await second.waitForFile(maximum: 10) }
    await first.close()
    let left = try #require(await taking.value)
    #expect(left.waiting.map(\.id) == ["opening"] && left.waiting.map(\.state) == [.failed])
    #expect(try state("opening") == [[.text("opening")]] && state("mine").isEmpty)
    // The list has the history from the file and the taps from memory.
    let list = try await second.list(InboxQuery(newestFirst: false))
    #expect(list.map(\.id) == ["opening"] + (0..<30).map { "\($0)" } + ["mine"])
    #expect(list.map(\.state) == [.failed] + [TapState](repeating: .failedOffScreen, count: 30) + [.received])

    try Database(path: directory + "/inbox.sqlite").run("DELETE FROM taps WHERE state = 'failed-off-screen'")
    #expect(await second.retryFile(maximum: 10) == nil)
    #expect(try state("opening") == [[.text("failed")]] && state("mine") == [[.text("received")]])
    #expect(try await second.list().map(\.id) == ["mine", "opening"])
  }

  @Test func `taps that expired in memory are removed from the file too`() async throws {
    let reports = Reports()
    let inbox = inbox(pages: 12, maximumTaps: 2, reports: reports)
    try await fill(inbox, [("opening", [.opening]), ("shown", [])])
    try await inbox.show("shown", at: place(1))
    await inbox.showOther(at: place(2))
    #expect(await inbox.receive(sampleTap("large", message: [UInt8](repeating: 1, count: 60_000))).expired == ["shown"])
    #expect(reports.all.count == 1)
    await inbox.leave([place(2)])
    try await inbox.move("opening", to: .delivered)
    try await fill(inbox, [("a", []), ("b", [])])
    #expect(try await inbox.list().map(\.id) == ["b", "a"])
    #expect(await inbox.retryFile(maximum: 10) == nil)
    #expect(reports.all.last?.contains("again") == true)
    for id in ["shown", "opening"] { await #expect(throws: InboxError.unknownTap(id)) { try await inbox.tap(id) } }
    let left = await inbox.resume(maximum: 10)
    #expect(left.waiting.map(\.id) == ["a", "b"])
    // The notification of the expired tap may still be on the screen.
    #expect(left.places.isEmpty && left.otherPlaces == [place(1)])
  }

  @Test func `without a file, a finished tap makes room before one that waits`() async throws {
    try hide()
    let inbox = inbox(maximumTaps: 2)
    try await fill(inbox, [("waits", []), ("opened", [.opening, .delivered])])
    #expect(await inbox.receive(sampleTap("new")) == Receipt(isNew: true, expired: []))
    #expect(try await inbox.list().map(\.id) == ["new", "waits"])
  }

  @Test func `a file that another process took is left to it until it is free`() async throws {
    let reports = Reports()
    try hide()
    let second = inbox(reports: reports)
    try await fill(second, [("mine", [.shown])])
    uncover()
    let first = inbox()
    try await fill(first, [("opening", [.opening])])
    #expect(await second.retryFile(maximum: 10) == nil)
    #expect(reports.all.last?.contains("in use by another process") == true)
    #expect(try await first.list().map(\.id) == ["opening"])
    await #expect(throws: InboxError.inUse) { try await second.clear(InboxClearing()) }

    let taking = Task { await second.waitForFile(maximum: 10) }
    await first.close()
    #expect(await taking.value?.waiting.map(\.state) == [.failed])
    #expect(try await Set(second.list().map(\.id)) == ["mine", "opening"])
  }

  @Test func `the first change after a full disk writes all taps in memory`() async throws {
    let reports = Reports()
    let inbox = inbox(pages: 12, reports: reports)
    try await fill(inbox, [("a", []), ("b", [])])
    _ = await inbox.receive(sampleTap("large", message: [UInt8](repeating: 1, count: 60_000)))
    try await inbox.move("a", to: .dismissed)
    await inbox.showOther(at: place(7))
    #expect(reports.all.count == 1 && reports.all[0].contains("kept in memory until it can"))
    let page = try await inbox.list(InboxQuery(limit: 2))
    #expect(page.map(\.id) == ["large", "b"])
    #expect(try await inbox.list(InboxQuery(beforeSequence: page.last?.sequence)).map(\.state) == [.dismissed])
    #expect(try await inbox.list(InboxQuery(), bytes: 10).map(\.id) == ["large"])
    #expect(await inbox.list(idPrefix: "a", limit: 5).map(\.state) == [.dismissed])

    // Now the disk has room.
    await inbox.setMaximumPages(1000)
    try await inbox.show("b", at: place(8))
    #expect(reports.all.count == 2 && reports.all[1].contains("can be written again"))
    await inbox.close()
    let next = self.inbox()
    let left = await next.resume(maximum: 10)
    #expect(left.waiting.map(\.id) == ["b", "large"] && left.places == ["b": place(8)])
    #expect(left.otherPlaces == [place(7)])
    #expect(try await next.tap("a").state == .dismissed)
  }

  @Test func `a removal that fails on a full disk keeps the taps in memory`() async throws {
    let inbox = inbox(pages: 12)
    try await fill(inbox, [("a", [])])
    _ = await inbox.receive(sampleTap("large", message: [UInt8](repeating: 1, count: 60_000)))
    await #expect(throws: InboxError.notWritable) {
      try await inbox.clear(InboxClearing(onScreen: ["a"], includesOnScreen: true))
    }
    #expect(try await inbox.tap("a").state == .received)
  }
}
