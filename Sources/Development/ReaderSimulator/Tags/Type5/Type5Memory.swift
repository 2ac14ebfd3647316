/// The memory of a Type 5 tag: blocks, and a lock for each.
struct Type5Memory: Sendable {
  let model: SimulatedType5Model
  private(set) var bytes: [UInt8]
  private(set) var locked: Set<Int> = []
  /// How far further writes get before the tag loses its power; nil if they complete.
  var writeTear: WriteTear?

  /// A memory from a dump, from block 0 on; the rest is zero. Fails if the dump is longer than the memory.
  init(model: SimulatedType5Model, image: [UInt8]) throws(SimulatorError) {
    guard image.count <= model.byteCount else {
      throw SimulatorError("\(image.count) bytes do not fit into the \(model.byteCount) of an \(model.name)")
    }
    self.model = model
    bytes = image + [UInt8](repeating: 0, count: model.byteCount - image.count)
  }

  /// A formatted tag with `message` in an NDEF TLV, and a terminator if there is room for it. Fails if it does not fit.
  init(model: SimulatedType5Model, message: [UInt8], isReadOnly: Bool) throws(SimulatorError) {
    let container = Self.container(of: model, isReadOnly: isReadOnly)
    let contents = SimulatedTag.tlv(message)
    let isFull = container.count + contents.count == model.byteCount
    try self.init(model: model, image: container + contents + (isFull ? [] : [0xFE]))
  }

  /// A formatted tag with arbitrary contents after the capability container (NFC Forum Type 5 Tag specification 1.0,
  /// section 4.3). Fails if they do not fit.
  init(model: SimulatedType5Model, contents: [UInt8]) throws(SimulatorError) {
    try self.init(model: model, image: Self.container(of: model, isReadOnly: false) + contents)
  }

  /// The capability container: 8 bytes if the area for TLVs has more than 2,040 bytes, otherwise 4. `E2` stands for block
  /// numbers of two bytes.
  private static func container(of model: SimulatedType5Model, isReadOnly: Bool) -> [UInt8] {
    let kind: UInt8 = model.blockCount > 0x100 ? 0xE2 : 0xE1
    let access: UInt8 = isReadOnly ? 0x43 : 0x40
    let features: UInt8 = model.readsMultiple ? 0x01 : 0x00
    let short = (model.byteCount - 4) / 8
    guard short > 0xFF else { return [kind, access, UInt8(short), features] }
    let long = (model.byteCount - 8) / 8
    return [kind, access, 0x00, features, 0x00, 0x00] + BigEndian.bytes(UInt16(truncatingIfNeeded: long))
  }

  func hasBlock(_ block: Int) -> Bool { (0..<model.blockCount).contains(block) }

  func read(_ block: Int) -> [UInt8] { Array(bytes[range(of: block)]) }

  /// Returns false if the block is locked.
  mutating func write(_ data: [UInt8], to block: Int) -> Bool {
    guard !locked.contains(block) else { return false }
    bytes.replaceSubrange(range(of: block), with: writeTear.contents(data, over: read(block)))
    return true
  }

  /// Returns false if the block is locked already.
  mutating func lock(_ block: Int) -> Bool { locked.insert(block).inserted }

  private func range(of block: Int) -> Range<Int> { (block * model.blockSize)..<((block + 1) * model.blockSize) }
}
