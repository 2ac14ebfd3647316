import Testing

@testable import ReaderSimulator

@Suite struct FaultTests {
  private func driver(_ faults: Fault...) throws -> ChipDriver {
    let driver = ChipDriver()
    _ = driver.place(try type2())
    _ = driver.send(select)
    for fault in faults { driver.chip.radio.faults.add(fault) }
    return driver
  }

  @Test func `a silence fault lasts for its number of commands`() throws {
    let driver = try driver(.silence(commands: 2))
    #expect(driver.send([0x02]) == [.cancel])
    #expect(driver.send([0x02]) == [.cancel])
    #expect(driver.answer([0x02]) != nil)
  }

  @Test func `a silence fault without a number lasts until it is cleared`() throws {
    let driver = try driver(.silence())
    for _ in 0..<5 { #expect(driver.send([0x02]) == [.cancel]) }
    driver.chip.radio.faults.clear()
    #expect(driver.answer([0x02]) != nil)
  }

  @Test func `a stall ends with a reset of the chip`() throws {
    let driver = try driver(.stall(command: 2))
    #expect(driver.answer([0x02]) != nil)
    #expect(ChipDriver.frames(driver.send([0x02])) == [.acknowledge])
    #expect(driver.send([0x02]) == [] && driver.chip.receive(.acknowledge, at: .zero) == [])
    driver.chip.reset(at: .zero)
    #expect(driver.answer([0x02]) != nil)
  }

  @Test func `an unplug fault unplugs the reader at its command`() throws {
    let driver = try driver(.unplug(command: 1))
    #expect(driver.send([0x02]) == [.cancel, .unplug])
  }

  @Test func `a checksum fault damages one answer`() throws {
    let driver = try driver(.corruptChecksum(command: 2))
    #expect(driver.answer([0x02]) != nil)
    #expect(ChipDriver.frames(driver.send([0x02])) == [.acknowledge])
    #expect(driver.answer([0x02]) != nil)
  }

  @Test func `answers that have fallen behind stay there until the chip is reset`() throws {
    let driver = try driver(.fallBehind(command: 2))
    let codes = { (commands: [UInt8]) in
      commands.compactMap { command -> UInt8? in
        guard case .information(let payload)? = ChipDriver.frames(driver.send([command])).last else { return nil }
        return payload[1]
      }
    }
    #expect(codes([0x02, 0x04, 0x0C, 0x02]) == [0x03, 0x03, 0x05, 0x0D])
    driver.chip.reset(at: .zero)
    #expect(codes([0x04, 0x02]) == [0x05, 0x03])
  }

  @Test func `a status fault affects only exchanges`() throws {
    let driver = try driver(.status(0x81, command: 2))
    #expect(driver.answer([0x02]) != nil)
    #expect(driver.answer([0x40, 0x01, 0x30, 0x00])?.first == 0x00)
    #expect(driver.answer([0x02]) != nil)
    #expect(driver.answer([0x40, 0x01, 0x30, 0x00]) == [0x81])
    #expect(driver.chip.radio.exchanges == 1)
  }

  @Test func `a delay fault delays one answer`() throws {
    let driver = try driver(.delay(.milliseconds(250)))
    #expect(ChipDriver.duration(driver.send([0x02])) == .milliseconds(250))
    #expect(ChipDriver.duration(driver.send([0x02])) == .zero)
  }

  @Test func `a removal fault removes the tag before or after it receives the frame`() throws {
    for heard in [false, true] {
      let driver = try driver(.removal(exchange: 2, heard: heard))
      #expect(driver.answer([0x40, 0x01, 0x30, 0x00])?.count == 17)
      #expect(driver.answer([0x40, 0x01, 0xA2, 0x08, 9, 9, 9, 9]) == [0x01])
      #expect(driver.chip.radio.field.tags.isEmpty)
      let tag = try #require(driver.takeBack(1))
      #expect(tag.memory[32..<36] == (heard ? [9, 9, 9, 9] : [0, 0, 0, 0]))
    }
  }

  /// The fault tears the write of page 8, which has zeros.
  @Test(
    arguments: [
      (WriteTear(bytes: 0), [0, 0, 0, 0]), (WriteTear(bytes: 3), [9, 9, 9, 0]), (WriteTear(bytes: 9), [9, 9, 9, 9]),
      (WriteTear(bytes: 1, remainder: .ones), [9, 0xFF, 0xFF, 0xFF]),
    ] as [(WriteTear, [UInt8])])
  func `a torn write is stored in part`(tear: WriteTear, expected: [UInt8]) throws {
    let driver = try driver(.tear(exchange: 2, tear))
    let write: [UInt8] = [0x40, 0x01, 0xA2, 0x08, 9, 9, 9, 9]
    #expect(driver.answer([0x40, 0x01, 0x30, 0x00])?.count == 17)
    #expect(driver.answer(write) == [0x01])
    #expect(driver.chip.radio.field.tags.isEmpty)
    let tag = try #require(driver.takeBack(1))
    #expect(Array(tag.memory[32..<36]) == expected)
    // The next write is complete.
    _ = driver.place(SimulatedTag(tag: tag))
    _ = driver.send(select)
    _ = driver.send(write)
    let memory = try #require(driver.chip.radio.field.memory(of: TagID(number: 2)))
    #expect(Array(memory[32..<36]) == [9, 9, 9, 9])
  }
}

/// How the chip handles errors on the air.
@Suite struct RadioFaultTests {
  private static let write: [UInt8] = [0x40, 0x01, 0xA2, 0x08, 9, 9, 9, 9]
  private static let read: [UInt8] = [0x40, 0x01, 0x30, 0x08]

  /// Reads and then writes, with a fault in the second exchange.
  @Test(
    arguments: [
      (.unheard, 0x01, false), (.garbledCommand, 0x13, false), (.unanswered, 0x01, true), (.garbledAnswer, 0x13, true),
      (.late(.milliseconds(60)), 0x01, true), (.late(.milliseconds(40)), 0x00, true),
    ] as [(Fault.Disturbance, UInt8, Bool)])
  func `a radio fault stops a write or its answer`(disturbance: Fault.Disturbance, status: UInt8, isDone: Bool) throws {
    let driver = ChipDriver.selected(try type2())
    driver.chip.radio.faults.add(.radio(disturbance, exchange: 2))
    #expect(driver.answer(Self.read)?.count == 17)
    #expect(driver.answer(Self.write) == [status])
    #expect(driver.chip.radio.faults.strikes == 1)
    let memory = try #require(driver.chip.radio.field.memory(of: TagID(number: 1)))
    #expect(memory[32..<36] == (isDone ? [9, 9, 9, 9] : [0, 0, 0, 0]))
  }

  @Test func `a garbled answer gets the status for a wrong checksum`() throws {
    let driver = ChipDriver.selected(try type2())
    driver.chip.radio.faults.add(.radio(.garbledAnswer))
    #expect(driver.answer(Self.read) == [0x02])
    #expect(driver.answer(Self.read)?.count == 17)
  }

  /// RFConfiguration, item 4.
  @Test(arguments: [(1, 2), (2, 2), (0, 1), (1, 1)] as [(UInt8, Int)])
  func `the firmware retries as often as configured`(retries: UInt8, times: Int) throws {
    let driver = ChipDriver.selected(try type2())
    #expect(driver.answer([0x32, 0x04, retries]) == [])
    driver.chip.radio.faults.add(.radio(.unheard, times: times))
    #expect(driver.answer(Self.read)?.first == (Int(retries) < times ? 0x01 : 0x00))
  }

  /// Selects the NDEF application and its file. UPDATE of the file takes two blocks, and READ is answered in two.
  @Test(arguments: [Fault.Disturbance.unheard, .garbledCommand, .unanswered, .garbledAnswer], 1...6)
  func `an ISO-DEP block is repeated up to twice`(disturbance: Fault.Disturbance, exchange: Int) throws {
    let options = Type4Options { ($0.maximumRead, $0.maximumWrite) = (100, 100) }
    for times in 1...3 {
      let driver = ChipDriver.selected(try .type4(message: [0xD0, 0, 0], uid: .fixed(uid7), options: options))
      driver.chip.radio.faults.add(.radio(disturbance, exchange: exchange, times: times))
      let data = (0..<80).map { UInt8($0) }
      let answers = [
        [0x00, 0xA4, 0x04, 0x00, 0x07, 0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01, 0x00],
        [0x00, 0xA4, 0x00, 0x0C, 0x02, 0xE1, 0x04], [0x00, 0xD6, 0x00, 0x02, 80] + data, [0x00, 0xB0, 0x00, 0x02, 80],
      ].map { driver.answer([0x40, 0x01] + $0) }
      #expect(driver.chip.radio.faults.strikes > 0)
      if times <= 2 {
        let done: [UInt8] = [0x00, 0x90, 0x00]
        #expect(answers == [done, done, done, [0x00] + data + [0x90, 0x00]])
      } else {
        // The chip reports the error.
        #expect(answers.contains { $0?.first != 0x00 })
      }
    }
  }
}
