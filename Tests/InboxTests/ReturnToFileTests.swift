import Glibc
import Testing
import TestSupport

@testable import Inbox

/// The way back to a file that could not be used, and what an earlier run has left in it.
struct ReturnToFileTests {
  private let temporary: TemporaryDirectory
  private var directory: String { temporary.path + "/state" }

  init() throws { temporary = try TemporaryDirectory() }

  private func inbox(pages: Int = 0, maximumTaps: Int = 500, reports: Reports = Reports()) -> Inbox {
    Inbox(
      .file(directory: directory, name: "inbox.sqlite"), retention: Retention(maximumTaps: maximumTaps),
      maximumPages: pages, now: { sampleTime }, report: reports.report)
  }

  /// Has the directory be none, and makes it one again.
  private func hide() throws {
    rename(directory, directory + ".hidden")
    try temporary.write("", to: "state")
  }

  private func uncover() {
    unlink(directory)
    rename(directory + ".hidden", directory)
  }

  private func place(_ id: UInt32) -> ScreenPlace { ScreenPlace(bus: "bus", owner: ":1.7", id: id) }

  private func fill(_ inbox: Inbox, _ ways: [(String, [TapState])]) async throws {
    for (id, way) in ways {
      _ = try await inbox.receive(sampleTap(id))
      for state in way { try await inbox.move(id, to: state) }
    }
  }

  @Test func `what an earlier run left is resumed as soon as its file can be opened`() async throws {
    let first = inbox()
    try await fill(first, [("shown", [.shown]), ("opening", [.opening]), ("over", [.dismissed]), ("again", [])])
    try await first.show("again", at: place(1))
    try await first.showOther(at: place(2))
    await first.close()
    try hide()

    let second = inbox()
    #expect(try await second.resume(maximum: 10).waiting.isEmpty)
    // The daemon gives once more what nobody has answered for.
    try await fill(second, [("new", []), ("again", [])])
    try await second.show("again", at: place(3))
    for state in [TapState.opening, .delivered] { try await second.move("again", to: state) }
    try await second.showOther(at: place(4))
    #expect(await second.returnToFile(maximum: 10) == nil)
    uncover()
    // Neither of these has somebody hear of what is there.
    #expect(try await second.prune().isEmpty)
    await #expect(throws: InboxError.notWritable) { try await second.clear(InboxClearing()) }

    let left = try #require(await second.returnToFile(maximum: 10))
    #expect(left.waiting.map(\.id) == ["shown", "opening"])
    #expect(left.waiting.map(\.state) == [.shown, .failed])
    #expect(left.waiting.last?.reason == TapReason(.endedWhileOpening))
    #expect(left.places.isEmpty)
    // What shows a tap that was got again is nobody's any more; what is up now is.
    #expect(Set(left.otherPlaces) == [place(1), place(2)])
    #expect(await second.returnToFile(maximum: 10) == nil)
    await second.close()
    let third = inbox()
    #expect(try await third.tap("new").state == .received)
    #expect(try await third.tap("again").state == .delivered)
    #expect(try await third.resume(maximum: 10).waiting.map(\.id) == ["shown", "opening", "new"])
  }

  @Test func `what another process left is heard of, also where memory does not get into the file at first`()
    async throws
  {
    let first = inbox()
    try await fill(first, [("opening", [.opening])])
    for number in 0..<30 {
      _ = try await first.refuse(sampleTap("\(number)", message: [UInt8](repeating: 1, count: 3000)), detail: "")
    }
    // What is in the file stays, and not more gets in.
    let second = inbox(pages: 1)
    _ = try await second.receive(sampleTap("mine", message: [UInt8](repeating: 2, count: 20_000)))
    let taking = Task { try await second.takeFile(maximum: 10) }
    await first.close()
    #expect(try await taking.value == nil)
    #expect(try await second.list().map(\.id) == ["mine"])
    #expect(
      try Database(path: directory + "/inbox.sqlite").run("SELECT state FROM taps WHERE id = 'opening'") == [
        [.text("opening")]
      ])

    try Database(path: directory + "/inbox.sqlite").run("DELETE FROM taps WHERE state = 'failed'")
    let left = try #require(await second.returnToFile(maximum: 10))
    #expect(left.waiting.map(\.id) == ["opening"] && left.waiting.map(\.state) == [.failed])
    #expect(try await Set(second.list().map(\.id)) == ["mine", "opening"])
  }

  @Test func `what made room in memory is over in the file, too`() async throws {
    let reports = Reports()
    let inbox = inbox(pages: 12, maximumTaps: 2, reports: reports)
    try await fill(inbox, [("opening", [.opening]), ("shown", [])])
    try await inbox.show("shown", at: place(1))
    try await inbox.showOther(at: place(2))
    #expect(
      try await inbox.receive(sampleTap("large", message: [UInt8](repeating: 1, count: 60_000))).expired == ["shown"])
    #expect(reports.all.count == 1)
    try await inbox.leave([place(2)])
    try await inbox.move("opening", to: .delivered)
    try await fill(inbox, [("a", []), ("b", [])])
    #expect(try await inbox.list().map(\.id) == ["b", "a"])
    #expect(await inbox.returnToFile(maximum: 10) == nil)
    #expect(reports.all.last?.contains("again") == true)
    for id in ["shown", "opening"] {
      #expect(try await inbox.tap(id).state == .expired)
      #expect(try await inbox.tap(id).reason == TapReason(.madeRoom))
    }
    let left = try await inbox.resume(maximum: 10)
    #expect(left.waiting.map(\.id) == ["a", "b"])
    // The notification of the one that made room may still be up.
    #expect(left.places.isEmpty && left.otherPlaces == [place(1)])
  }

  @Test func `a file that another process has taken meanwhile is left to it, until it is free`() async throws {
    let reports = Reports()
    try hide()
    let second = inbox(reports: reports)
    try await fill(second, [("mine", [.shown])])
    uncover()
    let first = inbox()
    try await fill(first, [("opening", [.opening])])
    #expect(await second.returnToFile(maximum: 10) == nil)
    #expect(reports.all.last?.contains("in use by another process") == true)
    #expect(try await first.list().map(\.id) == ["opening"])
    await #expect(throws: InboxError.inUse) { try await second.clear(InboxClearing()) }

    let taking = Task { try await second.takeFile(maximum: 10) }
    await first.close()
    #expect(try await taking.value?.waiting.map(\.state) == [.failed])
    #expect(try await Set(second.list().map(\.id)) == ["mine", "opening"])
  }

  @Test func `a disk that is full just when something is to be removed loses nothing of memory`() async throws {
    let inbox = inbox(pages: 12)
    try await fill(inbox, [("a", [])])
    _ = try await inbox.receive(sampleTap("large", message: [UInt8](repeating: 1, count: 60_000)))
    await #expect(throws: InboxError.notWritable) {
      try await inbox.clear(InboxClearing(onScreen: ["a"], includesOnScreen: true))
    }
    #expect(try await inbox.tap("a").state == .received)
  }
}
