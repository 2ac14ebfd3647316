import Testing

@testable import ReaderSimulator

/// The records that the chip keeps for benchmarks.
@Suite struct CommandRecordTests {
  @Test func `a command lasts from its first byte to the last byte of its answer`() throws {
    let driver = ChipDriver(.realistic)
    driver.now = .milliseconds(7)
    let first = ChipDriver.duration(driver.send(oneRequest))
    driver.now = .milliseconds(50)
    let second = ChipDriver.duration(driver.send(select))
    #expect(driver.chip.counters(at: .milliseconds(100)).wireTime == first + second)
    let record = try #require(driver.chip.trace.last)
    #expect(record.arrival == .milliseconds(50))
    #expect(record.end == .milliseconds(50) + second)
    #expect(record.counters?.commands == 2)
    #expect(record.counters?.wireTime == first + second)
  }

  @Test func `a record has the number of targets that were found`() throws {
    let driver = ChipDriver()
    _ = driver.send(oneRequest)
    #expect(driver.chip.trace.last?.foundTargets == nil)
    _ = driver.send(select)
    #expect(driver.chip.trace.last?.foundTargets == 0)
    _ = driver.place(try type2())
    _ = driver.send([0x32, 0x01, 0x00])
    _ = driver.send(select)
    #expect(driver.chip.trace.last?.foundTargets == 1)
  }

  @Test func `after a select the registers have its mode and its last frame`() throws {
    let driver = ChipDriver()
    _ = driver.send(oneRequest)
    _ = driver.send([0x08, 0x63, 0x02, 0x23, 0x63, 0x03, 0x00])
    _ = driver.send(select)
    #expect(driver.answer([0x06, 0x63, 0x39, 0x63, 0x02, 0x63, 0x03]) == [0x26, 0x23, 0x00])
    _ = driver.place(try type2())
    _ = driver.send([0x32, 0x01, 0x00])
    _ = driver.send(select)
    #expect(driver.answer([0x06, 0x63, 0x39, 0x63, 0x02, 0x63, 0x03])?.dropFirst() == [0x80, 0x80])
    #expect(driver.answer([0x06, 0x63, 0x39]) != [0x26])
  }
}
