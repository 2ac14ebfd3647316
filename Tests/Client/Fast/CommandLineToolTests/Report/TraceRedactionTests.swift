import NDEF
import Names
import Testing

@testable import CommandLineTool

/// No identifier and nothing that is stored on a tag is left in a redacted trace. Its structure is.
@Suite struct TraceRedactionTests {
  private static let uid: [UInt8] = [0x04, 0xA2, 0xB3, 0xC4, 0xD5, 0xE6, 0x80]
  private static let otherUID: [UInt8] = [0x04, 0, 0, 0, 0, 0, 1]

  private static func line(_ command: [UInt8], _ answer: [UInt8]?, call: TraceLine.Exchange.Call? = nil) -> TraceLine {
    TraceLine(.exchange(.init(call: call, command: command, answer: answer)), at: 1)
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

  @Test func `payloads that are no text have no bytes left`() throws {
    let message = NDEFMessage(records: [
      NDEFRecord(
        typeNameFormat: .mediaType, type: Array("image/png".utf8), id: Array("mine".utf8), payload: [1, 2, 3]),
      NDEFRecord(typeNameFormat: .external, type: Array("me.example:a".utf8), payload: Array("key".utf8)),
    ])
    let bytes = TraceRedaction.redact(message: try message.encoded())
    let records = try NDEFMessage(decoding: bytes).records
    #expect(records[0].type == Array("image/png".utf8))
    #expect(records[0].id == Array("xxxx".utf8))
    #expect(records[0].payload == Array("xxx".utf8))
    #expect(records[1].type == Array("xx.xxxxxxx:x".utf8))
    #expect(TraceRedaction.redact(message: [1, 2, 3]) == [0, 0, 0])
  }

  private func contains(_ trace: [TraceLine], _ bytes: [UInt8]) -> Bool {
    let text = Hexadecimal.text(bytes)
    return trace.contains { String(decoding: $0.bytes, as: UTF8.self).contains(text) }
  }
}
