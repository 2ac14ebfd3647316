import ScanGate
import Session
import Testing

@Suite struct LockStateTests {
  private func after(_ events: LockState.Event...) -> LockState {
    var state = LockState()
    for event in events { state.handle(event) }
    return state
  }

  @Test func `a hint that was never set leaves the lock unknown`() {
    #expect(after().isLocked == .unknown)
    #expect(after(.hintRead(false)).isLocked == .unknown)
    #expect(after(.hintRead(false)).hasBeenUnlocked)
  }

  @Test func `a hint that was set and cleared is trusted`() {
    #expect(after(.hintRead(true)).isLocked == .yes)
    #expect(!after(.hintRead(true)).hasBeenUnlocked)
    #expect(after(.hintRead(false), .hintChanged(true)).isLocked == .yes)
    #expect(after(.hintRead(true), .hintChanged(false)).isLocked == .no)
    #expect(after(.hintRead(true), .hintChanged(false)).hasBeenUnlocked)
  }

  @Test func `a lock outlives a restart of logind`() {
    let restarted = after(.hintRead(true), .logindGone, .hintRead(false))
    #expect(restarted.isLocked == .yes)
    #expect(!restarted.hasBeenUnlocked)
    #expect(after(.hintRead(true), .logindGone, .hintRead(false), .logindGone, .hintRead(false)).isLocked == .yes)
    #expect(after(.hintRead(true), .logindGone, .hintRead(false), .hintChanged(false)).isLocked == .no)
    #expect(after(.hintRead(true), .logindGone, .hintRead(false), .hintChanged(true)).isLocked == .yes)
    // An agent that repeats "unlocked", or reports it first, does not know the locker that had set the hint.
    #expect(after(.hintRead(true), .logindGone, .hintRead(false), .reported(.no)).isLocked == .yes)
    #expect(after(.reported(.no), .hintRead(true), .logindGone, .hintRead(false), .reported(.no)).isLocked == .yes)
    #expect(after(.hintRead(true), .logindGone, .hintRead(false), .reported(.yes), .reported(.no)).isLocked == .no)
    #expect(after(.hintRead(true), .logindGone, .hintRead(false), .reported(.unknown)).isLocked == .yes)
  }

  @Test func `an unlock by the user clears a remembered lock`() {
    #expect(
      after(.reported(.no), .hintRead(true), .logindGone, .hintRead(false), .reported(.no), .userUnlocked).isLocked
        == .no)
    #expect(after(.hintRead(false), .reported(.yes), .reporterGone, .userUnlocked).isLocked == .unknown)
    // The session stays locked while a source reports "locked".
    #expect(after(.hintRead(true), .userUnlocked).isLocked == .yes)
    #expect(after(.hintRead(true), .userUnlocked, .logindGone, .hintRead(false)).isLocked == .yes)
    #expect(after(.hintRead(false), .reported(.yes), .userUnlocked).isLocked == .yes)
  }

  @Test func `a restart of logind does not lock an unlocked session`() {
    #expect(after(.hintRead(false), .logindGone).isLocked == .unknown)
    #expect(after(.hintRead(true), .hintChanged(false), .logindGone, .hintRead(false)).isLocked == .no)
  }

  @Test func `any source can report a lock`() {
    #expect(after(.hintRead(false), .reported(.yes)).isLocked == .yes)
    #expect(after(.hintRead(true), .reported(.no)).isLocked == .yes)
    #expect(after(.hintRead(false), .reported(.no)).isLocked == .no)
    #expect(after(.hintRead(false), .reported(.yes), .reported(.unknown)).isLocked == .unknown)
  }

  @Test func `only a reliable source can report the first unlock`() {
    #expect(!after(.hintRead(false)).hasBeenSaidUnlocked)
    #expect(!after(.hintRead(false), .hintChanged(true)).hasBeenSaidUnlocked)
    #expect(after(.hintRead(true), .hintChanged(false), .hintChanged(true)).hasBeenSaidUnlocked)
    #expect(after(.reported(.no), .reported(.unknown)).hasBeenSaidUnlocked)
  }

  @Test func `an agent that quits does not unlock the session`() {
    #expect(after(.hintRead(false), .reported(.yes), .reporterGone).isLocked == .yes)
    #expect(after(.hintRead(false), .reported(.yes), .reporterGone, .reported(.unknown)).isLocked == .yes)
    // The screen saver of the next agent is idle, but the locker that locked the session may be active.
    #expect(after(.hintRead(false), .reported(.yes), .reporterGone, .reported(.no)).isLocked == .yes)
    #expect(after(.hintRead(false), .reported(.yes), .reporterGone, .reported(.yes), .reported(.no)).isLocked == .no)
    #expect(after(.hintRead(true), .reported(.yes), .reporterGone, .hintChanged(false)).isLocked == .no)
    #expect(after(.hintRead(false), .reported(.no), .reporterGone).isLocked == .unknown)
  }
}
