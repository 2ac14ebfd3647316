import ReaderModels
import Tags
import Testing

@testable import PCSCReader

/// Whole operations on a tag, through readers that can do different things.
@Suite struct WholeReadingTests {
  /// An NDEF message of one record with a URI.
  private static let message = hex("D1 01 0C 55 04") + Array("example.com".utf8)

  @Test func `a tag of Type 2 is read, written and read again by pages`() throws {
    var channel = CardChannel(CardLink(PageReader(Self.message), model: .generic), tag: .type2)
    #expect(try TagActivation.type2.readNDEF(over: &channel) == .message(Self.message))
    let short = hex("D1 01 03 55 04 61 62")
    try TagActivation.type2.writeNDEF(short, over: &channel)
    #expect(try TagActivation.type2.readNDEF(over: &channel) == .message(short))
    #expect(channel.link.connection.strayCommands == 0)
  }

  @Test func `a tag of Type 2 is read through the chip of an ACR122U`() throws {
    var channel = CardChannel(CardLink(PageReader(Self.message), model: .acr122), tag: .type2)
    #expect(try TagActivation.type2.readNDEF(over: &channel) == .message(Self.message))
    #expect(channel.link.connection.strayCommands == 0)
  }

  @Test func `a tag is read by a reader that returns single pages`() throws {
    var reader = PageReader(Self.message)
    reader.pagesAtOnce = 1
    var channel = CardChannel(CardLink(reader, model: .generic), tag: .type2)
    #expect(try TagActivation.type2.readNDEF(over: &channel) == .message(Self.message))
  }

  @Test func `a reader without raw frames locks a tag whose memory shows its model`() throws {
    var channel = CardChannel(CardLink(PageReader(Self.message), model: .generic), tag: .type2)
    try TagActivation.type2.lockNDEF(over: &channel)
    #expect(channel.link.connection.writes == [3, 0x28, 2])
  }

  @Test func `a tag of Type 5 is read and written by blocks`() throws {
    var channel = CardChannel(CardLink(BlockReader(Self.message), model: .omnikey), tag: .type5)
    #expect(try TagActivation.type5.readNDEF(over: &channel) == .message(Self.message))
    let short = hex("D1 01 03 55 04 61 62")
    try TagActivation.type5.writeNDEF(short, over: &channel)
    #expect(try TagActivation.type5.readNDEF(over: &channel) == .message(short))
  }
}

/// A reader with an NTAG213, which has no lock control TLV.
private struct PageReader: CardConnection {
  private var memory = [UInt8](repeating: 0, count: 180)
  /// How many pages one command returns.
  var pagesAtOnce = 4
  private(set) var writes: [UInt8] = []
  /// Commands of another form than that of a reader of pages or an ACR122U.
  private(set) var strayCommands = 0

  init(_ message: [UInt8]) {
    memory.replaceSubrange(0..<16, with: [4, 1, 2, 0x8F, 3, 4, 5, 6, 4, 0x48, 0, 0, 0xE1, 0x10, 0x12, 0x00])
    // AUTH0 protects no page.
    memory[0x29 * 4 + 3] = 0xFF
    memory.replaceSubrange(16..<16 + message.count + 3, with: [0x03, UInt8(message.count)] + message + [0xFE])
  }

  mutating func transmit(_ command: [UInt8]) throws(CardFailure) -> [UInt8] {
    switch (command[1], command.count) {
    case (0xCA, 5): return [4, 1, 2, 3, 4, 5, 6, 0x90, 0x00]
    case (0xB0, 5):
      guard Int(command[4]) <= 4 * pagesAtOnce else { return [0x6C, UInt8(4 * pagesAtOnce)] }
      return pages(from: command[3], Int(command[4])) + [0x90, 0x00]
    case (0xD6, 9):
      write(command[3], Array(command[5...]))
      return [0x90, 0x00]
    case (0x00, _) where command[5] == 0xD4: return chip(Array(command[6...])) + [0x90, 0x00]
    default:
      strayCommands += 1
      return [0x6D, 0x00]
    }
  }

  mutating func reset() throws(CardFailure) {}

  /// InDataExchange, and InCommunicateThru with FAST_READ.
  private mutating func chip(_ command: [UInt8]) -> [UInt8] {
    switch (command[0], command.dropFirst().first) {
    case (0x40, 0x01) where command[2] == 0x30: return [0xD5, 0x41, 0x00] + pages(from: command[3], 16)
    case (0x42, 0x3A):
      return [0xD5, 0x43, 0x00] + pages(from: command[2], 4 * (Int(command[3]) - Int(command[2]) + 1))
    case (let code, _): return [0xD5, code + 1, 0x01]
    }
  }

  private func pages(from page: UInt8, _ count: Int) -> [UInt8] {
    (0..<count).map { memory[(Int(page) * 4 + $0) % memory.count] }
  }

  private mutating func write(_ page: UInt8, _ data: [UInt8]) {
    writes.append(page)
    memory.replaceSubrange(Int(page) * 4..<Int(page) * 4 + 4, with: data)
  }
}

/// A reader with a tag of ISO/IEC 15693 that has 64 blocks of four bytes.
private struct BlockReader: CardConnection {
  private var memory = [UInt8](repeating: 0, count: 256)

  init(_ message: [UInt8]) {
    memory.replaceSubrange(0..<4, with: [0xE1, 0x40, 0x1F, 0x00])
    memory.replaceSubrange(4..<4 + message.count + 3, with: [0x03, UInt8(message.count)] + message + [0xFE])
  }

  mutating func transmit(_ command: [UInt8]) throws(CardFailure) -> [UInt8] {
    let start = command.count > 3 ? Int(command[3]) * 4 : memory.count
    guard start < memory.count else { return [0x6A, 0x82] }
    switch (command[1], command.count) {
    case (0xCA, 5): return [0xE0, 4, 1, 0, 0, 0, 0, 1, 0x90, 0x00]
    case (0xB0, 5): return memory[start..<start + 4] + [0x90, 0x00]
    case (0xD6, 9):
      memory.replaceSubrange(start..<start + 4, with: command[5...])
      return [0x90, 0x00]
    default: return [0x6D, 0x00]
    }
  }

  mutating func reset() throws(CardFailure) {}
}
