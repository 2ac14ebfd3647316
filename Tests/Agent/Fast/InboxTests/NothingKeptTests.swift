import Glibc
import Rig
import Testing

@testable import Inbox

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
