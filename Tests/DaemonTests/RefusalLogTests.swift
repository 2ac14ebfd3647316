import Testing

@testable import Daemon

@Suite struct RefusalLogTests {
  private var log = RefusalLog()
  private var clock = ManualClock()

  private mutating func admits(_ uid: UInt32) -> Bool { log.admits(uid, at: clock.now) }

  @Test mutating func aUserHasOneLineAMinute() {
    #expect(admits(1000))
    #expect(!admits(1000))
    #expect(admits(1001))
    clock.advance(.seconds(59))
    #expect(!admits(1000))
    clock.advance(.seconds(1))
    #expect(admits(1000))
  }

  @Test mutating func manyUsersAreNotManyLines() {
    var lines = 0
    for uid in 0..<1000 where admits(UInt32(uid)) { lines += 1 }
    #expect(lines == RefusalLog.limit)
    clock.advance(RefusalLog.interval)
    #expect(admits(999))
  }
}
