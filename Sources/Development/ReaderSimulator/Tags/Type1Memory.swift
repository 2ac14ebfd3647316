/// The memory of a Type 1 tag: blocks of eight bytes, and their write protection (Type 1 Tag Operation Specification
/// 1.1, section 2).
struct Type1Memory: Sendable {
  private static let lockBlock = 0x0E
  private static let dynamicLockBlock = 0x0F
  /// The address of the dynamic lock bits, which the lock control TLV of a Topaz 512 names.
  private static let dynamicLocks = 122

  let model: Type1Model
  private(set) var bytes: [UInt8]
  /// How far further writes get before the tag loses its power; nil if they complete.
  var writeTear: WriteTear?

  /// A formatted tag with `message` in an NDEF TLV. Fails if it does not fit, or the UID does not have seven bytes.
  init(model: Type1Model, uid: [UInt8], message: [UInt8]) throws(SimulatorError) {
    guard message.count <= model.capacity else {
      throw SimulatorError("\(message.count) bytes are more than the \(model.capacity) that go on a \(model.name)")
    }
    try self.init(model: model, uid: uid, contents: model.controlBlocks + SimulatedTag.tlv(message) + [0xFE])
  }

  /// A tag with arbitrary `contents` in place of the TLVs. A single byte too many is dropped. Fails if more do not fit,
  /// or the UID does not have seven bytes.
  init(model: Type1Model, uid: [UInt8], contents: [UInt8]) throws(SimulatorError) {
    guard contents.count <= model.dataAddresses.count + 1 else {
      throw SimulatorError(
        "\(contents.count) bytes do not fit into the \(model.dataAddresses.count) of a \(model.name)")
    }
    var image = [UInt8](repeating: 0, count: model.blockCount * 8)
    image.replaceSubrange(0..<min(7, uid.count), with: uid.prefix(7))
    image.replaceSubrange(8..<12, with: model.container)
    for (address, byte) in zip(model.dataAddresses, contents) { image[address] = byte }
    // The factory locks blocks 0, D and E. The remaining bits of E can be set once.
    image.replaceSubrange(112..<114, with: [0x01, 0x60])
    try self.init(model: model, uid: uid, image: image)
  }

  /// A tag from a dump, from block 0 on. Bytes missing at the end are zero. Fails if it has more bytes than the model,
  /// or the UID does not have seven bytes.
  init(model: Type1Model, uid: [UInt8], image: [UInt8]) throws(SimulatorError) {
    guard uid.count == 7 else { throw SimulatorError("a Type 1 tag's UID has 7 bytes, not \(uid.count)") }
    let size = model.blockCount * 8
    guard image.count <= size else {
      throw SimulatorError("\(image.count) bytes are more than the \(size) of a \(model.name)")
    }
    self.model = model
    bytes = image + [UInt8](repeating: 0, count: size - image.count)
  }

  /// A tag answers reads of any block, with zeros beyond its memory.
  func read(at address: Int, count: Int) -> [UInt8] {
    (address..<address + count).map { bytes.indices.contains($0) ? bytes[$0] : 0 }
  }

  /// Writes bytes of one block. Without erasing, bits can only become one. Returns the bytes after the write; nil if
  /// the tag refuses it.
  mutating func write(_ data: [UInt8], at address: Int, erasing: Bool) -> [UInt8]? {
    let range = address..<address + data.count
    guard range.lowerBound >= 0, range.upperBound <= bytes.count, !isLocked(block: address / 8) else { return nil }
    guard !erasing || !isOneTimeProgrammable(block: address / 8) else { return nil }
    let old = Array(bytes[range])
    let new = erasing ? data : zip(old, data).map { $0 | $1 }
    bytes.replaceSubrange(range, with: writeTear.contents(new, over: old, erasing: erasing))
    return Array(bytes[range])
  }

  /// Whether the block holds lock bits or OTP bytes. Each of their bits can be set once.
  private func isOneTimeProgrammable(block: Int) -> Bool {
    block == Self.lockBlock || model.isDynamic && block == Self.dynamicLockBlock
  }

  /// Whether the factory or a lock bit has made the block read-only.
  func isLocked(block: Int) -> Bool {
    switch block {
    case 0x00, 0x0D: return true
    case 0x01...0x07: return bytes[112] & 1 << UInt8(block) != 0
    case 0x08...0x0C: return bytes[113] & 1 << UInt8(block - 8) != 0
    case 0x0E, 0x0F: return false
    default:
      let bit = block - 16
      let address = Self.dynamicLocks + bit / 8
      return address < 128 && bytes[address] & 1 << UInt8(bit % 8) != 0
    }
  }
}
