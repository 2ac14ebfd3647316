import Rig
import Testing

@testable import Tags

/// The memory of a Type 1 tag that answers every command of its specification.
struct Type1Memory: TagChannel {
  static let uid: [UInt8] = [1, 2, 3, 4]

  var header: [UInt8]
  var bytes: [UInt8]
  private(set) var commands: [[UInt8]] = []

  // `data` follows the capability container, and skips the reserved blocks.
  init(
    _ data: [UInt8], header: [UInt8] = [0x11, 0x48], container: [UInt8]? = nil, size: Int = 120
  ) {
    self.header = header
    bytes = [UInt8](repeating: 0, count: max(size, 120))
    bytes.replaceSubrange(8..<12, with: container ?? [0xE1, 0x10, UInt8(size / 8 - 1), 0x00])
    for (address, byte) in zip(Array(12..<104) + Array(128..<max(size, 128)), data) { bytes[address] = byte }
  }

  mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    guard command.suffix(4) == Self.uid[...] else { throw TagChannelError(.noAnswer, "meant for another") }
    commands.append(command.dropLast(4))
    let operand = Int(command[1])
    switch command[0] {
    case 0x00: return header + bytes[..<120]
    case 0x02: return [command[1]] + (operand * 8..<operand * 8 + 8).map { bytes.indices.contains($0) ? bytes[$0] : 0 }
    case 0x53: bytes[operand] = command[2]
    case 0x1A: bytes[operand] |= command[2]
    case 0x54: for index in 0..<8 { bytes[operand * 8 + index] = command[2 + index] }
    case 0x1B: for index in 0..<8 { bytes[operand * 8 + index] |= command[2 + index] }
    default: throw TagChannelError(.noAnswer, "unknown")
    }
    guard command[0] & 0x0F != 0x04, command[0] & 0x0F != 0x0B else {
      return [command[1]] + bytes[operand * 8..<operand * 8 + 8]
    }
    return [command[1], bytes[operand]]
  }
}

@Suite struct Type1TagTests {
  private let tag = TagActivation.jewel(JewelActivation(atqa: [0x0C, 0x00], uid: Type1Memory.uid))
  private let controls: [UInt8] = [0x01, 0x03, 0xF2, 0x30, 0x33, 0x02, 0x03, 0xF0, 0x02, 0x03]
  private let topaz512: [UInt8] = [0x12, 0x4C]
  private let message: [UInt8] = [0xD1, 0x01, 0x02, 0x54, 0x41, 0x42]

  private func problem(_ memory: Type1Memory) throws -> String? {
    var memory = memory
    return try tag.readNDEF(over: &memory).problem?.description
  }

  @Test func `one command reads the whole static memory`() throws {
    var memory = Type1Memory([0x00, 0xFD, 2, 9, 9, 0x03, 6] + message + [0xFE])
    #expect(try tag.readNDEF(over: &memory) == .message(message))
    #expect(memory.commands == [[0, 0, 0]])
  }

  @Test func `a tag without a readable message is reported with the reason`() throws {
    #expect(
      try problem(Type1Memory([], header: [0x00, 0x00]))
        == "not NDEF: the header ROM does not say that it is an NFC Forum tag")
    #expect(
      try problem(Type1Memory([], container: [0, 0x10, 0x0E, 0]))
        == "not NDEF: there is no capability container in block 1")
    #expect(try problem(Type1Memory([0xFE])) == "not NDEF: there is no NDEF TLV on the tag")
    #expect(try problem(Type1Memory([], container: [0xE1, 0x10, 0, 0])) == "not NDEF: there is no NDEF TLV on the tag")
    #expect(
      try problem(Type1Memory([], container: [0xE1, 0x20, 0x0E, 0]))
        == "unsupported: it is formatted for mapping version 2 of Type 1")
    #expect(
      try problem(Type1Memory([], container: [0xE1, 0x10, 0x0E, 0xF0]))
        == "unsupported: the tag does not let everybody read it")
    #expect(try problem(Type1Memory([0x03, 0])) == "empty: the tag holds no message")
  }

  /// A container that says 2 KiB does not make static memory larger.
  @Test func `a TLV that is longer than the memory is reported as damaged`() throws {
    let reason = "damaged: a TLV block is longer than the memory that the tag has for it"
    #expect(try problem(Type1Memory([0x03, 91])) == reason)
    #expect(try problem(Type1Memory([0x03, 91], container: [0xE1, 0x10, 0xFF, 0])) == reason)
    #expect(try problem(Type1Memory(controls + [0x03, 0xFF, 0x01, 0xCF], header: topaz512, size: 512)) == reason)
  }

  @Test func `the problem of a damaged tag has the bytes that were read`() throws {
    var memory = Type1Memory([0x03, 91, 7, 8, 9])
    #expect(try tag.readNDEF(over: &memory).problem?.contents == Array(memory.bytes[12..<104]))
  }

  @Test func `an answer of the wrong form is reported as damaged`() throws {
    let rall: [UInt8] = [0, 0, 0] + Type1Memory.uid
    var channel = ScriptedChannel([(rall, [UInt8](repeating: 0x11, count: 121))])
    #expect(try tag.readNDEF(over: &channel) == .damaged("the tag answered RALL with less than 122 bytes"))
    let memory = Type1Memory(controls + [0x03, 120], header: topaz512, size: 512)
    for answer in [[], [0x11, 1, 2, 3, 4, 5, 6, 7, 8], [0x10, 1, 2, 3, 4, 5, 6, 7]] as [[UInt8]] {
      let read8: [UInt8] = [0x02, 0x10, 0, 0, 0, 0, 0, 0, 0, 0] + Type1Memory.uid
      var channel = ScriptedChannel([(rall, topaz512 + memory.bytes[..<120]), (read8, answer)])
      #expect(try tag.readNDEF(over: &channel) == .damaged("the tag answered READ8 with what is not block 16"))
    }
  }

  @Test func `a write or lock that cannot succeed changes no byte`() throws {
    var memory = Type1Memory([0x03, 0], container: [0xE1, 0x10, 0x0E, 0x0F])
    #expect(throws: TagWriteError.readOnly) { try tag.writeNDEF(message, over: &memory) }
    memory = Type1Memory([0x03, 0])
    #expect(throws: TagWriteError.tooLong(capacity: 90)) {
      try tag.writeNDEF([UInt8](repeating: 1, count: 91), over: &memory)
    }
    memory = Type1Memory([], container: [0, 0, 0, 0])
    #expect(throws: TagWriteError.self) { try tag.writeNDEF(message, over: &memory) }
    // Dynamic memory of an unknown model.
    memory = Type1Memory(controls + [0x03, 0], header: [0x13, 0x4C], size: 512)
    #expect(throws: TagWriteError.self) { try tag.lockNDEF(over: &memory) }
    #expect(memory.commands == [[0, 0, 0], [0, 0, 0]])
  }

  @Test func `a write fails if the tag confirms another byte`() throws {
    let rall: [UInt8] = [0, 0, 0] + Type1Memory.uid
    let memory = Type1Memory([0x03, 0])
    for answer in [[14, 0], [15, 0xD0], []] as [[UInt8]] {
      var channel = ScriptedChannel([
        (rall, memory.header + memory.bytes), ([0x53, 14, 0xD0] + Type1Memory.uid, answer),
      ])
      #expect(throws: TagWriteError.notAsWritten) { try tag.writeNDEF([0xD0, 0, 0], over: &channel) }
    }
  }

  @Test func `a lock changes the container before it locks its block`() throws {
    var memory = Type1Memory(controls + [0x03, 6] + message, header: topaz512, size: 512)
    try tag.lockNDEF(over: &memory)
    let writes = memory.commands.filter { [0x1A, 0x1B, 0x53, 0x54].contains($0[0]) }
    #expect(
      writes == [
        [0x1A, 11, 0x0F], [0x1B, 15, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0x1A, 113, 0x1F], [0x1A, 112, 0xFE],
      ])
    #expect(try tag.queryNDEF(over: &memory).access == .readOnly)
  }

  @Test func `every operation on a hostile tag ends after a bounded number of exchanges`() throws {
    try tag.endsWithin(read: 260, query: 520, write: 1_200, lock: 1_200) { HostileType1(random: $0) }
  }
}

/// Answers in the right form with random content.
private struct HostileType1: CountingChannel {
  var random: SeededGenerator
  var count = 0

  mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    count += 1
    func byte(_ choice: [UInt8]) -> UInt8 { choice.randomElement(using: &random) ?? 0 }
    let likely: [UInt8] = [0, 1, 2, 3, 3, 3, 0xFD, 0xFF, 0x0F, 0xF2, 0x10]
    switch command[0] {
    case 0x00:
      return [0x12, 0] + (0..<8).map { _ in 0 } + [0xE1, 0x10, 0xFF, byte([0, 0, 0x0F, 0xFF])]
        + (0..<108).map { _ in byte(likely) }
    case 0x02: return [command[1]] + (0..<8).map { _ in byte(likely) }
    default: return Int.random(in: 0..<8, using: &random) == 0 ? [] : Array(command.dropFirst().dropLast(4))
    }
  }

  mutating func reselect() throws(TagChannelError) { count += 1 }
}
