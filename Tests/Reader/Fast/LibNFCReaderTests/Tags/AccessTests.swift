import ReaderProtocol
import ReaderSimulator
import Testing

@testable import LibNFCReader
@testable import ReaderKit
@testable import Tags

/// Each kind of tag on the simulated chip.
@Suite struct AccessTests {
  /// Kinds of tags, and the longest message that fits.
  static let samples: [(TagSample, Int)] =
    Type1Model.all.map { (.type1($0), $0.capacity) }
    + SimulatedType2Model.all.map { (.type2($0), $0.capacity - ($0.capacity > 256 ? 4 : 2)) }
    + [Type3Options.Model.liteS, .standard, .standardWithSeveralSystems].map {
      (.type3($0), Type3Options($0).blockCount * 16)
    } + [
      (.type4(.typeA, file: 1_000), 998), (.type4(.typeB, file: 1_000), 998), (.classic(.classic1K), 716),
      (.classic(.classic4K), 3_356),
    ]

  /// The sizes are around every border: empty, one page or block, both forms of the length, the second sector.
  @Test(arguments: samples)
  func `messages from empty to full capacity are written`(tag: TagSample, capacity: Int) throws {
    let reader = try OpenReader()
    let id = reader.place(try tag.make(ndefMessage(ofSize: 20)))
    var channel = try reader.select(tag.modulation)
    let status = try channel.tag.queryNDEF(over: &channel)
    #expect(status.access == .readWrite && status.capacity == capacity)
    let sizes = [3, capacity, 0, 1, 12, 13, 15, 16, 17, 40, 80, 90, 91, 254, 255, 256, 300, 1000, 1010, 1500, 5]
    for size in sizes where size <= capacity {
      let message = ndefMessage(ofSize: size, filledWith: UInt8(size & 0xFF) | 1)
      try channel.tag.writeNDEF(message, isVerifying: true, over: &channel)
      expect(try channel.tag.readNDEF(over: &channel), holds: message)
    }
    let before = reader.memory(of: id)
    #expect(throws: TagWriteError.tooLong(capacity: capacity)) {
      try channel.tag.writeNDEF([UInt8](repeating: 0, count: capacity + 1), over: &channel)
    }
    #expect(reader.memory(of: id) == before)
  }

  @Test(arguments: samples.map(\.0) + SimulatedType2Model.all.map { .type2($0, hasLockControl: true) })
  func `a locked tag keeps its message`(tag: TagSample) throws {
    let reader = try OpenReader()
    let message = ndefMessage(ofSize: 30)
    let id = reader.place(try tag.make(message))
    var channel = try reader.select(tag.modulation)
    try channel.tag.lockNDEF(over: &channel)
    let locked = reader.memory(of: id)
    #expect(try channel.tag.queryNDEF(over: &channel).access == .readOnly)
    #expect(throws: TagWriteError.readOnly) { try channel.tag.writeNDEF([], over: &channel) }
    #expect(throws: TagWriteError.readOnly) { try channel.tag.lockNDEF(over: &channel) }
    expect(try channel.tag.readNDEF(over: &channel), holds: message)
    #expect(reader.memory(of: id) == locked)
  }
}

/// Which readings make a tag one without a message, and which do not.
@Suite struct BareReadingTests {
  private func reading(_ code: TagProblem.Code, silence: Bool = false) -> Reading {
    Reading(.problem(TagProblem(code, "x", isConcludedFromSilence: silence)))
  }

  @Test(arguments: [TagProblem.Code.empty, .notNDEF, .blank, .unsupported])
  func `a tag that answers is without a message`(code: TagProblem.Code) {
    let reading = reading(code)
    #expect(reading.finalContent() == .bare(reason: "\(code.words): x"))
    #expect(!reading.isDoubtful())
  }

  @Test func `a damaged tag is not`() {
    #expect(reading(.damaged).finalContent() == .damaged(reason: "damaged: x", contents: []))
    let problem = TagProblem(.damaged, "x").holding([UInt8](repeating: 1, count: 5000))
    let contents = [UInt8](repeating: 1, count: TagProblem.mostContents)
    #expect(Reading(.problem(problem)).finalContent() == .damaged(reason: "damaged: x", contents: contents))
    let failed = Reading(failure: TagChannelError(.noAnswer, "it is silent"))
    #expect(failed.finalContent() == .problem(reason: Reading.failed("it is silent")))
    for code in [TagChannelError.Code.tooSlow, .tooManyExchanges] {
      #expect(Reading(failure: TagChannelError(code, "x")).finalContent() == .problem(reason: "unsupported: x"))
    }
    #expect(Reading(failure: TagChannelError(.unsupported, "x")).finalContent() == .bare(reason: "unsupported: x"))
  }

  @Test func `a silent tag is only if the next attempt confirms it`() {
    let silent = reading(.notNDEF, silence: true)
    #expect(silent.finalContent() == .problem(reason: "not NDEF: x"))
    #expect(silent.finalContent(after: reading(.damaged)) == .problem(reason: "not NDEF: x"))
    #expect(silent.finalContent(after: silent) == .bare(reason: "not NDEF: x"))
    let message = Reading(.message([0xD0, 0, 0]))
    #expect(message.finalContent() == .message([0xD0, 0, 0]))
  }
}

/// Formatting on the simulated chip.
@Suite struct BlankTagAccessTests {
  private static let message: [UInt8] = [0xD1, 0x01, 0x02, 0x55, 0x04, 0x61]
  /// The third byte of the capability container, from the data sheets.
  private static let sizes: [String: UInt8] = [
    "ultralight-nano": 0x05, "ntag210-micro": 0x06, "ntag210": 0x06, "ultralight-ev1": 0x06, "ntag212": 0x10,
    "ultralight-ev1-128": 0x10, "ntag213": 0x12, "ntag215": 0x3E, "ntag216": 0x6D, "ntag-i2c-1k": 0x6D,
    "ntag-i2c-2k": 0xEA, "ultralight-aes": 0x12,
  ]

  /// The others do not tell their model.
  @Test(arguments: SimulatedType2Model.all.filter { $0.version != nil })
  func `each model is formatted with the size of its data sheet`(model: SimulatedType2Model) throws {
    let pages: [UInt8] = [0x04, 1, 2, 0x8F, 3, 4, 5, 6, 4, 0x48, 0, 0, 0, 0, 0, 0]
    let reader = try OpenReader()
    let id = reader.place(try .type2(model, memory: pages))
    let before = reader.memory(of: id)
    var channel = try reader.select(.typeA)
    let error = #expect(throws: TagWriteError.self) { try channel.tag.writeNDEF(Self.message, over: &channel) }
    #expect(error?.description == "blank: not formatted")
    #expect(reader.memory(of: id) == before)
    channel = try reader.select(.typeA)
    try channel.tag.writeNDEF(Self.message, isVerifying: true, isFormatting: true, over: &channel)
    let memory = reader.memory(of: id) ?? []
    #expect(Array(memory[12..<16]) == [0xE1, 0x10, Self.sizes[model.name] ?? 0, 0])
    #expect(Array(memory[16..<25]) == [0x03, 0x06] + Self.message + [0xFE])
    let size = Int(memory[14]) * 8
    #expect(try channel.tag.queryNDEF(over: &channel).capacity == size - (size > 256 ? 4 : 2))
  }

  /// `BlankClassicTests` compare the blocks of a 1K.
  @Test func `a MIFARE Classic is formatted, and a 4K only in its first kilobyte`() throws {
    let formatted = try [MIFAREClassicModel.classic1K, .classic4K].map { model in
      let reader = try OpenReader()
      let id = reader.place(try .mifareClassicBlank(model))
      let before = reader.memory(of: id) ?? []
      var channel = try reader.select(.typeA)
      try channel.tag.writeNDEF(Self.message, isVerifying: true, isFormatting: true, over: &channel)
      let memory = reader.memory(of: id) ?? []
      #expect(memory[..<16] == before[..<16] && memory[1024...] == before[1024...])
      channel = try reader.select(.typeA)
      #expect(try channel.tag.queryNDEF(over: &channel).capacity == 716)
      #expect(try channel.tag.readNDEF(over: &channel) == .message(Self.message))
      return Array(memory[16..<1024])
    }
    #expect(formatted[0] == formatted[1])
  }
}
