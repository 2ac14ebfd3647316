import Testing

@testable import ReaderSimulator

@Suite struct PN532ChipTests {
  private let driver = ChipDriver()

  @Test func `a command is acknowledged before its answer`() {
    #expect(
      ChipDriver.frames(driver.send([0x02])) == [.acknowledge, .information([0xD5, 0x03, 0x32, 0x01, 0x06, 0x07])])
  }

  @Test func `the diagnose command echoes its data`() {
    #expect(driver.answer([0x00, 0x00] + Array("libnfc".utf8)) == [0x00] + Array("libnfc".utf8))
  }

  @Test(arguments: [
    [0xAB], [0x4A], [0x4A, 0x03, 0x00], [0x4A, 0x01, 0x09], [0x32, 0x77], [0x06, 0x63], [0x08, 0x63, 0x02],
  ])
  func `an invalid command gets an error frame`(command: [UInt8]) {
    #expect(ChipDriver.frames(driver.send(command)) == [.acknowledge, .error])
  }

  @Test func `a wrong frame identifier gets an error frame`() {
    #expect(ChipDriver.frames(driver.chip.receive(.information([0xD5, 0x02]), at: .zero)) == [.acknowledge, .error])
  }

  @Test func `registers keep written values, and unknown ones read as zero`() {
    driver.expect([
      ([0x06, 0x63, 0x02, 0x63, 0x03], [0x80, 0x80]), ([0x08, 0x63, 0x02, 0x00, 0x63, 0x3D, 0x07], []),
      ([0x06, 0x63, 0x02, 0x63, 0x3D, 0x12, 0x34], [0x00, 0x07, 0x00]),
    ])
  }

  @Test func `the last answer is repeated on request`() {
    let answer = ChipDriver.frames(driver.send([0x02])).last
    #expect(ChipDriver.frames(driver.chip.receive(.notAcknowledge, at: .zero)).last == answer)
  }

  @Test func `a select ends after its retries`() {
    #expect(driver.answer([0x32, 0x05, 0x00, 0x00, 0x02]) == [])
    #expect(driver.answer(select) == [0])
    #expect(driver.chip.radio.activationFrames == 3)
    #expect(driver.chip.radio.field.isOn)
  }

  @Test func `a select with infinite retries waits for a tag`() throws {
    #expect(ChipDriver.frames(driver.send(select)) == [.acknowledge])
    let answer = ChipDriver.frames(driver.place(try type2()))
    #expect(answer == [.information([0xD5, 0x4B, 0x01, 0x01, 0x00, 0x44, 0x00, 0x07] + uid7)])
  }

  @Test func `an acknowledge frame aborts a select`() throws {
    _ = driver.send(select)
    #expect(driver.chip.receive(.acknowledge, at: .zero) == [.cancel])
    #expect(driver.place(try type2()) == [])
  }

  @Test func `the next command ends a select`() throws {
    _ = driver.send(select)
    #expect(driver.answer([0x02]) != nil)
    #expect(driver.place(try type2()) == [])
  }

  @Test func `an autopoll without a tag answers at its deadline`() {
    // Two rounds of one type, 300 ms each.
    let actions = driver.send([0x60, 0x02, 0x02, 0x10])
    #expect(actions.last == .wake(at: .milliseconds(600)))
    #expect(driver.chip.wake(at: .milliseconds(500)) == [])
    #expect(ChipDriver.frames(driver.chip.wake(at: .milliseconds(600))) == [.information([0xD5, 0x61, 0x00])])
  }

  @Test func `an autopoll describes the tag that it finds`() throws {
    _ = driver.place(try type2())
    #expect(driver.answer([0x60, 0x01, 0x01, 0x20, 0x10]) == [1, 0x10, 12, 0x01, 0x00, 0x44, 0x00, 0x07] + uid7)
  }

  @Test func `the time with the field on is counted`() {
    _ = driver.send([0x32, 0x01, 0x01])
    driver.now = .milliseconds(40)
    #expect(driver.chip.counters(at: driver.now).fieldOnTime == .milliseconds(40))
    _ = driver.send([0x32, 0x01, 0x00])
    driver.now = .milliseconds(90)
    #expect(driver.chip.counters(at: driver.now).fieldOnTime == .milliseconds(40))
    #expect(driver.chip.counters(at: driver.now).commands == 2)
  }

  @Test func `the trace has commands and answers`() {
    _ = driver.send([0x02])
    _ = driver.send([0xAB])
    #expect(driver.chip.trace.map(\.command) == [[0x02], [0xAB]])
    #expect(driver.chip.trace.map(\.answer) == [[0x32, 0x01, 0x06, 0x07], nil])
  }

  @Test func `realistic timing matches published logs`() throws {
    let driver = ChipDriver(.realistic)
    _ = driver.place(try type2())
    _ = driver.send([0x32, 0x01, 0x01])
    driver.now = .milliseconds(10)
    let activation = ChipDriver.duration(driver.send(select))
    #expect((.milliseconds(20.5) ... .milliseconds(21.5)).contains(activation))
    let read = ChipDriver.duration(driver.send([0x40, 0x01, 0x30, 0x04]))
    #expect((.milliseconds(5) ... .milliseconds(6)).contains(read))
  }

  @Test func `random commands do not crash the chip`() throws {
    _ = driver.place(try type2())
    _ = driver.place(try .type4(message: [0xD0, 0x00, 0x00]))
    for _ in 0..<20_000 {
      let length = Int.random(in: 0...20)
      var command = [UInt8.random(in: 0...0x60)] + (0..<length).map { _ in UInt8.random(in: 0...0xFF) }
      if Bool.random(), command.count > 1 { command[1] = UInt8.random(in: 0...2) }
      _ = driver.send(command)
    }
    driver.chip.reset(at: .zero)
    #expect(driver.answer([0x02]) != nil)
  }
}

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
