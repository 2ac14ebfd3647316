/// The commands of NFC Forum Type 1 (Type 1 Tag Operation Specification 1.1, section 5), as Topaz tags have them.
///
/// A tag answers the request of Type A but takes no part in the anticollision: RID returns its UID. The tag answers
/// neither commands that it cannot execute, nor commands for other tags, nor broken frames.
struct SimulatedType1: FieldTag {
  private var blocks: Type1Memory
  /// Whether the tag has received a request since it got power.
  private var isReady = false

  init(_ blocks: Type1Memory) { self.blocks = blocks }

  var memory: [UInt8] { blocks.bytes }
  mutating func tearWrites(_ tear: WriteTear?) { blocks.writeTear = tear }

  /// The four bytes of the UID that commands carry.
  private var uid: [UInt8] { Array(blocks.bytes[0..<4]) }

  mutating func losePower() { isReady = false }

  mutating func receive(_ frame: RadioFrame) -> RadioFrame? {
    if frame == .short(RadioInterface.reqa) || frame == .short(RadioInterface.wupa) {
      isReady = true
      return RadioFrame(bytes: [0x00, 0x0C])
    }
    guard isReady, frame.modulation == .jewel, let data = frame.checkedData else { return nil }
    return answer(data).map { .standard($0, .jewel) }
  }

  private mutating func answer(_ data: [UInt8]) -> [UInt8]? {
    if data == [0x78, 0, 0, 0, 0, 0, 0] { return blocks.model.headerROM + uid }
    guard data.count >= 7, Array(data.suffix(4)) == uid else { return nil }
    let (code, address, parameters) = (data[0], data[1], Array(data[2..<data.count - 4]))
    switch (code, parameters.count) {
    case (0x00, 1): return blocks.model.headerROM + blocks.read(at: 0, count: 120)
    case (0x01, 1) where address < limit: return [address] + blocks.read(at: Int(address), count: 1)
    case (0x53, 1) where address < limit: return write(parameters, address, at: Int(address), erasing: true)
    case (0x1A, 1) where address < limit: return write(parameters, address, at: Int(address), erasing: false)
    default: return blocks.model.isDynamic ? answerDynamic(code, address, parameters) : nil
    }
  }

  private mutating func answerDynamic(_ code: UInt8, _ address: UInt8, _ parameters: [UInt8]) -> [UInt8]? {
    guard parameters.count == 8 else { return nil }
    switch code {
    case 0x10 where address & 0x0F == 0: return [address] + blocks.read(at: Int(address >> 4) * 128, count: 128)
    case 0x02: return [address] + blocks.read(at: Int(address) * 8, count: 8)
    case 0x54: return write(parameters, address, at: Int(address) * 8, erasing: true)
    case 0x1B: return write(parameters, address, at: Int(address) * 8, erasing: false)
    default: return nil
    }
  }

  private mutating func write(_ data: [UInt8], _ operand: UInt8, at address: Int, erasing: Bool) -> [UInt8]? {
    blocks.write(data, at: address, erasing: erasing).map { [operand] + $0 }
  }

  /// The first address that the commands for single bytes cannot reach.
  private var limit: UInt8 { blocks.model.isDynamic ? 128 : 120 }
}

extension SimulatedTag {
  /// A Type 1 tag that holds an encoded NDEF message; empty for a formatted tag without one. Fails if the message does
  /// not fit, or the UID does not have seven fixed bytes.
  package static func type1(
    _ model: Type1Model, message: [UInt8], uid: TagUID = .generatedTopaz()
  ) throws(SimulatorError) -> SimulatedTag {
    SimulatedTag(tag: SimulatedType1(try Type1Memory(model: model, uid: uid.fixedBytes ?? [], message: message)))
  }

  /// The smallest Topaz tag that holds the message.
  static func topaz(message: [UInt8], uid: TagUID) throws(SimulatorError) -> SimulatedTag {
    try type1(message.count <= Type1Model.topaz96.capacity ? .topaz96 : .topaz512, message: message, uid: uid)
  }

  /// A Type 1 tag with arbitrary contents, after the capability container, in place of the TLVs. Fails if they do not
  /// fit, or the UID does not have seven fixed bytes.
  package static func type1(
    _ model: Type1Model, contents: [UInt8], uid: TagUID = .generatedTopaz()
  ) throws(SimulatorError) -> SimulatedTag {
    SimulatedTag(tag: SimulatedType1(try Type1Memory(model: model, uid: uid.fixedBytes ?? [], contents: contents)))
  }

  /// A Type 1 tag from a dump, from block 0 on; its first seven bytes are the UID. Without a model, it is the smallest
  /// that holds the dump. Fails if the dump is too short to hold a UID, or too long.
  package static func type1(_ model: Type1Model? = nil, memory: [UInt8]) throws(SimulatorError) -> SimulatedTag {
    guard memory.count >= 7 else {
      throw SimulatorError("a dump of \(memory.count) bytes does not hold the UID, which takes the first 7")
    }
    guard let model = model ?? Type1Model.all.first(where: { memory.count <= $0.blockCount * 8 }) else {
      throw SimulatorError("no model has the \(memory.count) bytes of this dump")
    }
    return SimulatedTag(tag: SimulatedType1(try Type1Memory(model: model, uid: Array(memory[..<7]), image: memory)))
  }
}

/// An NFC Forum Type 1 chip, with the memory layout from its data sheet.
package struct Type1Model: Sendable, Hashable {
  /// The name on the control line: `topaz96`, `topaz512`.
  package let name: String
  /// HR0 and HR1. The low digit of HR0 is 1 if the memory is static.
  package let headerROM: [UInt8]
  /// The number of blocks of eight bytes, including those without data.
  package let blockCount: Int
  /// The control TLVs after the capability container, in the factory state.
  let controlBlocks: [UInt8]

  /// Topaz, BCM20203T96: 120 bytes, 92 of them for TLVs.
  package static let topaz96 = Type1Model(name: "topaz96", headerROM: [0x11, 0x48], blockCount: 15, controlBlocks: [])
  /// Topaz 512, BCM20203T512: 512 bytes, 476 of them for TLVs. 48 lock bits begin at byte 122. The two bytes before
  /// them are reserved.
  package static let topaz512 = Type1Model(
    name: "topaz512", headerROM: [0x12, 0x4C], blockCount: 64,
    controlBlocks: [0x01, 0x03, 0xF2, 0x30, 0x33, 0x02, 0x03, 0xF0, 0x02, 0x03])

  package static let all: [Type1Model] = [.topaz96, .topaz512]

  /// Whether the chip knows the commands for segments and blocks.
  var isDynamic: Bool { headerROM[0] & 0x0F != 0x01 }

  /// The capability container: NMN, VNo, TMS and RWA (Type 1 Tag Operation Specification 1.1, section 6.1.4).
  var container: [UInt8] { [0xE1, 0x10, UInt8(truncatingIfNeeded: blockCount - 1), 0x00] }

  /// The addresses of data, without the container and blocks D, E and F.
  var dataAddresses: [Int] { Array(12..<104) + (isDynamic ? Array(128..<blockCount * 8) : []) }

  /// The length of the longest message, in bytes.
  package var capacity: Int {
    let room = dataAddresses.count - controlBlocks.count
    return max(min(room - 2, 0xFE), room - 4)
  }
}

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
