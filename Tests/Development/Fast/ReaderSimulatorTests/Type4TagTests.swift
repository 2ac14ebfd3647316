import Testing

@testable import ReaderSimulator

@Suite struct Type4TagTests {
  private static let selectApplication: [UInt8] = [
    0x00, 0xA4, 0x04, 0x00, 0x07, 0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01, 0x00,
  ]
  private static let selectContainer: [UInt8] = [0x00, 0xA4, 0x00, 0x0C, 0x02, 0xE1, 0x03]
  private static let selectNDEF: [UInt8] = [0x00, 0xA4, 0x00, 0x0C, 0x02, 0xE1, 0x04]

  private func selected(_ message: [UInt8], _ options: Type4Options = Type4Options()) throws -> ChipDriver {
    let driver = ChipDriver.selected(try .type4(message: message, options: options))
    #expect(driver.answer([0x40, 0x01] + Self.selectApplication) == [0x00, 0x90, 0x00])
    return driver
  }

  @Test func `a message is read in five commands`() throws {
    let driver = try selected([0xD0, 0x00, 0x00])
    #expect(driver.answer([0x40, 0x01] + Self.selectContainer) == [0x00, 0x90, 0x00])
    #expect(
      driver.answer([0x40, 0x01, 0x00, 0xB0, 0x00, 0x00, 0x0F])
        == [0, 0, 0x0F, 0x20, 0, 59, 0, 52, 0x04, 0x06, 0xE1, 0x04, 0x01, 0x00, 0x00, 0x00, 0x90, 0x00])
    #expect(driver.answer([0x40, 0x01] + Self.selectNDEF) == [0x00, 0x90, 0x00])
    #expect(driver.answer([0x40, 0x01, 0x00, 0xB0, 0x00, 0x00, 0x05]) == [0, 0, 3, 0xD0, 0, 0, 0x90, 0x00])
    #expect(driver.chip.radio.exchanges == 5)
  }

  @Test func `each error has its status word`() throws {
    let driver = try selected([])
    driver.expect([
      ([0x40, 0x01, 0x00, 0xB0, 0x00, 0x00, 0x02], [0, 0x69, 0x86]),
      ([0x40, 0x01, 0x00, 0xA4, 0x00, 0x0C, 0x02, 0xE1, 0x05], [0, 0x6A, 0x82]),
      ([0x40, 0x01, 0x00, 0xA4, 0x04, 0x00, 0x01, 0xAA], [0, 0x6A, 0x82]),
      ([0x40, 0x01] + Self.selectApplication, [0, 0x90, 0x00]), ([0x40, 0x01] + Self.selectNDEF, [0, 0x90, 0x00]),
      // More than MLe, beyond the end, an unknown instruction and class, contradictory lengths.
      ([0x40, 0x01, 0x00, 0xB0, 0x00, 0x00, 60], [0, 0x67, 0x00]),
      ([0x40, 0x01, 0x00, 0xB0, 0x01, 0x00, 1], [0, 0x6B, 0x00]),
      ([0x40, 0x01, 0x00, 0xD6, 0x00, 0xFF, 2, 1, 1], [0, 0x6B, 0x00]),
      ([0x40, 0x01, 0x00, 0xCA, 0x00, 0x00], [0, 0x6D, 0x00]),
      ([0x40, 0x01, 0x90, 0xB0, 0x00, 0x00], [0, 0x6E, 0x00]),
      ([0x40, 0x01, 0x00, 0xD6, 0x00, 0x00, 9, 1], [0, 0x67, 0x00]), ([0x40, 0x01, 0x00], [0, 0x67, 0x00]),
    ])
  }

  @Test func `UPDATE BINARY changes the file unless it is read-only`() throws {
    let driver = try selected([])
    _ = driver.send([0x40, 0x01] + Self.selectNDEF)
    #expect(driver.answer([0x40, 0x01, 0x00, 0xD6, 0x00, 0x01, 2, 0x01, 0xAB]) == [0, 0x90, 0x00])
    #expect(driver.chip.radio.field.memory(of: TagID(number: 1))?.prefix(4) == [0x00, 0x01, 0xAB, 0x00])
    let other = try selected([], Type4Options { $0.isReadOnly = true })
    _ = other.send([0x40, 0x01] + Self.selectNDEF)
    #expect(other.answer([0x40, 0x01, 0x00, 0xD6, 0x00, 0x01, 1, 0x01]) == [0, 0x69, 0x82])
  }

  @Test func `a long answer comes in pieces`() throws {
    let message = (0..<1_000).map { UInt8($0 % 251) }
    let driver = try selected(message, Type4Options { $0.maximumRead = 1_024 })
    _ = driver.send([0x40, 0x01] + Self.selectNDEF)
    // An extended length: 1,002 bytes.
    var answer = try #require(driver.answer([0x40, 0x01, 0x00, 0xB0, 0x00, 0x00, 0x00, 0x03, 0xEA]))
    var data: [UInt8] = []
    while answer[0] == 0x40 {
      #expect(answer.count == 263)
      data += answer.dropFirst()
      answer = try #require(driver.answer([0x40, 0x01]))
    }
    data += answer.dropFirst()
    #expect(answer[0] == 0 && data == [0x03, 0xE8] + message + [0x90, 0x00])
  }

  @Test func `a long command is sent in pieces`() throws {
    let driver = try selected([], Type4Options { ($0.maximumWrite, $0.fileSize) = (600, 1_024) })
    _ = driver.send([0x40, 0x01] + Self.selectNDEF)
    let data = (0..<500).map { UInt8($0 % 253) }
    let command: [UInt8] = [0x00, 0xD6, 0x00, 0x02, 0x00, 0x01, 0xF4] + data
    #expect(driver.answer([0x40, 0x41] + command[..<260]) == [0x00])
    #expect(driver.answer([0x40, 0x01] + command[260...]) == [0x00, 0x90, 0x00])
    #expect(driver.chip.radio.field.memory(of: TagID(number: 1)).map { Array($0[2..<502]) } == data)
  }

  @Test func `a card can have a false length and a custom ATS`() throws {
    let options = Type4Options {
      $0.declaredLength = 0xFFF0
      $0.ats = [0x00]
    }
    let driver = ChipDriver()
    _ = driver.place(try .type4(message: [], uid: .fixed(uid7), options: options))
    let end: [UInt8] = uid7 + [0x00]
    #expect(driver.answer(select)?.suffix(8) == end[...])
    _ = driver.send([0x40, 0x01] + Self.selectApplication)
    _ = driver.send([0x40, 0x01] + Self.selectNDEF)
    #expect(driver.answer([0x40, 0x01, 0x00, 0xB0, 0x00, 0x00, 2]) == [0, 0xFF, 0xF0, 0x90, 0x00])
  }

  @Test func `without automatic RATS the host sends the ISO-DEP blocks`() throws {
    let driver = ChipDriver()
    _ = driver.place(try .type4(message: [0xD0, 0x00, 0x00], uid: .fixed(uid7)))
    #expect(driver.answer([0x12, 0x04]) == [])
    #expect(driver.answer(select)?.count == 13)
    #expect(driver.answer([0x42, 0xE0, 0x50]) == [0x00, 0x06, 0x75, 0x77, 0x81, 0x02, 0x80])
    let block: [UInt8] = [0x02] + Self.selectApplication
    driver.expect([
      ([0x42] + block, [0x00, 0x02, 0x90, 0x00]),
      // After a lost answer, R(NAK) with the same number repeats it. R(NAK) with the next number checks the presence.
      ([0x42, 0xB2], [0x00, 0x02, 0x90, 0x00]), ([0x42, 0xB3], [0x00, 0xA2]), ([0x42, 0xC2], [0x00, 0xC2]),
      ([0x42] + block, [0x01]),
    ])
  }

  @Test func `a presence check reports a removed card`() throws {
    let driver = try selected([])
    #expect(driver.answer([0x00, 0x06]) == [0x00])
    _ = driver.answer([0x40, 0x01] + Self.selectNDEF)
    #expect(driver.answer([0x00, 0x06]) == [0x00])
    _ = driver.chip.radio.field.remove(TagID(number: 1))
    #expect(driver.answer([0x00, 0x06]) == [0x01])
  }

  @Test func `contradictory options are errors`() {
    let small = Type4Options { $0.fileSize = 4 }
    #expect(throws: SimulatorError.self) { try SimulatedTag.type4(message: [1, 2, 3], options: small) }
    let old = Type4Options { $0.mappingVersion = 1 }
    #expect(throws: SimulatorError.self) { try SimulatedTag.type4(message: [], options: old) }
    #expect(throws: SimulatorError.self) { try SimulatedTag.type4(message: [UInt8](repeating: 0, count: 0xFFFF)) }
  }
}

@Suite struct DESFireTests {
  @Test func `the cipher matches the examples of the standard`() {
    // NBS Special Publication 500-20, and a widely published example.
    #expect(DES(key: 0x1334_5779_9BBC_DFF1).encipher(0x0123_4567_89AB_CDEF) == 0x85E8_1354_0F0A_B405)
    #expect(DES(key: 0x0101_0101_0101_0101).encipher(0x8000_0000_0000_0000) == 0x95F8_A5E5_DD31_D900)
  }

  private func application(_ message: [UInt8]) throws -> DESFireApplication {
    DESFireApplication(try Type4Application(message: message, options: Type4Options()), uid: uid7)
  }

  @Test func `native and wrapped commands have the same answers`() throws {
    var card = try application([0xD0, 0x00, 0x00])
    #expect(card.respond(to: [0x60]).first == 0xAF)
    #expect(card.respond(to: [0xAF]).first == 0xAF)
    #expect(Array(card.respond(to: [0xAF]).prefix(8)) == [0x00] + uid7)
    #expect(card.respond(to: [0xAF]) == [0x1C])
    #expect(card.respond(to: [0x90, 0x60, 0x00, 0x00, 0x00]).suffix(2) == [0x91, 0xAF])
    card.expect([
      ([0x90, 0xF5, 0x00, 0x00, 0x01, 0x02, 0x00], [0x91, 0xF0]), ([0x5A, 0x02, 0x00, 0x00], [0xA0]),
      ([0x5A, 0x01, 0x00, 0x00], [0x00]),
    ])
    #expect(
      card.respond(to: [0x90, 0xF5, 0x00, 0x00, 0x01, 0x02, 0x00])
        == [0x00, 0x00, 0xEE, 0xEE, 0x00, 0x01, 0x00, 0x91, 0x00])
    card.expect([
      ([0xBD, 0x02, 0, 0, 0, 5, 0, 0], [0x00, 0x00, 0x03, 0xD0, 0x00, 0x00]),
      ([0xBD, 0x02, 0, 0, 0, 1, 1, 0], [0xBE]), ([0x90, 0x3D, 0x00, 0x00, 0x00], [0x91, 0x1C]),
    ])
    #expect(card.nativeCommands == 12)
  }

  @Test func `ISO commands reach the Type 4 tag`() throws {
    var card = try application([0xD0, 0x00, 0x00])
    #expect(
      card.respond(to: [0x00, 0xA4, 0x04, 0x00, 0x07, 0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01, 0x00]) == [0x90, 0x00])
    #expect(card.nativeCommands == 0)
  }

  @Test func `a wrong answer to the challenge does not authenticate`() throws {
    var card = try application([])
    #expect(card.respond(to: [0x0A, 0x01]) == [0x40])
    let challenge = card.respond(to: [0x0A, 0x00])
    #expect(challenge.first == 0xAF && challenge.count == 9)
    #expect(card.respond(to: [0xAF] + [UInt8](repeating: 0, count: 16)) == [0xAE])
  }
}
