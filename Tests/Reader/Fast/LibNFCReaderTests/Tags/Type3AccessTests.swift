import ReaderSimulator
import Tags
import Testing

@testable import LibNFCReader

/// FeliCa cards on the simulated chip.
@Suite struct Type3AccessTests {
  private static let idm: [UInt8] = [0x01, 0x2E, 1, 2, 3, 4, 5, 6]

  @Test func `blocks after the 255th are read and written`() throws {
    var options = Type3Options(.standard)
    (options.blockCount, options.maximumRead, options.maximumWrite) = (1_000, 15, 12)
    let message = ndefMessage(ofSize: 16_000)
    let reader = try OpenReader()
    let id = reader.place(try .type3(message: [], options: options))
    var channel = try reader.select(.felica212)
    try channel.tag.writeNDEF(message, isVerifying: true, over: &channel)
    expect(try channel.tag.readNDEF(over: &channel), holds: message)
    #expect(reader.memory(of: id).map { Array($0[16...]) } == message)
  }

  @Test(arguments: [Modulation.felica212, .felica424])
  func `a transit card is reported as not NDEF`(modulation: Modulation) throws {
    let reader = try OpenReader()
    let id = reader.place(try .transitCard())
    var channel = try reader.select(modulation)
    _ = reader.takeCounters()
    #expect(
      try problem(of: channel.tag.readNDEF(over: &channel))
        == "not NDEF: the FeliCa card has no NDEF system; it is one for trains, shops or doors")
    #expect(reader.takeCounters().exchanges == 2)
    _ = reader.remove(id)
    #expect(throws: TagChannelError.self) { try channel.tag.readNDEF(over: &channel) }
  }

  @Test func `a locked FeliCa Lite rejects writes that ignore the read-only flag`() throws {
    let reader = try OpenReader()
    let id = reader.place(try .type3(message: ndefMessage(ofSize: 40), idm: Self.idm))
    var channel = try reader.select(.felica212)
    let update = [0x08] + Self.idm + [1, 0x09, 0x00, 1, 0x80, 0x00]
    let attributes = try channel.exchange([0x06] + Self.idm + [1, 0x0B, 0x00, 1, 0x80, 0x00]).suffix(16)
    #expect(try channel.exchange(update + attributes).suffix(2) == [0, 0])
    try channel.tag.lockNDEF(over: &channel)
    let memory = reader.memory(of: id)
    #expect(try channel.exchange(update + attributes).suffix(2) == [0x01, 0xA8])
    #expect(reader.memory(of: id) == memory)
  }

  @Test func `a phone is addressed by its current identifier`() throws {
    let reader = try OpenReader()
    let message = ndefMessage(ofSize: 100)
    _ = reader.place(try .type3(message: message, options: Type3Options(.phone)))
    var identifiers: Set<[UInt8]> = []
    for _ in 0..<3 {
      var channel = try reader.select(.felica212)
      identifiers.insert(channel.tag.identifier)
      #expect(channel.tag.identifier.prefix(2) == [0x02, 0xFE])
      expect(try channel.tag.readNDEF(over: &channel), holds: message)
      try channel.tag.writeNDEF(message, isVerifying: true, over: &channel)
    }
    #expect(identifiers.count == 3)
  }
}
