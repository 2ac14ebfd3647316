import NDEF
import Testing

@testable import Tags

/// A card with an NDEF application that follows its specification.
struct Type4Card: TagChannel {
  var container: [UInt8]
  var file: [UInt8]
  /// Whether the card refuses reads beyond the end of the file.
  var isStrict = false
  /// The maximum length of an answer, even if the container promises more.
  var most = 255
  private var selected: [UInt8] = []
  private(set) var commands: [[UInt8]] = []

  init(_ message: [UInt8], fileSize: Int = 4096) {
    let size = [UInt8(fileSize >> 8), UInt8(fileSize & 0xFF)]
    container = [0, 15, 0x20, 0, 246, 0, 0x34, 4, 6, 0xE1, 0x04] + size + [0, 0]
    file = [UInt8(message.count >> 8), UInt8(message.count & 0xFF)] + message
    file += [UInt8](repeating: 0, count: max(0, fileSize - file.count))
  }

  mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    commands.append(command)
    if command.prefix(4) == [0x00, 0xA4, 0x04, 0x00] {
      return command.dropFirst(5) == [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01, 0x00] ? [0x90, 0] : [0x6A, 0x82]
    }
    if command.prefix(5) == [0x00, 0xA4, 0x00, 0x0C, 0x02] {
      selected = Array(command.dropFirst(5))
      return selected == [0xE1, 0x03] || selected == [0xE1, 0x04] ? [0x90, 0] : [0x6A, 0x82]
    }
    guard command.count == 5, command.prefix(2) == [0x00, 0xB0] else { return [0x6D, 0x00] }
    let content = selected == [0xE1, 0x03] ? container : file
    let offset = Int(command[2]) << 8 | Int(command[3])
    let count = min(Int(command[4]), most)
    let end = offset + count
    if end > content.count, isStrict { return [0x67, 0x00] }
    guard offset < content.count else { return [0x6B, 0x00] }
    return content[offset..<min(end, content.count)] + (end > content.count ? [0x62, 0x82] : [0x90, 0x00])
  }
}

@Suite struct Type4TagTests {
  func read(_ card: Type4Card) throws -> (content: TagContent, commands: [[UInt8]]) {
    var card = card
    let content = try TagActivation.type4A.readNDEF(over: &card)
    return (content, card.commands)
  }

  func problem(_ card: Type4Card) throws -> String? { try read(card).content.problem?.description }

  /// A card with other bytes in its capability container, from `index`.
  func card(_ index: Int, _ bytes: [UInt8]) throws -> Type4Card {
    var card = Type4Card(try message(ofSize: 20))
    card.container.replaceSubrange(index..<index + bytes.count, with: bytes)
    return card
  }

  @Test func `a message that fits into one answer takes five commands`() throws {
    let bytes = try message(ofSize: 244)
    let (content, commands) = try read(Type4Card(bytes))
    #expect(content == .message(bytes))
    #expect(
      commands == [
        [0x00, 0xA4, 0x04, 0x00, 0x07, 0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01, 0x00],
        [0x00, 0xA4, 0x00, 0x0C, 0x02, 0xE1, 0x03],
        [0x00, 0xB0, 0x00, 0x00, 0x0F],
        [0x00, 0xA4, 0x00, 0x0C, 0x02, 0xE1, 0x04],
        [0x00, 0xB0, 0x00, 0x00, 246],
      ])
  }

  @Test func `no read goes beyond the file`() throws {
    let bytes = try message(ofSize: 20)
    var card = Type4Card(bytes, fileSize: 22)
    card.isStrict = true
    let (content, commands) = try read(card)
    #expect(content == .message(bytes))
    #expect(commands.last == [0x00, 0xB0, 0x00, 0x00, 22])
  }

  @Test func `the length is read alone if the card refuses a longer read`() throws {
    let bytes = try message(ofSize: 20)
    var card = Type4Card(bytes)
    card.file = Array(card.file.prefix(22))
    card.isStrict = true
    let (content, commands) = try read(card)
    #expect(content == .message(bytes))
    #expect(commands.suffix(2) == [[0x00, 0xB0, 0, 0, 2], [0x00, 0xB0, 0, 2, 20]])
  }

  @Test func `a card without a supported NDEF application is reported with the reason`() throws {
    let select: [UInt8] = [0, 0xA4, 4, 0, 7, 0xD2, 0x76, 0, 0, 0x85, 1]
    var card = ScriptedChannel([(select + [1, 0], [0x6A, 0x82]), (select + [0, 0], [0x6A, 0x82])])
    #expect(
      try TagActivation.type4A.readNDEF(over: &card)
        == .notNDEF("an ISO/IEC 14443-4 card without an NDEF application, such as a payment or identity card"))
    #expect(card.remaining == 0)

    var former = ScriptedChannel([(select + [1, 0], [0x6A, 0x82]), (select + [0, 0], [0x90, 0x00])])
    #expect(
      try TagActivation.type4A.readNDEF(over: &former)
        == .unsupported("it is formatted for mapping version 1.0 of Type 4"))
  }

  @Test func `an empty, damaged or unsupported card is reported with the reason`() throws {
    #expect(try problem(Type4Card([])) == "empty: the tag holds no message")
    var liar = Type4Card(try message(ofSize: 20), fileSize: 200)
    liar.file.replaceSubrange(0..<2, with: [0xFF, 0xFF])
    #expect(try problem(liar) == "damaged: the NDEF message is longer than the file that holds it")

    var short = Type4Card(try message(ofSize: 20), fileSize: 200)
    short.file = Array(short.file.prefix(10))
    #expect(try problem(short) == "damaged: the NDEF file cannot be read whole")

    var trickle = Type4Card(try message(ofSize: 200))
    trickle.most = 1
    #expect(try problem(trickle) == "damaged: the capability container is cut off")

    var truncated = Type4Card([])
    truncated.container = [0, 15, 0x20]
    #expect(try problem(truncated) == "damaged: the capability container is cut off")

    #expect(try problem(card(3, [0, 14])) == "damaged: the capability container contradicts itself")
    #expect(try problem(card(0, [0, 14])) == "damaged: the capability container contradicts itself")
    #expect(try problem(card(7, [5])) == "damaged: the capability container does not name the NDEF file")
    #expect(try problem(card(9, [0xE1, 0x03])) == "damaged: the NDEF file has a reserved identifier")
    #expect(try problem(card(9, [0xE1, 0x05])) == "damaged: the NDEF file is not there")
    #expect(try problem(card(11, [0, 2])) == "damaged: the NDEF file has no room for a message")
    #expect(try problem(card(2, [0x10])) == "unsupported: it is formatted for mapping version 1 of Type 4")
    #expect(try problem(card(13, [0x80])) == "unsupported: the card does not let everybody read it")
  }

  @Test func `the problem of a damaged card has the bytes that were read`() throws {
    var liar = Type4Card(try message(ofSize: 20), fileSize: 200)
    liar.file.replaceSubrange(0..<2, with: [0, 199])
    #expect(try read(liar).content.problem?.contents == liar.file)
    var short = Type4Card(try message(ofSize: 20), fileSize: 200)
    short.file = Array(short.file.prefix(10))
    #expect(try read(short).content.problem?.contents == short.file)
    short.file = [0]
    #expect(try read(short).content.problem?.contents == [0])
  }

  @Test func `a few short answers are tolerated`() throws {
    let bytes = try message(ofSize: 300)
    var card = Type4Card(bytes)
    card.most = 100
    #expect(try read(card).content == .message(bytes))
  }

  @Test(arguments: [false, true])
  func `reading a hostile card ends after a bounded number of exchanges`(plausible: Bool) throws {
    for seed in 0..<300 as Range<UInt64> {
      var channel = HostileChannel(seed: seed, plausible: plausible)
      _ = try TagActivation.type4A.readNDEF(over: &channel)
      // 32 KiB in pieces of 15 bytes.
      #expect(channel.count <= 5 + 8 + 0x8000 / 15, "seed \(seed)")
    }
  }
}
