import ReaderSimulator
import Tags
import Testing

@testable import LibNFCReader

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
    #expect(error?.description == "blank: the tag is not formatted for NDEF yet")
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
