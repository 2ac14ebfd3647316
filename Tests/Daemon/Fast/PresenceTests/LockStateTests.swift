import Presence
import Testing

/// Examples. LockModelTests compare every sequence of events with a model.
@Suite struct LockStateTests {
  private func after(_ events: [LockState.Event]) -> LockState { events.reduce(into: LockState()) { $0.handle($1) } }

  @Test(
    arguments: [
      ([], .unknown), ([.hintRead(false)], .unknown), ([.hintRead(true)], .yes),
      ([.hintRead(true), .hintChanged(false)], .no),
      // A lock outlives a restart of logind, and the reports of an agent that does not know the locker.
      ([.hintRead(true), .logindGone, .hintRead(false), .reported(.no)], .yes),
      ([.hintRead(true), .logindGone, .hintRead(false), .hintChanged(false)], .no),
      ([.hintRead(false), .reported(.yes), .reporterGone, .reported(.no)], .yes),
      ([.hintRead(false), .reported(.yes), .reporterGone, .userUnlocked], .unknown),
      // The session stays locked while a source reports "locked".
      ([.hintRead(true), .userUnlocked], .yes), ([.hintRead(true), .reported(.no)], .yes),
    ] as [([LockState.Event], Fact)])
  func `the session is locked or not`(events: [LockState.Event], isLocked: Fact) {
    #expect(after(events).isLocked == isLocked)
  }

  @Test func `a session has been unlocked if it was ever not locked, and is said to be if a reliable source said so`() {
    let histories: [[LockState.Event]] = [
      [.hintRead(true)], [.hintRead(false)], [.hintRead(true), .hintChanged(false)],
      [.hintRead(true), .logindGone, .hintRead(false)], [.reported(.no), .reported(.unknown)],
    ]
    #expect(histories.map { after($0).hasBeenUnlocked } == [false, true, true, false, true])
    #expect(histories.map { after($0).hasBeenSaidUnlocked } == [false, false, true, false, true])
  }
}
