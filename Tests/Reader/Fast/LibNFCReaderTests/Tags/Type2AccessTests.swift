import PN53x
import ReaderKit
import Tags
import Testing

@testable import PCSCReader
@testable import ReaderSimulator

@testable import LibNFCReader

/// Type 2 tags on the simulated chip.
@Suite struct Type2AccessTests {
  @Test(arguments: SimulatedType2Model.all, [false, true])
  func `a locked tag itself rejects writes to every page with TLV blocks`(
    model: SimulatedType2Model, hasLockControl: Bool
  ) throws {
    let reader = try OpenReader()
    let id = reader.place(try .type2(model, message: ndefMessage(ofSize: 30), hasLockControl: hasLockControl))
    var channel = try reader.select(.typeA)
    try channel.tag.lockNDEF(over: &channel)
    let before = reader.memory(of: id)
    for page in 4..<min(256, 4 + model.capacity / 4) {
      channel = try reader.select(.typeA)
      _ = try Type2Framing().exchange([0xA2, UInt8(page), 9, 9, 9, 9], with: reader.device)
    }
    #expect(reader.memory(of: id) == before)
  }

  /// If a block-locking bit has frozen the lock bits, the tag acknowledges a write but does not set them.
  @Test(arguments: [(.ultralight, 10, 0x02), (.ntag213, 162, 0x01)] as [(SimulatedType2Model, Int, UInt8)])
  func `frozen lock bits are noticed`(model: SimulatedType2Model, address: Int, bits: UInt8) throws {
    let reader = try OpenReader()
    let id = reader.place(try .type2(model, message: ndefMessage(ofSize: 30), uid: .fixed([4, 1, 2, 3, 4, 5, 6])))
    var image = reader.memory(of: id) ?? []
    _ = reader.remove(id)
    image[address] |= bits
    _ = reader.place(try .type2(model, memory: image))
    var channel = try reader.select(.typeA)
    let error = #expect(throws: TagWriteError.self) { try channel.tag.lockNDEF(over: &channel) }
    if case .cannotLock = error {} else { Issue.record("\(String(describing: error))") }
  }

  /// A tag that returns its UID, its counter or both in the place of bytes of the message.
  private static func mirroring(_ model: SimulatedType2Model, _ content: UInt8) throws -> SimulatedTag {
    var image = try SimulatedTag.type2(model, message: [], uid: .fixed([4, 1, 2, 3, 4, 5, 6])).memory
    let settings = (model.pageCount - 4) * 4
    image.replaceSubrange(settings..<settings + 3, with: [content << 6 | 0x10, 0, 6])
    return try .type2(model, memory: image)
  }

  @Test(arguments: [SimulatedType2Model.ntag210, .ntag212, .ntag213, .ntag215, .ntag216], [1, 2, 3] as [UInt8])
  func `a UID or counter that the tag puts into its message is not compared`(model: SimulatedType2Model, content: UInt8)
    throws
  {
    let reader = try OpenReader()
    let id = reader.place(try Self.mirroring(model, content))
    var channel = try reader.select(.typeA)
    let message = ndefMessage(ofSize: 40)
    try channel.tag.writeNDEF(message, isVerifying: true, over: &channel)
    #expect(reader.memory(of: id).map { Array($0[18..<58]) } == message)
    #expect(try channel.tag.readNDEF(over: &channel) != .message(message))
  }

  /// The model of an NTAG216 is not known there, so its settings are not either.
  @Test(arguments: [SimulatedType2Model.ntag210, .ntag212, .ntag213, .ntag215, .ntag216], [1, 2, 3] as [UInt8])
  func `a reader that only reads and writes pages does not call a tag with a mirror worn out`(
    model: SimulatedType2Model, content: UInt8
  ) throws {
    var channel = try SlotConnection.channel(to: try Self.mirroring(model, content), on: .omnikey5022)
    let tag = channel.tag
    var error: TagWriteError?
    do throws(TagWriteError) {
      try tag.writeNDEF(ndefMessage(ofSize: 40), isVerifying: true, over: &channel)
    } catch let failure {
      error = failure
    }
    #expect(error == (model == .ntag216 && content == 2 ? .mirroring : nil))
    #expect(Array(channel.link.connection.memory[18..<58]) == ndefMessage(ofSize: 40))
  }

  @Test func `a tag that rejects FAST_READ is read with READ`() throws {
    // Some tags of this size support FAST_READ, but this one does not.
    let memory = [UInt8](repeating: 0, count: 64)
    let reader = try OpenReader()
    var image = memory
    let message = ndefMessage(ofSize: 30)
    image.replaceSubrange(0..<16, with: [4, 1, 2, 0x8F, 3, 4, 5, 6, 4, 0, 0, 0, 0xE1, 0x10, 0x10, 0x00])
    image.replaceSubrange(16..<48, with: [0x03, 30] + message)
    _ = reader.place(try .type2(.ultralight, memory: image))
    var channel = try reader.select(.typeA)
    _ = reader.takeCounters()
    #expect(try channel.tag.readNDEF(over: &channel) == .message(message))
    let counters = reader.takeCounters()
    // READ, FAST_READ, a retry because the first FAST_READ may have been lost, and two more READs.
    #expect(counters.exchanges == 5)
  }
}
