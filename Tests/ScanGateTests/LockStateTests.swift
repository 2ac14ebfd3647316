import ScanGate
import Testing

@Suite struct LockStateTests {
  private func after(_ events: LockState.Event...) -> LockState {
    var state = LockState()
    for event in events { state.handle(event) }
    return state
  }

  @Test func aHintThatWasNeverSetSaysNothing() {
    #expect(after().isLocked == .unknown)
    #expect(after(.hintRead(false)).isLocked == .unknown)
    #expect(after(.hintRead(false)).hasBeenUnlocked)
  }

  @Test func aHintThatIsSetAndClearedIsBelieved() {
    #expect(after(.hintRead(true)).isLocked == .yes)
    #expect(!after(.hintRead(true)).hasBeenUnlocked)
    #expect(after(.hintRead(false), .hintChanged(true)).isLocked == .yes)
    #expect(after(.hintRead(true), .hintChanged(false)).isLocked == .no)
    #expect(after(.hintRead(true), .hintChanged(false)).hasBeenUnlocked)
  }

  @Test func aRestartOfLogindForgetsNoLock() {
    let restarted = after(.hintRead(true), .logindGone, .hintRead(false))
    #expect(restarted.isLocked == .yes)
    #expect(!restarted.hasBeenUnlocked)
    #expect(after(.hintRead(true), .logindGone, .hintRead(false), .logindGone, .hintRead(false)).isLocked == .yes)
    #expect(after(.hintRead(true), .logindGone, .hintRead(false), .hintChanged(false)).isLocked == .no)
    #expect(after(.hintRead(true), .logindGone, .hintRead(false), .hintChanged(true)).isLocked == .yes)
    // Who says "unlocked" as before, or first of all, knows nothing of the locker that had set the hint.
    #expect(after(.hintRead(true), .logindGone, .hintRead(false), .reported(.no)).isLocked == .yes)
    #expect(after(.reported(.no), .hintRead(true), .logindGone, .hintRead(false), .reported(.no)).isLocked == .yes)
    #expect(
      after(.hintRead(true), .logindGone, .hintRead(false), .reported(.yes), .reported(.no)).isLocked == .no)
    #expect(after(.hintRead(true), .logindGone, .hintRead(false), .reported(.unknown)).isLocked == .yes)
  }

  @Test func theUsersOwnWordCountsWhateverWasSaidBefore() {
    #expect(
      after(.reported(.no), .hintRead(true), .logindGone, .hintRead(false), .reported(.no), .userUnlocked).isLocked
        == .no)
    #expect(after(.hintRead(false), .reported(.yes), .reporterGone, .userUnlocked).isLocked == .unknown)
    // It opens nothing that somebody says is locked now.
    #expect(after(.hintRead(true), .userUnlocked).isLocked == .yes)
    #expect(after(.hintRead(true), .userUnlocked, .logindGone, .hintRead(false)).isLocked == .yes)
    #expect(after(.hintRead(false), .reported(.yes), .userUnlocked).isLocked == .yes)
  }

  @Test func aRestartOfLogindLocksNoUnlockedSession() {
    #expect(after(.hintRead(false), .logindGone).isLocked == .unknown)
    #expect(after(.hintRead(true), .hintChanged(false), .logindGone, .hintRead(false)).isLocked == .no)
  }

  @Test func anybodyMaySayThatItIsLocked() {
    #expect(after(.hintRead(false), .reported(.yes)).isLocked == .yes)
    #expect(after(.hintRead(true), .reported(.no)).isLocked == .yes)
    #expect(after(.hintRead(false), .reported(.no)).isLocked == .no)
    #expect(after(.hintRead(false), .reported(.yes), .reported(.unknown)).isLocked == .unknown)
  }

  @Test func onlyWhoKnowsSaysThatItIsUnlocked() {
    #expect(!after(.hintRead(false)).hasBeenSaidUnlocked)
    #expect(!after(.hintRead(false), .hintChanged(true)).hasBeenSaidUnlocked)
    #expect(after(.hintRead(true), .hintChanged(false), .hintChanged(true)).hasBeenSaidUnlocked)
    #expect(after(.reported(.no), .reported(.unknown)).hasBeenSaidUnlocked)
  }

  @Test func anAgentThatEndsUnlocksNothing() {
    #expect(after(.hintRead(false), .reported(.yes), .reporterGone).isLocked == .yes)
    #expect(after(.hintRead(false), .reported(.yes), .reporterGone, .reported(.unknown)).isLocked == .yes)
    // The next one's screen saver is idle, and what the user had locked the session with is not.
    #expect(after(.hintRead(false), .reported(.yes), .reporterGone, .reported(.no)).isLocked == .yes)
    #expect(
      after(.hintRead(false), .reported(.yes), .reporterGone, .reported(.yes), .reported(.no)).isLocked == .no)
    #expect(after(.hintRead(true), .reported(.yes), .reporterGone, .hintChanged(false)).isLocked == .no)
    #expect(after(.hintRead(false), .reported(.no), .reporterGone).isLocked == .unknown)
  }
}
