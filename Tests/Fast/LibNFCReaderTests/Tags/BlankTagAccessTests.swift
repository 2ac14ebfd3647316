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
    "ntag-i2c-2k": 0xEA,
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

  @Test(arguments: [MIFAREClassicModel.classic1K, .classic4K])
  func `a MIFARE Classic is formatted as AN1305 says`(model: MIFAREClassicModel) throws {
    let reader = try OpenReader()
    let id = reader.place(try .mifareClassicBlank(model))
    let before = reader.memory(of: id) ?? []
    var channel = try reader.select(.typeA)
    let error = #expect(throws: TagWriteError.self) { try channel.tag.writeNDEF(Self.message, over: &channel) }
    #expect(error?.description == "blank: the tag is not formatted for NDEF yet")
    #expect(reader.memory(of: id) == before)
    channel = try reader.select(.typeA)
    try channel.tag.writeNDEF(Self.message, isVerifying: true, isFormatting: true, over: &channel)
    let memory = reader.memory(of: id) ?? []
    func block(_ number: Int) -> [UInt8] { Array(memory[number * 16..<number * 16 + 16]) }
    let delivered = [UInt8](repeating: 0xFF, count: 6)
    let applications = (0..<16).map { $0 % 2 == 0 ? 0x03 : 0xE1 as UInt8 }
    let checksum: [UInt8] = [0x0F, 0x00]
    #expect(block(0) == Array(before[0..<16]))
    #expect(block(1) == checksum + applications.prefix(14))
    #expect(block(2) == applications)
    #expect(block(3) == [0xA0, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5, 0x78, 0x77, 0x88, 0xC1] + delivered)
    #expect(block(4) == [0x03, 0x06] + Self.message + [0xFE] + [UInt8](repeating: 0, count: 7))
    for sector in 1...15 {
      #expect(
        block(sector * 4 + 3) == [0xD3, 0xF7, 0xD3, 0xF7, 0xD3, 0xF7, 0x7F, 0x07, 0x88, 0x40] + delivered, "\(sector)"
      )
    }
    #expect(memory[1024...] == before[1024...])
    channel = try reader.select(.typeA)
    #expect(try channel.tag.queryNDEF(over: &channel).capacity == 716)
    #expect(try channel.tag.readNDEF(over: &channel) == .message(Self.message))
  }
}
