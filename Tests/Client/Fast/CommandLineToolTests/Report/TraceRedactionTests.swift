import NDEF
import Names
import Testing

@testable import CommandLineTool

/// No identifier and nothing that is stored on a tag is left in a redacted trace. Its structure is.
@Suite struct TraceRedactionTests {
  private static let uid: [UInt8] = [0x04, 0xA2, 0xB3, 0xC4, 0xD5, 0xE6, 0x80]
  private static let otherUID: [UInt8] = [0x04, 0, 0, 0, 0, 0, 1]

  private static func line(
    _ command: [UInt8], _ answer: [UInt8]?, call: TraceLine.Exchange.Call? = nil, code: UInt32? = nil
  ) -> TraceLine {
    TraceLine(.exchange(.init(call: call, code: code, command: command, answer: answer)), at: 1)
  }

  private static func tap(_ message: [UInt8]?, uid: [UInt8] = uid) -> TraceLine {
    TraceLine(.tap(.init(type: "type-2", uid: uid, message: message, problem: nil)), at: 1)
  }

  private func redact(_ trace: [TraceLine]) -> [TraceLine] { TraceRedaction([trace]).redact(trace) }

  private func answer(_ line: TraceLine) -> [UInt8]? {
    if case .exchange(let exchange) = line.event { exchange.answer } else { nil }
  }

  private func command(_ line: TraceLine) -> [UInt8]? {
    if case .exchange(let exchange) = line.event { exchange.command } else { nil }
  }

  @Test func `a Type 2 tag keeps its form`() throws {
    let message = try NDEFMessage.uri("https://secret.example/a?b=12").encoded()
    let data = [0x03, UInt8(message.count)] + message + [0xFE]
    let padded = data + [UInt8](repeating: 0x55, count: 48 - data.count)
    let first: [UInt8] = [0x04, 0xA2, 0xB3, 0x9D, 0xC4, 0xD5, 0xE6, 0x80, 0x77, 0x48, 0, 0, 0xE1, 0x10, 0x12, 0]
    let trace = [
      Self.line([0x4A, 1, 0], [1, 1, 0, 0x44, 0, 7] + Self.uid), Self.line([0x40, 1, 0x30, 0], [0] + first),
      Self.line([0x40, 1, 0x30, 4], [0] + padded[..<16]), Self.line([0x40, 1, 0x30, 8], [0] + padded[16..<32]),
      Self.line([0x40, 1, 0x30, 12], [0] + padded[32...]), Self.tap(message),
    ]
    let redacted = redact(trace)
    #expect(answer(redacted[0]) == [1, 1, 0, 0x44, 0, 7] + Self.otherUID)
    #expect(
      answer(redacted[1])
        == [0, 0x04, 0, 0, 0x8C, 0, 0, 0, 1, 1, 0x48, 0, 0, 0xE1, 0x10, 0x12, 0], "with check bytes of its own")
    let bytes = redacted[2...4].flatMap { answer($0)?.dropFirst() ?? [] }
    guard case .tap(let tap) = redacted[5].event, let other = tap.message else {
      Issue.record("the tap is gone")
      return
    }
    #expect(tap.uid == Self.otherUID)
    #expect(bytes == [0x03, UInt8(message.count)] + other + [UInt8](repeating: 0, count: 48 - 2 - other.count))
    let record = try #require(try NDEFMessage(decoding: other).records.first)
    #expect(String(decoding: record.payload.dropFirst(), as: UTF8.self) == "xxxxxx.xxxxxxx/x?x=00")
  }

  @Test func `a Type 4 tag keeps its form`() throws {
    let message = try NDEFMessage.uri("https://secret.example").encoded()
    let container: [UInt8] = [0, 15, 0x20, 0, 0x3B, 0, 0x34, 4, 6, 0xE1, 4, 0, 0xFF, 0, 0]
    let uid: [UInt8] = [0x08, 0x11, 0x22, 0x33]
    let trace = [
      Self.line([0xFF, 0xCA, 0, 0, 0], uid + [0x90, 0], call: .transmit),
      Self.line([0x00, 0xA4, 0, 0x0C, 2, 0xE1, 0x03], [0x90, 0], call: .transmit),
      Self.line([0x00, 0xB0, 0, 0, 15], container + [0x90, 0], call: .transmit),
      Self.line([0x00, 0xA4, 0, 0x0C, 2, 0xE1, 0x04], [0x90, 0], call: .transmit),
      Self.line([0x00, 0xB0, 0, 0, 2], [0, UInt8(message.count), 0x90, 0], call: .transmit),
      Self.line([0x00, 0xB0, 0, 2, UInt8(message.count)], message + [0x90, 0], call: .transmit),
      Self.tap(message, uid: uid),
    ]
    let redacted = redact(trace)
    #expect(answer(redacted[0]) == [0x08, 0, 0, 1, 0x90, 0])
    #expect(answer(redacted[2]) == container + [0x90, 0])
    #expect(answer(redacted[4]) == [0, UInt8(message.count), 0x90, 0])
    #expect(answer(redacted[5])?.count == message.count + 2)
    #expect(answer(redacted[5])?.suffix(2) == [0x90, 0])
    #expect(!contains(redacted, Array("secret".utf8)))
  }

  @Test func `the data of a tag without a message become zeros`() {
    let trace = [
      Self.line([0x40, 1, 0x30, 4], [0] + Array("secret words 123".utf8)),
      Self.line([0x00, 0xB0, 0, 0, 15], Array("secret words 12".utf8) + [0x90, 0], call: .transmit),
      Self.line([0xFF, 0xB0, 0, 0, 16], Array("secret words 123".utf8) + [0x90, 0], call: .transmit), Self.tap(nil),
    ]
    let redacted = redact(trace)
    #expect(answer(redacted[0]) == [UInt8](repeating: 0, count: 17))
    #expect(answer(redacted[1]) == [UInt8](repeating: 0, count: 15) + [0x90, 0])
    #expect(answer(redacted[2]) == [UInt8](repeating: 0, count: 16) + [0x90, 0])
  }

  @Test func `an earlier message behind the present one becomes zeros`() throws {
    let message = try NDEFMessage.uri("a:b").encoded()
    let data = [0x03, UInt8(message.count)] + message + [0xFE] + Array("old".utf8)
    let redacted = redact([Self.line([0x40, 1, 0x30, 4], [0] + data), Self.tap(message)])
    #expect(answer(redacted[0])?.suffix(4) == [0, 0, 0, 0])
  }

  @Test func `the bytes of a session become zeros`() {
    var exchange = TraceLine.Exchange(
      command: [0x40, 1, 0xA2, 4] + Array("page".utf8), answer: [0] + Array("word".utf8))
    exchange.isOfSession = true
    let redacted = redact([TraceLine(.exchange(exchange), at: 1)])
    #expect(command(redacted[0]) == [0x40, 1, 0xA2, 0, 0, 0, 0, 0])
    #expect(answer(redacted[0]) == [0, 0, 0, 0, 0])
  }

  @Test func `an identifier is replaced in each form`() {
    let uid: [UInt8] = [0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x07, 0xE0]
    let trace = [
      Self.line([0xFF, 0xCA, 0, 0, 0], uid + [0x90, 0], call: .transmit),
      Self.line([0x22, 0x20] + uid + [0], [0x90, 0], call: .transmit),
      Self.line([0x60, 0x04, 1, 2] + uid.reversed(), nil, call: .transmit),
    ]
    let other: [UInt8] = [0, 0, 0, 0, 0, 1, 0x07, 0xE0]
    let redacted = redact(trace)
    #expect(answer(redacted[0]) == other + [0x90, 0])
    #expect(command(redacted[1]) == [0x22, 0x20] + other + [0])
    #expect(command(redacted[2]) == [0x60, 0x04, 1, 2] + other.reversed())
  }

  /// RALL has all seven bytes of the UID, and the chip reports four.
  @Test func `a Type 1 tag keeps its form, but not its UID`() throws {
    let message = try NDEFMessage.uri("https://secret.example").encoded()
    let uid: [UInt8] = [0xC0, 0xFF, 0xEE, 0x12]
    let control: [UInt8] = [0xE1, 0x10, 0x0E, 0, 0x01, 3, 0xF2, 0x30, 0x33, 0x02, 3, 0xF0, 2, 3]
    let memory = uid + [0x34, 0x56, 0x25, 0x77] + control + [0x03, UInt8(message.count)] + message + [0xFE]
    let padded = memory + [UInt8](repeating: 0x55, count: 120 - memory.count)
    let redacted = redact([
      Self.line([0x4A, 1, 4], [1, 1, 0x0C, 0] + uid), Self.line([0x40, 1, 0x00], [0, 0x11, 0x48] + padded),
      // ReadRegister of the FIFO, and WriteRegister with RID and the UID.
      Self.line([0x06, 0x63, 0x3A, 0x63, 0x39, 0x63, 0x39], [2, 0xC0, 0xFF]),
      Self.line([0x08, 0x63, 0x39, 0x02, 0x63, 0x31, 4, 0x63, 0x39, 0x10, 0x63, 0x39, 0xC0], []),
      Self.tap(message, uid: uid),
    ])
    #expect(answer(redacted[0]) == [1, 1, 0x0C, 0, 0xC0, 0, 0, 1])
    let start = [0, 0x11, 0x48] + [UInt8](repeating: 0, count: 8) + control + [0x03, UInt8(message.count)]
    let other = MessageRedaction.redact(message)
    #expect(answer(redacted[1]) == start + other + [UInt8](repeating: 0, count: 123 - start.count - other.count))
    #expect(answer(redacted[2]) == [2, 0, 0])
    #expect(command(redacted[3]) == [0x08, 0x63, 0x39, 0x02, 0x63, 0x31, 4, 0x63, 0x39, 0x10, 0x63, 0x39, 0])
  }

  /// Through libnfc, and through the pseudo-APDU of an ACR122U for its chip.
  @Test(arguments: [false, true]) func `a Type 3 tag keeps its form`(isCard: Bool) throws {
    let message = try NDEFMessage.uri("https://secret.example/of/mine").encoded()
    let idm: [UInt8] = [0x02, 0xFE, 1, 2, 3, 4, 5, 6]
    let otherIDm: [UInt8] = [0x02, 0, 0, 0, 0, 0, 0, 1]
    let pmm = [UInt8](repeating: 0xFF, count: 8)
    let attributes: [UInt8] = [0x10, 4, 1, 0, 13, 0, 0, 0, 0, 0, 1, 0, 0, UInt8(message.count), 1, 0x42]
    let padded = message + [UInt8](repeating: 0, count: 48 - message.count)
    func line(_ command: [UInt8], _ answer: [UInt8]) -> TraceLine {
      let frame = [UInt8(command.count + 1)] + command
      let data = [UInt8(answer.count + 1)] + answer
      guard isCard else { return Self.line([0x40, 1] + frame, [0] + data) }
      let chip = [0xD4, 0x40, 1] + frame
      return Self.line(
        [0xFF, 0, 0, 0, UInt8(chip.count)] + chip, [0xD5, 0x41, 0] + data + [0x90, 0], call: .transmit)
    }
    let check = [0x06] + idm + [0x01, 0x0B, 0x00]
    let found =
      isCard
      ? Self.line([0xFF, 0xCA, 0, 0, 0], idm + [0x90, 0], call: .transmit)
      : Self.line([0x4A, 1, 1, 0], [1, 1, 18, 1] + idm + pmm)
    let redacted = redact([
      found, line([0x00, 0x12, 0xFC, 1, 0], [0x01] + idm + pmm),
      line(check + [1, 0x80, 0], [0x07] + idm + [0, 0, 1] + attributes),
      line(check + [3, 0x80, 1, 0x80, 2, 0x80, 3], [0x07] + idm + [0, 0, 3] + padded), Self.tap(message, uid: idm),
    ])
    func data(_ line: TraceLine) -> [UInt8]? {
      answer(line).map { Array($0.dropFirst(isCard ? 3 : 1).dropLast(isCard ? 2 : 0)) }
    }
    let other: [UInt8] = MessageRedaction.redact(message) + padded[message.count...]
    #expect(data(redacted[1]) == [18, 0x01] + otherIDm + pmm)
    #expect(data(redacted[2]) == [29, 0x07] + otherIDm + [0, 0, 1] + attributes)
    #expect(data(redacted[3]) == [61, 0x07] + otherIDm + [0, 0, 3] + other)
    #expect(!contains(redacted, Array(idm.suffix(4))) && !contains(redacted, Array("secret".utf8)))
  }

  /// The status words of ISO-DEP are not data of the tag.
  @Test func `a Type 4 tag keeps its form through libnfc`() throws {
    let message = try NDEFMessage.uri("https://secret.example").encoded()
    let uid: [UInt8] = [0x08, 0x11, 0x22, 0x33]
    let file = [0, UInt8(message.count)] + message
    let redacted = redact([
      Self.line([0x4A, 1, 0], [1, 1, 3, 0x44, 0x20, 4] + uid + [8, 0x75, 0x77, 0x81, 2, 0x80, 0x11, 0x12]),
      Self.line([0x40, 1, 0x00, 0xA4, 0, 0x0C, 2, 0xE1, 0x04], [0, 0x90, 0]),
      Self.line([0x40, 1, 0x00, 0xB0, 0, 0, 0x3B], [0] + file + [7, 7, 0x90, 0]),
      Self.line([0x40, 1, 0x00, 0xB0, 0, 0x3B, 4], [0, 0x6B, 0]), Self.tap(message, uid: uid),
    ])
    #expect(answer(redacted[0]) == [1, 1, 3, 0x44, 0x20, 4, 0x08, 0, 0, 1, 8, 0x75, 0x77, 0x81, 2, 0x80, 0, 0])
    #expect(answer(redacted[1]) == [0, 0x90, 0])
    let other = MessageRedaction.redact(message)
    #expect(answer(redacted[2]) == [0, 0, UInt8(message.count)] + other + [0, 0, 0x90, 0])
    #expect(answer(redacted[3]) == [0, 0x6B, 0])
  }

  @Test func `a Type 5 tag keeps its form`() throws {
    let message = try NDEFMessage.uri("https://secret.example").encoded()
    let uid: [UInt8] = [0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x07, 0xE0]
    let memory = [0xE1, 0x40, 0x0A, 1, 0x03, UInt8(message.count)] + message + [0xFE]
    var trace = [Self.line([0xFF, 0xCA, 0, 0, 0], uid + [0x90, 0], call: .transmit)]
    for block in 0..<memory.count / 4 {
      let data = Array(memory[(4 * block)..<(4 * block + 4)])
      trace.append(Self.line([0xFF, 0xB0, 0, UInt8(block), 4], data + [0x90, 0], call: .transmit))
    }
    let redacted = redact(trace + [Self.tap(message, uid: uid)])
    let bytes = redacted[1..<trace.count].flatMap { answer($0)?.dropLast(2) ?? [] }
    let expected: [UInt8] = Array(memory[..<6]) + MessageRedaction.redact(message) + [0]
    #expect(bytes == Array(expected.prefix(bytes.count)) && bytes.count > message.count)
  }

  /// What comes before a part of the message may be private.
  @Test func `only known bytes stay before a message`() throws {
    let message = try NDEFMessage.uri("https://secret.example").encoded()
    let part = Array(message.prefix(10))
    let redacted = redact([
      Self.line([0x40, 1, 0x30, 4], [0] + Array("mine: ".utf8) + part), Self.tap(message),
      // FAST_READ from page 0, and a pseudo-APDU.
      Self.line([0x42, 0x3A, 0x00, 0x03], [0] + Array("mine, not of a tag".utf8)),
      Self.line([0xFF, 0x00, 0x00, 0x00, 2, 0x01, 0x02], Array("private".utf8) + [0x90, 0], call: .transmit),
      Self.line([0x40, 1, 0x30, 0x00], [0] + Array("sixteen letters!".utf8)), Self.tap(message),
    ])
    #expect(answer(redacted[0])?.prefix(7) == [0, 0, 0, 0, 0, 0, 0])
    #expect(answer(redacted[0])?.suffix(10) == MessageRedaction.redact(message).prefix(10))
    for line in redacted[2...4] { #expect(answer(line)?.dropLast(2).allSatisfy { $0 == 0 } == true) }
  }

  @Test func `the data of another tag become zeros`() throws {
    let message = try NDEFMessage.uri("a:b").encoded()
    let data = [0x03, UInt8(message.count)] + message
    let read = Self.line([0x40, 1, 0x30, 4], [0] + data)
    let redacted = redact([
      Self.line([0x4A, 1, 0], [1, 1, 0, 0x44, 0, 4, 9, 8, 7, 6]), read,
      Self.line([0x4A, 1, 0], [1, 1, 0, 0x44, 0, 7] + Self.uid), read, Self.tap(message),
    ])
    #expect(answer(redacted[1]) == [UInt8](repeating: 0, count: data.count + 1))
    #expect(answer(redacted[3]) == [0, 0x03, UInt8(message.count)] + MessageRedaction.redact(message))
  }

  @Test func `the identifiers of two tags at once are replaced`() {
    let second: [UInt8] = [0x04, 1, 2, 3, 4, 5, 6]
    let redacted = redact([
      Self.line(
        [0x4A, 2, 0],
        [2, 1, 3, 0x44, 0x20, 7] + Self.uid + [5, 0x72, 0x77, 0x81, 2] + [2, 0, 0x44, 0, 7] + second),
      Self.line([0x3A] + second, nil),
    ])
    #expect(
      answer(redacted[0])
        == [2, 1, 3, 0x44, 0x20, 7] + Self.otherUID + [5, 0x72, 0x77, 0x81, 2] + [2, 0, 0x44, 0, 7]
        + [0x04, 0, 0, 0, 0, 0, 2])
    #expect(command(redacted[1]) == [0x3A, 0x04, 0, 0, 0, 0, 0, 2])
  }

  @Test func `a UID of ten bytes is replaced with its cascade tags`() {
    let uid: [UInt8] = [4, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x78, 0x79]
    let other: [UInt8] = [4, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    let redacted = redact([
      Self.line([0x4A, 1, 0], [1, 1, 0, 0x44, 0, 12, 0x88] + uid[..<3] + [0x88] + uid[3...]), Self.line([1] + uid, nil),
    ])
    #expect(answer(redacted[0]) == [1, 1, 0, 0x44, 0, 12, 0x88] + other[..<3] + [0x88] + other[3...])
    #expect(command(redacted[1]) == [1] + other)
  }

  /// Of a card of ISO-DEP, and of a memory card.
  private static let answersToReset: [(answer: [UInt8], expected: [UInt8])] = [
    ([0x3B, 0x85, 0x80, 1, 0x75, 0x77, 0x81, 2, 0x80, 0x05], [0x3B, 0x85, 0x80, 1, 0x75, 0, 0, 0, 0, 0x71]),
    (
      [0x3B, 0x8F, 0x80, 1, 0x80, 0x4F, 0x0C, 0xA0, 0, 0, 3, 6, 3, 0, 3, 0, 0, 0, 0, 0x68],
      [0x3B, 0x8F, 0x80, 1, 0x80, 0x4F, 0x0C, 0xA0, 0, 0, 3, 6, 3, 0, 3, 0, 0, 0, 0, 0x68]
    ), ([0x3B, 0x00], [0x3B, 0x00]), ([], []),
  ]

  @Test(arguments: answersToReset)
  func `historical bytes become zeros`(answer: [UInt8], expected: [UInt8]) {
    let redacted = redact([TraceLine(.slot(34, answerToReset: answer), at: 1)])
    #expect(redacted.map(\.event) == [.slot(34, answerToReset: expected)])
  }

  @Test func `serial numbers of readers are replaced`() {
    let name = "ACS ACR122U PICC Interface (0123456789ABCD) 00 00"
    let redacted = redact([
      TraceLine(.device("pcsc:\(name)", name: name, error: "\(name) is gone"), at: 1),
      Self.line([], [1, 2, 3], call: .attribute, code: 0x1_0103),
    ])
    let other = "ACS ACR122U PICC Interface (SERIAL) 00 00"
    #expect(redacted[0].event == .device("pcsc:\(other)", name: other, error: "\(other) is gone"))
    #expect(answer(redacted[1]) == [0, 0, 0])
  }

  @Test func `links and texts are known to the texts of a report`() throws {
    let poster = SmartPosterRecord(
      uri: "https://menu.example.com", titles: [TextRecord("Lunch\nand tea", language: "en")])
    let message = try NDEFMessage(records: [poster.record()]).encoded()
    #expect(TraceRedaction([[Self.tap(message)]]).contents == ["menu.example.com", "Lunch", "and tea"])
  }

  @Test func `payloads that are no text have no bytes left`() throws {
    let message = NDEFMessage(records: [
      NDEFRecord(
        typeNameFormat: .mediaType, type: Array("image/png".utf8), id: Array("mine".utf8), payload: [1, 2, 3]),
      NDEFRecord(typeNameFormat: .external, type: Array("me.example:a".utf8), payload: Array("key".utf8)),
    ])
    let bytes = MessageRedaction.redact(try message.encoded())
    let records = try NDEFMessage(decoding: bytes).records
    #expect(records[0].type == Array("image/png".utf8))
    #expect(records[0].id == Array("xxxx".utf8))
    #expect(records[0].payload == Array("xxx".utf8))
    #expect(records[1].type == Array("xx.xxxxxxx:x".utf8))
    #expect(MessageRedaction.redact([1, 2, 3]) == [0, 0, 0])
  }

  private func contains(_ trace: [TraceLine], _ bytes: [UInt8]) -> Bool {
    let text = Hexadecimal.text(bytes)
    return trace.contains { String(decoding: $0.bytes, as: UTF8.self).contains(text) }
  }
}
