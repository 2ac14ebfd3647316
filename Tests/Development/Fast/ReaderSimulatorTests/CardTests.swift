import Testing

@testable import ReaderSimulator

/// Cards without NDEF.
@Suite struct CardTests {
  static let idm: [UInt8] = [0x01, 0x2E, 3, 4, 5, 6, 7, 8]

  /// Places a transit card and finds it by a poll for its system.
  func transit() throws -> ChipDriver {
    let driver = ChipDriver(with: try .transitCard(idm: Self.idm))
    let found = driver.answer([0x4A, 0x01, 0x01, 0x00, 0x00, 0x03, 0x01, 0x00])
    #expect(found?.suffix(2) == [0x00, 0x03])
    return driver
  }

  /// Returns the answer after the identifier; nil if the card does not answer.
  func command(_ driver: ChipDriver, _ code: UInt8, _ parameters: [UInt8], idm: [UInt8] = idm) -> [UInt8]? {
    let packet = [code] + idm + parameters
    let answer = driver.answer([0x40, 0x01, UInt8(packet.count + 1)] + packet)
    guard let answer, answer.first == 0, answer.count >= 11 else { return nil }
    #expect(answer[2] == code + 1)
    return Array(answer.dropFirst(11))
  }

  @Test func `a transit card returns at most twelve blocks of its history at once`() throws {
    let card = try transit()
    func read(_ blocks: Range<UInt8>) -> [UInt8]? {
      var list: [UInt8] = [1, 0x0F, 0x09, UInt8(blocks.count)]
      for block in blocks { list += [0x80, block] }
      return command(card, 0x06, list)
    }
    let history = SimulatedTag.transitHistory()
    #expect(history.count == 20)
    let (first, rest) = (Array(history[..<12].joined()), Array(history[12...].joined()))
    let answers: [[UInt8]?] = [[0, 0, 12] + first, [0, 0, 8] + rest, [0xFF, 0xA2], [0x02, 0xA8]]
    #expect([read(0..<12), read(12..<20), read(0..<13), read(19..<21)] == answers)
    // A service that does not exist, and a write that needs a key.
    let data = [UInt8](repeating: 0, count: 16)
    #expect(command(card, 0x06, [1, 0x0B, 0x00, 1, 0x80, 0]) == [0x01, 0xA6])
    #expect(command(card, 0x08, [1, 0x0F, 0x09, 1, 0x80, 0] + data) == [0x01, 0xA6])
  }

  @Test func `a transit card lists its services and systems`() throws {
    let card = try transit()
    #expect(command(card, 0x02, [2, 0x0F, 0x09, 0x0B, 0x00]) == [2, 0, 0, 0xFF, 0xFF])
    #expect(command(card, 0x02, [2, 0x0F, 0x09]) == nil)
    #expect(command(card, 0x02, [0]) == nil)
    #expect(command(card, 0x04, []) == [0x00])
    #expect(command(card, 0x0C, []) == [2, 0x00, 0x03, 0xFE, 0x00])
    let versions: [UInt8] = [0, 0, 0xFF, 0xFF]
    #expect(command(card, 0x32, [2, 0x0F, 0x09, 0x0B, 0x00]) == [0, 0, 0x41, 2] + versions + versions)
    #expect(command(card, 0x32, [2, 0x0F, 0x09]) == nil)
    #expect(command(card, 0x3C, [0, 0]) == [0, 0, 0, 0x21, 0x01, 0])
    #expect(command(card, 0x3E, [0, 0]) == [0, 0])
    #expect(command(card, 0x3E, []) == nil)
    #expect(command(card, 0x02, [1, 0x0F, 0x09], idm: [0x11] + Self.idm.dropFirst()) == [1, 0xFF, 0xFF])
  }

  @Test func `a history with a block of another length than 16 bytes is an error`() {
    #expect(throws: SimulatorError.self) { try SimulatedTag.transitCard(history: [[1, 2]]) }
  }

  @Test func `an application answers only while it is selected by its name`() {
    var card = SelectableApplication(name: SelectableApplication.usualName)
    let name = card.name
    #expect(card.respond(to: [0x00, 0xCA, 0x01, 0x01, 0x00]) == [0x69, 0x85])
    #expect(card.respond(to: [0x00, 0xA4, 0x04, 0x00, 0x05, 0xA0, 0, 0, 0, 3, 0x00]) == [0x6A, 0x82])
    let select: [UInt8] = [0x00, 0xA4, 0x04, 0x00, 0x09] + name + [0x00]
    card.expect([
      (select, [0x90, 0x00]), ([0x00, 0xCA, 0x01, 0x01, 0x00], name + [0x90, 0x00]),
      ([0x00, 0xCA, 0x00, 0x01, 0x00], [0x6A, 0x88]), ([0x80, 0x10, 0, 0, 0x02, 1, 2, 0x00], [1, 2, 0x90, 0x00]),
    ])
    let long = (0..<1000).map { UInt8($0 & 0xFF) }
    #expect(card.respond(to: [0x80, 0x10, 0, 0, 0x00, 0x03, 0xE8] + long + [0x00, 0x00]) == long + [0x90, 0x00])
    #expect(card.respond(to: [0x80, 0x10, 0, 0, 0x00, 0x03, 0xE8] + long + [0x00, 0x10]) == [0x67, 0x00])
    card.deselect()
    #expect(card.respond(to: [0x80, 0x10, 0, 0, 0x02, 1, 2, 0x00]) == [0x69, 0x85])
  }
}

@Suite struct FileApplicationTests {
  @Test func `a file is read in pieces after it was selected in the application`() {
    let file = (0..<40).map { UInt8($0) }
    var card = FileApplication(name: [0xA0, 1, 2, 3, 4], files: [0x0101: file, 0x011E: [7]])
    #expect(card.memory == file + [7])
    let selectFile: [UInt8] = [0x00, 0xA4, 0x02, 0x0C, 0x02, 0x01, 0x01]
    card.expect([
      (selectFile, [0x6A, 0x82]), ([0x00, 0xA4, 0x04, 0x0C, 0x05, 0xA0, 1, 2, 3, 4], [0x90, 0x00]),
      ([0x00, 0xB0, 0x00, 0x00, 0x04], [0x69, 0x86]), ([0x00, 0xA4, 0x02, 0x0C, 0x02, 0x02, 0x02], [0x6A, 0x82]),
      (selectFile, [0x90, 0x00]), ([0x00, 0xB0, 0x00, 0x00, 0x20], file[..<32] + [0x90, 0x00]),
      ([0x00, 0xB0, 0x00, 0x20, 0x20], file[32...] + [0x90, 0x00]), ([0x00, 0xB0, 0x00, 0x28, 0x01], [0x6B, 0x00]),
      ([0x00, 0xD6, 0x00, 0x00, 0x01, 0xFF], [0x6D, 0x00]),
    ])
    card.deselect()
    #expect(card.respond(to: [0x00, 0xB0, 0x00, 0x00, 0x04]) == [0x69, 0x86])
  }
}
