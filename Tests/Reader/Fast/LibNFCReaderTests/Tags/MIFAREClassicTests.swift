import ReaderSimulator
import Tags
import Testing

@testable import LibNFCReader

@Suite struct MIFAREClassicTests {
  private static let smallUID = [0xC0, 0x01, 0x02, 0x03] as [UInt8]

  /// Authenticating and reading the directory takes 3 commands. Then one command authenticates each sector, and one
  /// reads each block.
  @Test(
    arguments: [
      (.classic1K, 0, 5), (.classic1K, 14, 5), (.classic1K, 15, 6), (.classic1K, 46, 7), (.classic1K, 47, 9),
      (.classic1K, 254, 25), (.classic1K, 716, 63), (.mini, 188, 19), (.classic4K, 716, 63), (.classic4K, 717, 69),
      (.classic4K, 3356, 255),
    ] as [(MIFAREClassicModel, Int, Int)])
  func `a message is read in the fewest commands`(model: MIFAREClassicModel, size: Int, commands: Int) throws {
    let message = ndefMessage(ofSize: size)
    let reader = try OpenReader()
    _ = reader.place(try .mifareClassic(model, message: message, uid: .fixed(Self.smallUID)))
    var channel = try reader.select(.typeA)
    let content = try channel.tag.readNDEF(over: &channel)
    #expect(size == 0 ? "\(content)".contains("holds no message") : content == .message(message))
    #expect(channel.exchanges == commands)
  }

  @Test(arguments: [0, 15, 46, 254, 255, 716])
  func `writing changes neither the directory nor the trailers`(size: Int) throws {
    let reader = try OpenReader()
    let id = reader.place(try .mifareClassic(.classic1K, message: ndefMessage(ofSize: 80)))
    let before = reader.memory(of: id) ?? []
    var channel = try reader.select(.typeA)
    try channel.tag.writeNDEF(ndefMessage(ofSize: size, filledWith: 0x5A), isVerifying: true, over: &channel)
    let after = reader.memory(of: id) ?? []
    for block in stride(from: 3, to: 64, by: 4) {
      #expect(after[block * 16..<block * 16 + 16] == before[block * 16..<block * 16 + 16], "trailer \(block)")
    }
    #expect(after[0..<64] == before[0..<64])
  }

  @Test func `locking keeps the keys`() throws {
    let keyB: [UInt8] = [0xD3, 0xF7, 0xD3, 0xF7, 0xD3, 0xF7]
    let reader = try OpenReader()
    let id = reader.place(try .mifareClassic(.classic4K, message: ndefMessage(ofSize: 60), keyB: keyB))
    let before = reader.memory(of: id) ?? []
    var channel = try reader.select(.typeA)
    try channel.tag.lockNDEF(over: &channel)
    let after = reader.memory(of: id) ?? []
    for sector in 0..<40 {
      let trailer = (sector < 32 ? sector * 4 + 3 : 128 + (sector - 32) * 16 + 15) * 16
      #expect(after[trailer..<trailer + 6] == before[trailer..<trailer + 6], "key A of sector \(sector)")
      #expect(after[trailer + 10..<trailer + 16] == before[trailer + 10..<trailer + 16], "key B of sector \(sector)")
      #expect(Array(after[trailer + 6..<trailer + 9]) == [0x07, 0x8F, 0x0F], "access bits of sector \(sector)")
      #expect(after[trailer + 9] == (sector % 16 == 0 && sector < 32 ? before[trailer + 9] : 0x43))
    }
    #expect(try channel.tag.queryNDEF(over: &channel).capacity == 3356)
  }

  @Test func `a tag with a secret key B cannot be locked and stays unchanged`() throws {
    let reader = try OpenReader()
    let tag = try SimulatedTag.mifareClassic(.classic1K, message: ndefMessage(ofSize: 20), keyB: [1, 2, 3, 4, 5, 6])
    let id = reader.place(tag)
    let before = reader.memory(of: id)
    var channel = try reader.select(.typeA)
    let error = #expect(throws: TagWriteError.self) { try channel.tag.lockNDEF(over: &channel) }
    #expect(error == .cannotLock("key B of sector 1, which locking needs, is a secret"))
    let now = reader.memory(of: id)
    #expect(now == before)
    #expect(try channel.tag.readNDEF(over: &channel) == .message(ndefMessage(ofSize: 20)))
  }

  @Test func `a card without an application directory stays unchanged`() throws {
    let reader = try OpenReader()
    let id = reader.place(try .mifareClassicBlank(.classic1K))
    let before = reader.memory(of: id)
    var channel = try reader.select(.typeA)
    let content = try channel.tag.readNDEF(over: &channel)
    #expect("\(content)".contains("no application directory"))
    #expect(try channel.tag.queryNDEF(over: &channel).access == .notSupported)
    #expect(throws: TagWriteError.self) { try channel.tag.writeNDEF(ndefMessage(ofSize: 5), over: &channel) }
    #expect(throws: TagWriteError.self) { try channel.tag.lockNDEF(over: &channel) }
    let now = reader.memory(of: id)
    #expect(now == before)
  }

}
