import ScanGate
@testable import Session
import Testing

@Suite struct SleepDelayTests {
  private var delay = SleepDelay()

  private mutating func tell(_ event: SleepDelay.Event) -> [SleepDelay.Action] { delay.handle(event) }

  private mutating func logind(_ departures: Int = 0, sleeping: Bool = false) -> [SleepDelay.Action] {
    delay.handle(.logind(isAvailable: true, departures: departures, isSleeping: sleeping ? .yes : .no))
  }

  /// Awake, a lock held, a field on.
  private mutating func begin() {
    #expect(logind() == [.ask])
    #expect(tell(.granted) == [])
    #expect(tell(.fields(areOff: false)) == [])
  }

  @Test mutating func itLetsGoOnceEveryFieldIsOffAndTakesTheLockAnewAfterwards() {
    begin()
    #expect(logind(sleeping: true) == [.wait(SleepDelay.limit)])
    #expect(delay.isHeld)
    #expect(tell(.fields(areOff: true)) == [.release])
    #expect(!delay.isHeld)
    #expect(tell(.tick) == [])
    #expect(logind() == [.ask])
    #expect(tell(.granted) == [])
    #expect(delay.isHeld)
  }

  @Test mutating func withEveryFieldOffItLetsGoAtOnce() {
    begin()
    #expect(tell(.fields(areOff: true)) == [])
    #expect(logind(sleeping: true) == [.release])
  }

  @Test mutating func aFieldThatDoesNotGoOffIsNotWaitedForLongerThanLogindWould() {
    begin()
    #expect(logind(sleeping: true) == [.wait(SleepDelay.limit)])
    #expect(tell(.tick) == [.giveUp])
    #expect(tell(.fields(areOff: true)) == [])
    #expect(SleepDelay.limit < .seconds(5))
  }

  @Test mutating func aLogindThatRestartsIsAskedAnewAndTheOldLockKeptUntilThen() {
    begin()
    #expect(tell(.logind(isAvailable: false, departures: 1, isSleeping: .unknown)) == [])
    #expect(delay.isHeld)
    #expect(logind(1) == [.ask])
    #expect(tell(.granted) == [])
    #expect(logind(1) == [])
    // Gone and back between two looks.
    #expect(logind(2) == [.ask])
  }

  @Test mutating func aRefusalIsTriedAgainLaterAndAtOnceWithAnotherLogind() {
    #expect(logind() == [.ask])
    #expect(tell(.refused) == [.wait(SleepDelay.shortestPause)])
    #expect(logind() == [])
    #expect(tell(.tick) == [.ask])
    #expect(tell(.refused) == [.wait(SleepDelay.shortestPause * 2)])
    #expect(logind(1) == [.ask])
    // It goes away instead of answering.
    #expect(logind(2) == [])
    #expect(tell(.refused) == [.ask])
  }

  @Test mutating func aLogindThatNeverGivesOneIsAskedEverLessOften() {
    #expect(logind() == [.ask])
    for _ in 0..<12 {
      _ = tell(.refused)
      #expect(tell(.tick) == [.ask])
    }
    #expect(tell(.refused) == [.wait(SleepDelay.longestPause)])
    // Once it has given one it is asked as at the beginning.
    #expect(tell(.tick) == [.ask])
    #expect(tell(.granted) == [])
    #expect(logind(1) == [.ask])
    #expect(tell(.refused) == [.wait(SleepDelay.shortestPause)])
  }

  @Test mutating func aLockThatComesTooLateIsLetGoAtOnce() {
    #expect(logind() == [.ask])
    #expect(logind(sleeping: true) == [])
    #expect(tell(.granted) == [.release])
    #expect(logind() == [.ask])
    #expect(logind(sleeping: true) == [])
    #expect(tell(.refused) == [])
    #expect(logind() == [.ask])
  }

  @Test mutating func withoutLogindThereIsNobodyToAsk() {
    #expect(tell(.logind(isAvailable: false, departures: 0, isSleeping: .unknown)) == [])
    #expect(tell(.fields(areOff: false)) == [])
  }
}
