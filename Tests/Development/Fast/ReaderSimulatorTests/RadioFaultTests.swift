import Testing

@testable import ReaderSimulator

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
