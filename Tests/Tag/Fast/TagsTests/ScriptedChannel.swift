import Rig
import Tags
import Testing

extension TagChannel {
  /// Most tags of these tests need no action when they are selected again.
  mutating func reselect() throws(TagChannelError) {}
}

extension TagContent {
  /// Why there is no message; nil if there is one.
  var problem: TagProblem? { if case .problem(let problem) = self { problem } else { nil } }
}

/// An NDEF TLV block with this message, and the terminator.
func tlv(_ message: [UInt8]) -> [UInt8] {
  let count = message.count
  let length = count < 0xFF ? [UInt8(count)] : [0xFF, UInt8(count >> 8), UInt8(count & 0xFF)]
  return [0x03] + length + message + [0xFE]
}

/// Answers exactly the commands that it expects, in order. `remaining` is 0 when all were sent.
struct ScriptedChannel: TagChannel {
  private var script: ArraySlice<(command: [UInt8], answer: [UInt8])>
  private(set) var count = 0

  init(_ script: [(command: [UInt8], answer: [UInt8])]) { self.script = script[...] }

  var remaining: Int { script.count }

  mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    count += 1
    guard let next = script.popFirst(), next.command == command else {
      Issue.record("unexpected command \(command)")
      throw TagChannelError(.noAnswer, "unexpected command")
    }
    return next.answer
  }
}

/// A tag that is removed before the exchange with the number `left`, counted from 0.
struct TornChannel<Tag: TagChannel>: TagChannel {
  var tag: Tag
  var left: Int

  mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    guard left > 0 else { throw TagChannelError(.noAnswer, "the tag was removed") }
    left -= 1
    return try tag.exchange(command)
  }

  mutating func reselect() throws(TagChannelError) {
    guard left > 0 else { throw TagChannelError(.noAnswer, "the tag was removed") }
    try tag.reselect()
  }

  func canSend(_ command: [UInt8]) -> Bool { tag.canSend(command) }
}

protocol CountingChannel: TagChannel {
  var count: Int { get set }
}

extension TagActivation {
  /// Expects that formatting is refused, with this error if there is one.
  func refusesFormatting(of tag: inout some TagChannel, _ error: TagWriteError? = nil) {
    let refusal = #expect(throws: TagWriteError.self) {
      try writeNDEF([0xD1, 0x01, 0x02, 0x55, 0x04, 0x61], isFormatting: true, over: &tag)
    }
    #expect(error == nil || refusal == error)
  }

  /// Performs every operation on many hostile tags. Each has to end after so many exchanges.
  func endsWithin<Channel: CountingChannel>(
    read: Int, query: Int, write: Int, lock: Int, _ makeChannel: (SeededGenerator) -> Channel
  ) throws {
    for seed in 0..<300 as Range<UInt64> {
      var channel = makeChannel(SeededGenerator(seed: seed))
      _ = try readNDEF(over: &channel)
      #expect(channel.count <= read, "seed \(seed)")
      channel.count = 0
      _ = try queryNDEF(over: &channel)
      #expect(channel.count <= query, "seed \(seed)")
      channel.count = 0
      _ = try? writeNDEF([UInt8](repeating: 0x5A, count: Int(seed)), over: &channel)
      #expect(channel.count <= write, "seed \(seed)")
      channel.count = 0
      _ = try? lockNDEF(over: &channel)
      #expect(channel.count <= lock, "seed \(seed)")
    }
  }
}

/// Answers every command with random bytes, and counts the exchanges.
struct HostileChannel: TagChannel {
  var random: SeededGenerator
  var plausible: Bool
  private(set) var count = 0

  init(seed: UInt64, plausible: Bool) {
    random = SeededGenerator(seed: seed)
    self.plausible = plausible
  }

  mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    count += 1
    var answer = (0..<Int.random(in: 0...270, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
    guard plausible else { return answer }
    // The form is valid, so that the reader continues.
    if command.first == 0x30 {
      answer = (0..<16).map { _ in [0, 1, 2, 3, 0xFD, 0xFF, 0x10, 0xE1].randomElement(using: &random) ?? 0 }
      if command == [0x30, 3] { answer.replaceSubrange(0..<4, with: [0xE1, 0x10, 0xFF, 0x00]) }
      return answer
    }
    if command.prefix(2) == [0x00, 0xB0], command.last == 15 {
      let mostRead = UInt8.random(in: 15...255, using: &random)
      return [0, 15, 0x20, 0, mostRead, 0, 0x34, 4, 6, 0xE1, 0x04, 0xFF, 0xFE, 0, 0, 0x90, 0]
    }
    return answer + [0x90, 0x00]
  }

  mutating func reselect() throws(TagChannelError) { count += 1 }
}

extension TagActivation {
  /// An NTAG or Ultralight.
  static let type2 = TagActivation.typeA(TypeAActivation(atqa: [0, 0x44], sak: 0, uid: [4, 1, 2, 3, 4, 5, 6]))
  /// An ICODE.
  static let type5 = TagActivation.typeV(TypeVActivation(uid: [0xE0, 4, 1, 2, 3, 4, 5, 6]))
  /// A card with ISO-DEP over Type A.
  static let type4A = TagActivation.typeA(
    TypeAActivation(atqa: [3, 0x44], sak: 0x20, uid: [4, 1, 2, 3, 4, 5, 6], ats: [6, 0x75, 0x77, 0x81, 0x02, 0x80]))
}
