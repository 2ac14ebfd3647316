import Testing

@testable import ReaderSimulator

@Suite struct TypeBTagTests {
  private static let selectB: [UInt8] = [0x4A, 0x01, 0x03, 0x00]
  private static let description: [UInt8] = [0x50, 1, 2, 3, 4, 0, 0, 0, 0, 0x00, 0x51, 0x80, 0x01, 0x00]
  private static let selectApplication: [UInt8] = [
    0x00, 0xA4, 0x04, 0x00, 0x07, 0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01, 0x00,
  ]

  private func driver(_ options: Type4Options = Type4Options()) throws -> ChipDriver {
    ChipDriver(with: try .type4B(message: [0xD0, 0x00, 0x00], pupi: .fixed([1, 2, 3, 4]), options: options))
  }

  @Test func `the checksums match the examples of the standard`() {
    // ISO/IEC 14443-3, annex B: the examples for both.
    #expect(ProximityCRC.typeB([0x0A, 0x12, 0x34, 0x56]) == [0x2C, 0xF6])
    #expect(ProximityCRC.typeA([0x12, 0x34]) == [0x26, 0xCF])
  }

  @Test func `a card is found only by its modulation and its family`() throws {
    let driver = try driver()
    driver.expect([
      (select, [0]), ([0x4A, 0x01, 0x03, 0x10], [0]), ([0x4A, 0x01, 0x03], nil),
      (Self.selectB, [1, 1] + Self.description),
    ])
  }

  @Test func `a selected card is found again after the field was off`() throws {
    let driver = try driver()
    #expect(driver.answer(Self.selectB)?.first == 1)
    // A selected card ignores requests.
    #expect(driver.answer(Self.selectB) == [0])
    #expect(driver.answer([0x32, 0x01, 0x00]) == [])
    #expect(driver.answer(Self.selectB)?.first == 1)
    // A deselected card is halted. The chip wakes it.
    #expect(driver.answer([0x44, 0x00]) == [0x00])
    #expect(driver.answer([0x40, 0x01] + Self.selectApplication) == [0x00, 0x90, 0x00])
  }

  @Test func `two cards are separated by time slots`() throws {
    for number in 1...20 as ClosedRange<UInt8> {
      let driver = try driver()
      _ = driver.place(try .type4B(message: [0xD0, 0x00, 0x00], pupi: .fixed([9, 9, 9, number])))
      // A poll for one card finds either of them.
      #expect(driver.answer(Self.selectB)?.first == 1)
      #expect(driver.answer([0x52, 0x00]) == [0x00])
      let answer = try #require(driver.answer([0x4A, 0x02, 0x03, 0x00]))
      #expect(answer.first == 2 && answer.count == 1 + 2 * 15)
      #expect(Set([Array(answer[3..<7]), Array(answer[18..<22])]) == [[1, 2, 3, 4], [9, 9, 9, number]])
      for target in [1, 2, 1] as [UInt8] {
        #expect(driver.answer([0x54, target]) == [0x00])
        #expect(driver.answer([0x40, target] + Self.selectApplication) == [0x00, 0x90, 0x00])
      }
      // The chip keeps at most two targets. It finds two of three cards.
      #expect(driver.answer([0x4A, 0x03, 0x03, 0x00]) == nil)
      _ = driver.answer([0x32, 0x01, 0x00])
      _ = driver.place(try .type4B(message: [0xD0, 0x00, 0x00], pupi: .fixed([7, 7, 7, number])))
      #expect(driver.answer([0x4A, 0x02, 0x03, 0x00])?.first == 2)
    }
  }

  @Test func `a halted card answers only a wake-up`() throws {
    let driver = try driver()
    _ = driver.answer(Self.selectB)
    _ = driver.answer([0x44, 0x00])
    var field = driver.chip.radio.field
    #expect(field.transceive(.standard([0x05, 0x00, 0x00], .typeB), poweredBefore: .zero) == .silence)
    #expect(field.transceive(.standard([0x05, 0x00, 0x08], .typeB), poweredBefore: .zero) != .silence)
    // HLTB halts it again.
    #expect(
      field.transceive(.standard([0x50, 1, 2, 3, 4], .typeB), poweredBefore: .zero)
        == .frame(.standard([0x00], .typeB)))
    #expect(field.transceive(.standard([0x05, 0x00, 0x00], .typeB), poweredBefore: .zero) == .silence)
  }

  @Test func `a chip that sends only REQB finds a deselected card only after a power loss`() throws {
    let driver = try driver()
    driver.chip.wakesTypeB = false
    #expect(driver.answer(Self.selectB)?.first == 1)
    #expect(driver.answer([0x44, 0x00]) == [0x00])
    #expect(driver.answer(Self.selectB) == [0])
    _ = driver.answer([0x32, 0x01, 0x00])
    #expect(driver.answer(Self.selectB)?.first == 1)
  }

  @Test func `a damaged frame gets no answer`() throws {
    var field = try driver().chip.radio.field
    field.set(on: true, at: .zero)
    #expect(
      field.transceive(RadioFrame(modulation: .typeB, bytes: [0x05, 0x00, 0x08, 0, 0]), poweredBefore: .zero)
        == .silence)
  }

  @Test func `a card can request more time`() throws {
    let driver = try driver(Type4Options { $0.timeExtensions = 2 })
    _ = driver.answer(Self.selectB)
    #expect(driver.answer([0x40, 0x01] + Self.selectApplication) == [0x00, 0x90, 0x00])
    #expect(driver.chip.radio.exchanges == 3)
    driver.expect([
      ([0x42, 0x03] + Self.selectApplication, [0x00, 0xF2, 0x01]), ([0x42, 0xF2, 0x01], [0x00, 0xF2, 0x01]),
      ([0x42, 0xF2, 0x01], [0x00, 0x03, 0x90, 0x00]), ([0x42, 0xF2, 0x01], [0x01]),
    ])
  }

  @Test func `a payment card knows only its payment directory`() throws {
    let driver = ChipDriver(with: .paymentCardB(pupi: try .fixed([1, 2, 3, 4])))
    _ = driver.answer(Self.selectB)
    #expect(driver.answer([0x40, 0x01] + Self.selectApplication) == [0x00, 0x6A, 0x82])
    let directory = [0x00, 0xA4, 0x04, 0x00, 0x0E] + Array("2PAY.SYS.DDF01".utf8) + [0x00]
    let answer = try #require(driver.answer([0x40, 0x01] + directory))
    #expect(answer[1] == 0x6F && Int(answer[2]) == answer.count - 5)
    #expect(answer.suffix(2) == [0x90, 0x00])
  }

  @Test func `an identifier of another length than four bytes is an error`() {
    #expect(throws: SimulatorError.self) { try TagPUPI.fixed([1, 2, 3]) }
  }
}
