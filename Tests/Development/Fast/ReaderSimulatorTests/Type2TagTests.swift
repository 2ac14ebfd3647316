import Testing

@testable import ReaderSimulator

@Suite struct Type2TagTests {
  @Test func `the first pages have the UID and the capability container`() throws {
    let driver = ChipDriver.selected(try type2(.ntag213))
    #expect(
      driver.answer([0x40, 0x01, 0x30, 0x00])
        == [0x00, 0x04, 0x11, 0x22, 0xBF, 0x33, 0x44, 0x55, 0x66, 0x44, 0x48, 0x00, 0x00, 0xE1, 0x10, 0x12, 0x00])
  }

  @Test func `a READ continues with the first page after the last`() throws {
    let driver = ChipDriver.selected(try type2(.ultralight))
    let answer = try #require(driver.answer([0x40, 0x01, 0x30, 0x0F]))
    #expect(answer[1...4] == [0, 0, 0, 0] && answer[5...7] == uid7[0..<3])
  }

  @Test func `a refused command deselects the tag`() throws {
    let driver = ChipDriver.selected(try type2(.ultralight))
    #expect(driver.answer([0x40, 0x01, 0x30, 0x10]) == [0x13])
    #expect(driver.answer([0x40, 0x01, 0x30, 0x00]) == [0x01])
    #expect(driver.answer(select)?.first == 1)
  }

  @Test(arguments: SimulatedType2Model.all)
  func `a long message has a length field of three bytes`(model: SimulatedType2Model) throws {
    let message = [UInt8](repeating: 0x5A, count: min(300, model.capacity - 4))
    let memory = try type2(model, message).tag.memory
    #expect(memory.count == model.pageCount * 4)
    if message.count > 0xFE {
      #expect(memory[16..<20] == [0x03, 0xFF, 0x01, 0x2C] && memory[320] == 0xFE)
    } else {
      #expect(memory[16..<18] == [0x03, UInt8(message.count)])
    }
  }

  @Test func `a message, memory or UID of the wrong size is an error`() {
    #expect(throws: SimulatorError.self) { try type2(.ultralight, [UInt8](repeating: 0, count: 47)) }
    #expect(throws: SimulatorError.self) { try SimulatedTag.type2(memory: [UInt8](repeating: 0, count: 7)) }
    #expect(throws: SimulatorError.self) { try SimulatedTag.type2(memory: [UInt8](repeating: 0, count: 1961)) }
    #expect(throws: SimulatorError.self) { try TagUID.fixed([1, 2, 3]) }
  }

  @Test func `newer commands work only with InCommunicateThru`() throws {
    let driver = ChipDriver.selected(try type2(.ntag215))
    #expect(ChipDriver.frames(driver.send([0x40, 0x01, 0x60])) == [.acknowledge, .error])
    #expect(ChipDriver.frames(driver.send([0x40, 0x01, 0x3A, 0x00, 0x01])) == [.acknowledge, .error])
    driver.expect([
      ([0x42, 0x60], [0x00, 0x00, 0x04, 0x04, 0x02, 0x01, 0x00, 0x11, 0x03]),
      ([0x42, 0x3A, 0x00, 0x01], [0x00, 0x04, 0x11, 0x22, 0xBF, 0x33, 0x44, 0x55, 0x66]),
      // A refusal has four bits. The chip reports it as a wrong CRC.
      ([0x42, 0x3A, 0x02, 0x01], [0x02]),
    ])
  }

  @Test func `an Ultralight does not know GET_VERSION`() throws {
    let driver = ChipDriver.selected(try type2(.ultralight))
    #expect(driver.answer([0x42, 0x60]) == [0x01])
    #expect(driver.answer(select)?.first == 1)
  }

  @Test func `an answer of four bits can be read without a CRC`() throws {
    let driver = ChipDriver.selected(try type2())
    _ = driver.send([0x08, 0x63, 0x03, 0x00])
    #expect(driver.answer([0x42, 0xA2, 0x05, 1, 2, 3, 4]) == [0x00, 0x0A])
    #expect(driver.answer([0x06, 0x63, 0x3C]) == [0x04])
  }

  @Test func `a command with a wrong CRC is refused`() throws {
    let driver = ChipDriver.selected(try type2())
    _ = driver.send([0x08, 0x63, 0x02, 0x00, 0x63, 0x03, 0x00])
    #expect(driver.answer([0x42, 0x30, 0x00, 0x00, 0x00]) == [0x00, 0x01])
  }

  @Test func `WRITE and COMPATIBILITY WRITE change a page`() throws {
    let driver = ChipDriver.selected(try type2())
    #expect(driver.answer([0x40, 0x01, 0xA2, 0x05, 1, 2, 3, 4]) == [0x00])
    #expect(driver.answer([0x40, 0x01, 0xA0, 0x06, 5, 6, 7, 8] + [UInt8](repeating: 0xEE, count: 12)) == [0x00])
    let page = try #require(driver.answer([0x40, 0x01, 0x30, 0x05]))
    #expect(page.prefix(9) == [0x00, 1, 2, 3, 4, 5, 6, 7, 8])
  }

  @Test func `lock bits lock their pages permanently`() throws {
    var memory = try Type2Memory(model: .ntag213, uid: uid7, message: [])
    #expect(memory.write([0, 0, 0, 0], page: 0) == false)
    #expect(memory.write([0, 0, 0, 0], page: 45) == false)
    #expect(memory.write([0xFF, 0xFF, 0x10, 0x80], page: 2) == true)
    #expect(memory.isLocked(4) && memory.isLocked(15) && !memory.isLocked(5))
    #expect(memory.write([1, 1, 1, 1], page: 4) == false)
    #expect(memory.write([1, 1, 1, 1], page: 5) == true)
    #expect(memory.write([0, 0, 0, 0], page: 2) == true)
    #expect(memory.isLocked(4))
    #expect(memory.bytes[0..<8] == [0x04, 0x11, 0x22, 0xBF, 0x33, 0x44, 0x55, 0x66])
    // Bit 1 of the dynamic lock bytes: pages 18 and 19.
    #expect(memory.write([0x02, 0x00, 0x00, 0xFF], page: 0x28) == true)
    #expect(memory.isLocked(18) && memory.isLocked(19) && !memory.isLocked(17) && !memory.isLocked(20))
    #expect(memory.bytes[0x28 * 4 + 3] == 0xBD)
  }

  @Test func `block-locking bits freeze lock bits`() throws {
    var memory = try Type2Memory(model: .ntag215, uid: uid7, message: [])
    for bytes: [UInt8] in [[0, 0, 0x02, 0x00], [0, 0, 0xF8, 0xFF]] { #expect(memory.write(bytes, page: 2) == true) }
    #expect(!memory.isLocked(4) && !memory.isLocked(9) && memory.isLocked(3) && memory.isLocked(10))
    for bytes: [UInt8] in [[0, 0, 0x01, 0], [0x07, 0, 0, 0]] { #expect(memory.write(bytes, page: 0x82) == true) }
    #expect(!memory.isLocked(16) && !memory.isLocked(32) && memory.isLocked(48))
  }

  @Test func `bits of the capability container can only be set`() throws {
    var memory = try Type2Memory(model: .ultralight, uid: uid7, message: [])
    #expect(memory.write([0x00, 0x00, 0x00, 0x0F], page: 3) == true)
    #expect(memory.bytes[12..<16] == [0xE1, 0x10, 0x06, 0x0F])
  }
}
