import Testing

@testable import Presence

@Suite struct SleepDelayTests {
  private var delay = SleepDelay()

  private mutating func tell(_ event: SleepDelay.Event) -> [SleepDelay.Action] { delay.handle(event) }

  private mutating func logind(_ departures: Int = 0, sleeping: Bool = false) -> [SleepDelay.Action] {
    delay.handle(.logind(isAvailable: true, departures: departures, isSleeping: sleeping ? .yes : .no))
  }

  /// Brings the delay into the state: awake, lock held, field on.
  private mutating func begin() {
    #expect(logind() == [.ask])
    #expect(tell(.granted) == [])
    #expect(tell(.fields(areOff: false)) == [])
  }

  @Test mutating func `the lock is released when all fields are off, and taken again after the sleep`() {
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

  @Test mutating func `the lock is released at once if all fields are already off`() {
    begin()
    #expect(tell(.fields(areOff: true)) == [])
    #expect(logind(sleeping: true) == [.release])
  }

  @Test mutating func `a field that stays on delays sleep for less time than logind allows`() {
    begin()
    #expect(logind(sleeping: true) == [.wait(SleepDelay.limit)])
    #expect(tell(.tick) == [.giveUp])
    #expect(tell(.fields(areOff: true)) == [])
    #expect(SleepDelay.limit < .seconds(5))
  }

  @Test mutating func `a restarted logind is asked for a lock, and the old lock is kept until it is granted`() {
    begin()
    #expect(tell(.logind(isAvailable: false, departures: 1, isSleeping: .unknown)) == [])
    #expect(delay.isHeld)
    #expect(logind(1) == [.ask])
    #expect(tell(.granted) == [])
    #expect(logind(1) == [])
    // logind left and returned between two events.
    #expect(logind(2) == [.ask])
  }

  @Test mutating func `a refusal is retried later, or at once after a restart of logind`() {
    #expect(logind() == [.ask])
    #expect(tell(.refused) == [.wait(SleepDelay.shortestPause)])
    #expect(logind() == [])
    #expect(tell(.tick) == [.ask])
    #expect(tell(.refused) == [.wait(SleepDelay.shortestPause * 2)])
    #expect(logind(1) == [.ask])
    // logind leaves instead of replying.
    #expect(logind(2) == [])
    #expect(tell(.refused) == [.ask])
  }

  @Test mutating func `a logind that never grants a lock is asked less and less often`() {
    #expect(logind() == [.ask])
    for _ in 0..<12 {
      _ = tell(.refused)
      #expect(tell(.tick) == [.ask])
    }
    #expect(tell(.refused) == [.wait(SleepDelay.longestPause)])
    // After a lock was granted, the retries start with the shortest pause again.
    #expect(tell(.tick) == [.ask])
    #expect(tell(.granted) == [])
    #expect(logind(1) == [.ask])
    #expect(tell(.refused) == [.wait(SleepDelay.shortestPause)])
  }

  @Test mutating func `a lock that is granted too late is released at once`() {
    #expect(logind() == [.ask])
    #expect(logind(sleeping: true) == [])
    #expect(tell(.granted) == [.release])
    #expect(logind() == [.ask])
    #expect(logind(sleeping: true) == [])
    #expect(tell(.refused) == [])
    #expect(logind() == [.ask])
  }

  @Test mutating func `without logind no lock is requested`() {
    #expect(tell(.logind(isAvailable: false, departures: 0, isSleeping: .unknown)) == [])
    #expect(tell(.fields(areOff: false)) == [])
  }
}
