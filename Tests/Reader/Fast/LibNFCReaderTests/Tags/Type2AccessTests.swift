import PN53x
import ReaderKit
import Tags
import Testing

@testable import LibNFCReader
@testable import PCSCReader
@testable import ReaderSimulator

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

/// Type 2 tags with pages that need a password or a key, on the simulated chip.
@Suite struct Type2ProtectionTests {
  /// The addresses of AUTH0 and of the byte that selects the protected operations.
  static let places: [(model: SimulatedType2Model, auth0: Int, access: Int)] = [
    (.ntag210, 0x10 * 4 + 3, 0x11 * 4), (.ultralightEV1Large, 0x25 * 4 + 3, 0x26 * 4),
    (.ntag213, 0x29 * 4 + 3, 0x2A * 4), (.ntag215, 0x83 * 4 + 3, 0x84 * 4), (.ntag216, 0xE3 * 4 + 3, 0xE4 * 4),
    (.ultralightC, 0x2A * 4, 0x2B * 4),
  ]

  private static func image(_ reader: OpenReader, _ model: SimulatedType2Model, _ message: [UInt8]) throws
    -> [UInt8]
  {
    let id = reader.place(try .type2(model, message: message, uid: .fixed([4, 1, 2, 3, 4, 5, 6])))
    defer { _ = reader.remove(id) }
    return reader.memory(of: id) ?? []
  }

  @Test(arguments: places.indices, [4, 9])
  func `a message that a password protects is not erased`(place: Int, first: UInt8) throws {
    let (model, auth0, access) = Self.places[place]
    let message = ndefMessage(ofSize: 30)
    let reader = try OpenReader()
    var image = try Self.image(reader, model, message)
    image[auth0] = first
    // Only writing is protected.
    image[access] = model == .ultralightC ? 0x01 : 0x00
    let id = reader.place(try .type2(model, memory: image))
    var channel = try reader.select(.typeA)
    let tag = channel.tag
    expect(try tag.readNDEF(over: &channel), holds: message)
    let status = try tag.queryNDEF(over: &channel)
    if first == 4 {
      #expect(status.access == .readOnly)
      #expect(status.problem?.code == .protected)
    } else {
      // The pages from 9 on are protected. The 20 bytes before them include type and length.
      #expect(status.access == .readWrite)
      #expect(status.capacity == 18)
    }
    let error = #expect(throws: TagWriteError.self) {
      try tag.writeNDEF(ndefMessage(ofSize: 31, filledWith: 0x42), over: &channel)
    }
    if first == 4, case .refused(let problem) = error { #expect(problem.code == .protected) }
    #expect(first == 4 || error == .tooLong(capacity: 18))
    // The tag can be locked if all of its lock bits are unprotected. An NTAG210 has no lock bits for pages from 16 on.
    if model != .ntag210 { #expect(throws: TagWriteError.self) { try tag.lockNDEF(over: &channel) } }
    let now = reader.memory(of: id)
    #expect(now == image)
    expect(try tag.readNDEF(over: &channel), holds: message)
    if first == 9 {
      try tag.writeNDEF(ndefMessage(ofSize: 18, filledWith: 0x42), isVerifying: true, over: &channel)
    }
  }

  @Test(arguments: places.indices) func `a tag with unreadable pages is not written`(place: Int) throws {
    let (model, auth0, access) = Self.places[place]
    let reader = try OpenReader()
    var image = try Self.image(reader, model, ndefMessage(ofSize: 6))
    image[auth0] = 8
    image[access] = model == .ultralightC ? 0x00 : 0x80
    let id = reader.place(try .type2(model, memory: image))
    var channel = try reader.select(.typeA)
    let tag = channel.tag
    expect(try tag.readNDEF(over: &channel), holds: ndefMessage(ofSize: 6))
    #expect(throws: TagWriteError.self) { try tag.writeNDEF(ndefMessage(ofSize: 40), over: &channel) }
    let now = reader.memory(of: id)
    #expect(now == image)
  }

  /// READ continues with page 0 in front of the first page that needs the password, as behind the last page of a
  /// smaller model. Pages 29h to 2Ch of an NTAG213 are behind its lock bytes.
  @Test(arguments: [0x08, 0x10, 0x14, 0x28, 0x29, 0x2A, 0x2B, 0x2C] as [UInt8])
  func `a tag with unreadable pages is not taken for a smaller one`(first: UInt8) throws {
    var image = try Self.image(try OpenReader(), .ntag213, ndefMessage(ofSize: 6))
    image[0x29 * 4 + 3] = first
    image[0x2A * 4] = 0x80
    var channel = try SlotConnection.channel(to: try .type2(.ntag213, memory: image), on: .omnikey5022)
    let tag = channel.tag
    #expect(throws: TagWriteError.self) { try tag.lockNDEF(over: &channel) }
    let now = channel.link.connection.memory
    #expect(image.indices.allSatisfy { image[$0] == now[$0] || [10, 11, 15].contains($0) })
  }

  @Test func `a tag whose last page cannot be read may need its password`() throws {
    var image = try Self.image(try OpenReader(), .ntag216, ndefMessage(ofSize: 6))
    image[0xE3 * 4 + 3] = 0x20
    image[0xE4 * 4] = 0x80
    var channel = try SlotConnection.channel(to: try .type2(.ntag216, memory: image), on: .omnikey5022)
    let tag = channel.tag
    #expect(try tag.queryNDEF(over: &channel).problem?.description.contains("needs its password") == true)
  }
}
