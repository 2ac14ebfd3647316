import ReaderSimulator
import Tags
import Testing

@testable import LibNFCReader

/// Topaz tags on the simulated chip.
@Suite struct Type1AccessTests {
  /// The number of READ8 commands after RALL. The message begins at byte 24 or 26, and RALL returns the memory before
  /// byte 104.
  private func blocks(_ model: Type1Model, _ size: Int) -> Int {
    model == .topaz96 ? 0 : (max(0, size - (size < 0xFF ? 80 : 78)) + 7) / 8
  }

  @Test(arguments: [
    (Type1Model.topaz96, [0, 1, 3, 40, 90]),
    (.topaz512, [0, 3, 80, 81, 88, 89, 254, 255, 300, 462]),
  ])
  func `no block behind the end of the message is read`(model: Type1Model, sizes: [Int]) throws {
    let reader = try OpenReader()
    for size in sizes {
      let message = ndefMessage(ofSize: size)
      let id = reader.place(try .type1(model, message: message))
      var channel = try reader.select(.jewel)
      _ = reader.takeCounters()
      expect(try channel.tag.readNDEF(over: &channel), holds: message)
      let counters = reader.takeCounters()
      #expect(counters.exchanges == 1 + blocks(model, size), "\(size) bytes")
      #expect(counters.commands == 1 + 3 * blocks(model, size), "\(size) bytes")
      _ = reader.remove(id)
    }
  }

  /// The exchanges are RALL, the length, each changed byte, and the length. If it takes fewer chip commands, blocks of
  /// eight bytes are written instead.
  @Test(arguments: [(Type1Model.topaz96, 6, 10), (.topaz96, 90, 93), (.topaz512, 6, 4), (.topaz512, 462, 62)])
  func `only changed bytes are written`(model: Type1Model, size: Int, exchanges: Int) throws {
    let reader = try OpenReader()
    _ = reader.place(try .type1(model, message: [0xD0, 0x00, 0x00]))
    var channel = try reader.select(.jewel)
    _ = reader.takeCounters()
    try channel.tag.writeNDEF(ndefMessage(ofSize: size), over: &channel)
    #expect(reader.takeCounters().exchanges == exchanges)
    for _ in 1...2 {
      _ = reader.takeCounters()
      try channel.tag.writeNDEF(ndefMessage(ofSize: 5), over: &channel)
    }
    // The tag held these bytes already.
    #expect(reader.takeCounters().exchanges == 1)
  }

  @Test func `a message behind the static memory is read and written`() throws {
    let reader = try OpenReader()
    let message = ndefMessage(ofSize: 30)
    let id = reader.place(try TagSample.type1Dynamic.make(message))
    var channel = try reader.select(.jewel)
    expect(try channel.tag.readNDEF(over: &channel), holds: message)
    let kept = reader.memory(of: id)?[..<168]
    for size in [0, 9, 255] {
      let message = ndefMessage(ofSize: size)
      try channel.tag.writeNDEF(message, isVerifying: size == 9, over: &channel)
      expect(try channel.tag.readNDEF(over: &channel), holds: message)
      #expect(reader.memory(of: id)?[..<168] == kept)
    }
  }

  @Test(arguments: Type1Model.all) func `a locked tag rejects writes itself`(model: Type1Model) throws {
    let reader = try OpenReader()
    let id = reader.place(try .type1(model, message: ndefMessage(ofSize: 90)))
    var channel = try reader.select(.jewel)
    try channel.tag.lockNDEF(over: &channel)
    let bytes = reader.memory(of: id)
    let memory = try #require(bytes)
    #expect(memory[112...113] == [0xFF, 0x7F])
    #expect(model == .topaz96 || memory[120..<128] == [0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF])
    for byte in 8..<104 as Range<UInt8> {
      #expect(throws: TagChannelError.self) { _ = try channel.exchange([0x53, byte, 0] + channel.tag.identifier) }
    }
  }

  @Test func `lock bits prevent writing even if the capability container allows it`() throws {
    let reader = try OpenReader()
    let id = reader.place(try .type1(.topaz512, message: ndefMessage(ofSize: 90)))
    let bytes = reader.memory(of: id)
    let memory = try #require(bytes)
    for (address, capacity) in [(112, nil), (113, 48), (122, 80)] as [(Int, Int?)] {
      _ = reader.remove(id)
      var image = memory
      image[address] |= address == 112 ? 0x04 : 0x02
      let locked = reader.place(try .type1(memory: image))
      var channel = try reader.select(.jewel)
      let status = try channel.tag.queryNDEF(over: &channel)
      #expect(status.access == (capacity == nil ? .readOnly : .readWrite), "\(address)")
      if let capacity {
        #expect(status.capacity == capacity)
        #expect(throws: TagWriteError.tooLong(capacity: capacity)) {
          try channel.tag.writeNDEF(ndefMessage(ofSize: capacity + 1), over: &channel)
        }
        #expect(reader.memory(of: locked) == image)
        try channel.tag.writeNDEF(ndefMessage(ofSize: capacity), isVerifying: true, over: &channel)
      } else {
        #expect(throws: TagWriteError.readOnly) { try channel.tag.writeNDEF([], over: &channel) }
        #expect(reader.memory(of: locked) == image)
      }
      _ = reader.remove(locked)
    }
  }

  @Test func `a tag answers RID until it is removed`() throws {
    let reader = try OpenReader()
    let id = reader.place(try .type1(.topaz96, message: []))
    var channel = try reader.select(.jewel)
    let rid: [UInt8] = [0x78, 0, 0, 0, 0, 0, 0]
    #expect(try channel.exchange(rid) == [0x11, 0x48] + channel.tag.identifier)
    try channel.reselect()
    #expect(try channel.exchange(rid) == [0x11, 0x48] + channel.tag.identifier)
    // RSEG: its answer is too long for a PN53x.
    #expect(throws: TagChannelError.self) {
      try channel.exchange([0x10] + [UInt8](repeating: 0, count: 9) + channel.tag.identifier)
    }
    _ = reader.remove(id)
    #expect(throws: TagChannelError(.noAnswer, "the tag does not answer")) { try channel.exchange(rid) }
    #expect(throws: TagChannelError(.noAnswer, "the tag was removed")) { try channel.reselect() }
  }
}

/// Type 1 tags with a capability container or control TLVs that contradict the chip.
@Suite struct Type1BoundsTests {
  private static let claims: [UInt8] = [0x00, 0x01, 0x0B, 0x0D, 0x0E, 0x0F, 0x10, 0x3F, 0x40, 0x80, 0xFF]

  /// A tag with an empty message behind the control TLV, and a pattern in the rest of the user's memory.
  private static func image(_ model: Type1Model, _ claim: UInt8, _ control: [UInt8]) throws -> [UInt8] {
    let size = model == .topaz96 ? 90 : 460
    let contents = control + [0x03, 3, 0xD0, 0, 0, 0xFE]
    var image = try SimulatedTag.type1(
      model, contents: contents + [UInt8](repeating: 0x5A, count: size - contents.count)
    ).memory
    image[10] = claim
    return image
  }

  /// Control TLVs of both kinds, for bytes all over the memory.
  private static let controls: [[UInt8]] =
    [[]]
    + stride(from: 0, through: 0xFF, by: 17).flatMap { place in
      [(0x30, 0x33), (0x00, 0x33), (0x08, 0x34)].flatMap { (count: UInt8, page: UInt8) in
        [0x01, 0x02].map { [$0, 3, UInt8(place), count, page] }
      }
    }

  /// The addresses of the bytes that an operation has changed.
  private func changes(
    _ model: Type1Model, _ image: [UInt8], _ operation: (inout TargetChannel) throws -> Void
  ) throws -> (addresses: [Int], memory: [UInt8], isDone: Bool) {
    let reader = try OpenReader()
    let id = reader.place(try .type1(model, memory: image))
    var channel = try reader.select(.jewel)
    let isDone = (try? operation(&channel)) != nil
    let memory = reader.memory(of: id) ?? []
    return (zip(image, memory).enumerated().filter { $0.element.0 != $0.element.1 }.map(\.offset), memory, isDone)
  }

  @Test(arguments: Type1Model.all)
  func `no claim lets a write leave the user's memory`(model: Type1Model) throws {
    let user = Set(Array(12..<104) + (model == .topaz96 ? [] : Array(128..<512)))
    for claim in Self.claims {
      for control in claim == 0x3F ? Self.controls : [[]] {
        let image = try Self.image(model, claim, control)
        let result = try changes(model, image) { channel in
          let message = ndefMessage(ofSize: max(3, try channel.tag.queryNDEF(over: &channel).capacity))
          try channel.tag.writeNDEF(message, isVerifying: true, over: &channel)
        }
        #expect(user.isSuperset(of: result.addresses), "\(claim), \(control): \(result.addresses)")
        #expect(result.isDone || result.addresses.isEmpty, "\(claim), \(control)")
      }
    }
  }

  @Test(arguments: Type1Model.all)
  func `no claim makes a lock incomplete or change a message`(model: Type1Model) throws {
    let locks = Set([11, 112, 113] + (model == .topaz96 ? [] : Array(122..<128)))
    for (claim, control) in Self.claims.map({ ($0, []) }) + Self.controls.map({ (0x3F, $0) }) {
      let image = try Self.image(model, claim, control)
      let result = try changes(model, image) { try $0.tag.lockNDEF(over: &$0) }
      #expect(locks.isSuperset(of: result.addresses), "\(claim), \(control): \(result.addresses)")
      #expect(!result.isDone || locks.allSatisfy { result.memory[$0] != 0 }, "\(claim), \(control)")
      guard result.isDone else { continue }
      #expect(result.memory[112] == 0xFF && result.memory[113] & 0x1F == 0x1F)
      #expect(model == .topaz96 || result.memory[122..<128].allSatisfy { $0 == 0xFF })
    }
  }
}
