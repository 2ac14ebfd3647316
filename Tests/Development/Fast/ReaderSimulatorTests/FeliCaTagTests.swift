import Testing

@testable import ReaderSimulator

@Suite struct FeliCaTagTests {
  private static let idm: [UInt8] = [0x01, 0x2E, 1, 2, 3, 4, 5, 6]
  private static let any: [UInt8] = [0x00, 0xFF, 0xFF, 0x01, 0x00]
  private static let ndef: [UInt8] = [0x00, 0x12, 0xFC, 0x01, 0x00]

  private func driver(_ model: Type3Options.Model = .liteS, _ message: [UInt8] = [0xD0, 0, 0]) throws -> ChipDriver {
    ChipDriver(with: try .type3(message: message, idm: Self.idm, options: Type3Options(model)))
  }

  /// InListPassiveTarget: the answer to a poll, or nil if no card answers.
  private func poll(_ driver: ChipDriver, _ poll: [UInt8], bitRate: UInt8 = 1) -> [UInt8]? {
    driver.answer([0x4A, 0x01, bitRate] + poll).flatMap { $0 == [0] ? nil : Array($0.dropFirst(2)) }
  }

  /// InDataExchange with the length byte, which the answer has too. Returns nil if the card does not answer.
  private func command(_ driver: ChipDriver, _ command: [UInt8], _ rest: [UInt8], idm: [UInt8] = idm) -> [UInt8]? {
    let packet = command + idm + rest
    guard let answer = driver.answer([0x40, 0x01, UInt8(packet.count + 1)] + packet), answer[0] == 0 else { return nil }
    #expect(answer.count - 1 == Int(answer[1]))
    #expect(Array(answer[2...10]) == [command[0] + 1] + idm)
    return Array(answer[11...])
  }

  private func check(_ driver: ChipDriver, _ list: [UInt8], service: [UInt8] = [0x0B, 0x00]) -> [UInt8]? {
    command(driver, [0x06], [1] + service + list)
  }

  private func update(_ driver: ChipDriver, _ list: [UInt8], service: [UInt8] = [0x09, 0x00]) -> [UInt8]? {
    command(driver, [0x08], [1] + service + list + [UInt8](repeating: 0xAA, count: Int(list[0]) * 16))
  }

  @Test func `the checksum is that of the standard`() {
    // JIS X 6319-4: X^16 + X^12 + X^5 + 1 from zero, also known as CRC-16/XMODEM.
    #expect(FeliCaCRC.checksum(Array("123456789".utf8)) == [0x31, 0xC3])
    #expect(FeliCaCRC.checksum([0x06, 0x00, 0xFF, 0xFF, 0x01, 0x00]) != [0, 0])
  }

  @Test func `a poll finds one system or any system`() throws {
    let lite = try driver()
    let head = [20, 0x01] + Self.idm + [0x00, 0xF1, 0x00, 0x00, 0x00, 0x01, 0x43, 0x00]
    for bitRate in [1, 2] as [UInt8] {
      #expect(poll(lite, Self.any, bitRate: bitRate) == head + [0x88, 0xB4])
      #expect(poll(lite, Self.ndef, bitRate: bitRate) == head + [0x12, 0xFC])
    }
    #expect(poll(lite, [0x00, 0x12, 0xFF, 0x01, 0x00]) == head + [0x12, 0xFC])
    #expect(poll(lite, [0x00, 0xFF, 0xB4, 0x01, 0x03]) == head + [0x88, 0xB4])
    #expect(poll(lite, [0x00, 0xFE, 0x00, 0x01, 0x00]) == nil)
    // A poll without a request, and one with the request for the bit rates.
    #expect(poll(lite, [0x00, 0xFF, 0xFF, 0x00, 0x00]) == [18] + head.dropFirst())
    #expect(poll(lite, [0x00, 0xFF, 0xFF, 0x02, 0x00]) == head + [0x00, 0x83])
  }

  @Test func `each system of a card has its own identifier`() throws {
    let card = try driver(.standardWithSeveralSystems)
    #expect(poll(card, Self.any)?.suffix(2) == [0xFE, 0x00])
    #expect(check(card, [1, 0x80, 0x00]) == [0x01, 0xA6])
    let second = [0x11] + Self.idm.dropFirst()
    #expect(poll(card, Self.ndef).map { Array($0[2...9]) } == second)
    #expect(command(card, [0x06], [1, 0x0B, 0x00, 1, 0x80, 0x00], idm: second)?.prefix(3) == [0, 0, 1])
    // Request Response and Request System Code.
    #expect(command(card, [0x04], []) == [0x00])
    #expect(command(card, [0x0C], []) == [2, 0xFE, 0x00, 0x12, 0xFC])
    #expect(command(card, [0x06], [], idm: [9, 9, 9, 9, 9, 9, 9, 9]) == nil)
  }

  @Test func `two cards in one time slot collide`() throws {
    let driver = try driver()
    _ = driver.place(try .transitCard())
    #expect(poll(driver, Self.any) == nil)
    #expect(poll(driver, Self.ndef)?.suffix(2) == [0x12, 0xFC])
    #expect(driver.answer([0x4A, 0x02, 0x01, 0x00, 0xFF, 0xFF, 0x01, 0x03])?.first == 2)
  }

  @Test func `several blocks are read and written by elements of two and three bytes`() throws {
    let lite = try driver(.liteS, (0..<40).map { UInt8($0) })
    _ = poll(lite, Self.any)
    let blocks = try #require(check(lite, [3, 0x80, 0x02, 0x00, 0x01, 0x00, 0x80, 0x88]))
    #expect(blocks.prefix(3) == [0, 0, 3])
    let expected: [UInt8] = Array(16..<32) + Array(0..<16) + [0xFF, 0xFF, 0xFF, 0x01]
    #expect(Array(blocks[3..<39]) == expected)

    let card = try driver(.standard)
    _ = poll(card, Self.any)
    #expect(update(card, [2, 0x00, 0x01, 0x01, 0x80, 0x03]) == [0, 0])
    let written: [UInt8] = [0, 0, 1] + [UInt8](repeating: 0xAA, count: 16)
    #expect(check(card, [1, 0x00, 0x01, 0x01]) == written)
    // This card reads at most 12 blocks at once.
    func many(_ count: UInt8) -> [UInt8] {
      var list = [count]
      for block in 1...count { list += [0x80, block] }
      return list
    }
    let size: Int = 3 + 12 * 16
    #expect(check(card, many(12))?.count == size)
    #expect(check(card, many(13)) == [0xFF, 0xA2])
  }

  @Test func `each error has its status flags`() throws {
    let lite = try driver()
    _ = poll(lite, Self.any)
    #expect(check(lite, [0]) == [0xFF, 0xA2])
    #expect(check(lite, [5, 0x80, 1, 0x80, 2, 0x80, 3, 0x80, 4, 0x80, 5]) == [0xFF, 0xA2])
    #expect(update(lite, [2, 0x80, 1, 0x80, 2]) == [0xFF, 0xA2])
    #expect(check(lite, [1, 0x80, 1], service: [0x0F, 0x00]) == [0x01, 0xA6])
    #expect(update(lite, [1, 0x80, 1], service: [0x0B, 0x00]) == [0x01, 0xA6])
    #expect(check(lite, [2, 0x80, 1, 0x81, 2]) == [0x02, 0xA3])
    #expect(check(lite, [3, 0x80, 1, 0x80, 2, 0x90, 3]) == [0x04, 0xA7])
    #expect(check(lite, [2, 0x80, 1, 0x80, 0x0F]) == [0x02, 0xA8])
    #expect(update(lite, [1, 0x80, 0x83]) == [0x01, 0xA8])
    #expect(command(lite, [0x06], [2, 0x0B, 0x00, 0x09, 0x00, 1, 0x80, 0]) == [0xFF, 0xA1])
    #expect(command(lite, [0x06], [0, 1, 0x80, 0]) == [0xFF, 0xA1])
  }

  @Test func `a FeliCa Lite does not answer unknown or malformed commands`() throws {
    let lite = try driver()
    _ = poll(lite, Self.any)
    #expect(command(lite, [0x04], []) == nil)
    #expect(command(lite, [0x0C], []) == nil)
    #expect(command(lite, [0x3C], [0, 0]) == nil)
    #expect(command(lite, [0x06], [1, 0x0B, 0x00, 2, 0x80, 0x00]) == nil)
    #expect(command(lite, [0x08], [1, 0x09, 0x00, 1, 0x80, 0x00, 0xAA]) == nil)
    #expect(check(lite, [1, 0x80, 0x00])?.first == 0)
    // A wrong length byte.
    #expect(driver(lite, sends: [0x20, 0x06] + Self.idm + [1, 0x0B, 0x00, 1, 0x80, 0x00]) == [0x01])
  }

  private func driver(_ driver: ChipDriver, sends packet: [UInt8]) -> [UInt8]? { driver.answer([0x40, 0x01] + packet) }

  @Test func `the configuration of a FeliCa Lite can only remove rights`() throws {
    func configure(_ driver: ChipDriver, _ bytes: [UInt8]) -> [UInt8]? {
      let data = bytes + [UInt8](repeating: 0xFF, count: 16 - bytes.count)
      return command(driver, [0x08], [1, 0x09, 0x00, 1, 0x80, 0x88] + data)
    }
    func configuration(_ driver: ChipDriver) -> [UInt8]? { check(driver, [1, 0x80, 0x88]).map { Array($0[3...]) } }
    let lite = try driver()
    _ = poll(lite, Self.any)
    #expect(configure(lite, [0xFD, 0xFF, 0xFF, 0x01, 0x07] + [UInt8](repeating: 0, count: 11)) == [0, 0])
    #expect(update(lite, [1, 0x80, 1]) == [0x01, 0xA8])
    #expect(update(lite, [1, 0x80, 2]) == [0, 0])
    #expect(configure(lite, [0xFF, 0x7F, 0x00, 0x00, 0x07] + [UInt8](repeating: 0, count: 11)) == [0, 0])
    #expect(configuration(lite)?.prefix(4) == [0xFD, 0x7F, 0x00, 0x00])
    // The configuration cannot be changed any more.
    #expect(configure(lite, [0, 0]) == [0x01, 0xA8])
    #expect(update(lite, [1, 0x80, 2]) == [0, 0])
  }

  @Test func `a raw frame includes its length`() throws {
    let card = try driver(.standard)
    _ = poll(card, Self.any)
    #expect(card.answer([0x42, 10, 0x04] + Self.idm) == [0, 11, 0x05] + Self.idm + [0x00])
    #expect(card.answer([0x42, 0x06] + Self.any)?.prefix(3) == [0, 20, 0x01])
  }

  @Test func `contradictory options are errors`() {
    var options = Type3Options(.liteS)
    options.blockCount = 14
    #expect(throws: SimulatorError.self) { try SimulatedTag.type3(message: [], options: options) }
    options = Type3Options(.liteS)
    #expect(throws: SimulatorError.self) {
      try SimulatedTag.type3(message: [UInt8](repeating: 0, count: 209), options: options)
    }
    #expect(throws: SimulatorError.self) { try SimulatedTag.type3(message: [], idm: [1, 2]) }
    options.attributeInformation = [0]
    #expect(throws: SimulatorError.self) { try SimulatedTag.type3(message: [], options: options) }
  }
}
