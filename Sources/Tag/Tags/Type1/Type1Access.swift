/// The memory of a selected Type 1 tag (Type 1 Tag Operation Specification 1.1, section 5), in blocks of 8 bytes. RALL
/// reads the first 15 blocks. A tag with dynamic memory has more, which READ8 reads one by one.
///
/// RSEG would read 16 blocks at once, but no PN53x supports that. Its firmware only knows the first segment, and its
/// registers pass on only half of a segment.
struct Type1Access {
  static let blockSize = 8
  /// RALL and the commands for single bytes cover these blocks.
  static let staticBlocks = 15
  static let staticSize = staticBlocks * blockSize
  /// Blocks D, E and F: a serial number and the like, lock bits and OTP bytes, lock bits of dynamic memory.
  private static let reserved = 104..<128
  /// Block numbers are single bytes.
  private static let mostBlocks = 256
  private static let firstByte = 12

  private(set) var memory = TagMemory(size: mostBlocks * blockSize)
  /// The addresses of the data area.
  private(set) var area = firstByte..<firstByte
  /// Whether the tag supports the commands for blocks.
  private(set) var isDynamic = false
  /// Whether it is a Topaz 512, which the header ROM says.
  private var isTopaz512 = false
  private let uid: [UInt8]

  /// `uid` has the four bytes that commands contain.
  init(uid: [UInt8]) { self.uid = uid }

  /// The bytes of lock bits for blocks behind static memory; nil if the model is not known. A lock control TLV is not
  /// followed, because it may name bytes of a message.
  var dynamicLocks: Range<Int>? {
    guard isDynamic else { return 0..<0 }
    return isTopaz512 ? 122..<128 : nil
  }

  /// Read and write access: the last byte of the capability container.
  var access: UInt8 { memory[11] ?? 0xFF }

  /// Sends RALL, and checks that the tag is formatted for NDEF.
  mutating func open(_ channel: inout some TagChannel) throws(TagWriteError) {
    let answer = try exchange([0x00, 0x00, 0x00], &channel)
    guard answer.count >= 2 + Self.staticSize else {
      throw .refused(.damaged, "the tag answered RALL with less than \(2 + Self.staticSize) bytes")
    }
    guard answer[0] >> 4 == 1 else {
      throw .refused(.notNDEF, "the header ROM does not say that it is an NFC Forum tag")
    }
    isDynamic = answer[0] & 0x0F != 1
    isTopaz512 = answer[0] == 0x12
    memory.learn(answer[2..<2 + Self.staticSize], at: 0)
    let container = memory.known(at: 8..<12)
    guard container[0] == 0xE1 else {
      throw .refused(.notNDEF, "there is no capability container in block 1")
    }
    guard container[1] >> 4 == 1 else {
      throw .refused(.unsupported, "it is formatted for mapping version \(container[1] >> 4) of Type 1")
    }
    guard container[3] >> 4 == 0 else {
      throw .refused(.unsupported, "the tag does not let everybody read it")
    }
    // The container may claim more than the model has.
    let end = (Int(container[2]) + 1) * Self.blockSize
    let size = isTopaz512 ? 512 : isDynamic ? Self.mostBlocks * Self.blockSize : Self.staticSize
    area = Self.firstByte..<min(max(Self.firstByte, end), size)
  }

  static func addresses(of block: Int) -> Range<Int> { block * blockSize..<(block + 1) * blockSize }

  /// Finds the NDEF TLV.
  mutating func block(_ channel: inout some TagChannel) throws(TagWriteError) -> NDEFBlock {
    while true {
      switch TLVBlocks.find(in: memory, area: area, reserved: Self.reserved) {
      case .needs(let address): try require([address], &channel)
      case .found(let block): return block
      case .absent: throw .refused(TLVBlocks.absence)
      case .problem(let problem): throw .refused(problem)
      }
    }
  }

  /// Reads the bytes that are not known yet.
  mutating func require(_ addresses: some Sequence<Int>, _ channel: inout some TagChannel) throws(TagWriteError) {
    for address in addresses where memory[address] == nil { try read(block: address / Self.blockSize, &channel) }
  }

  /// Sends READ8.
  private mutating func read(block: Int, _ channel: inout some TagChannel) throws(TagWriteError) {
    guard isDynamic, let number = UInt8(exactly: block) else {
      throw .refused(.damaged, "the tag has no block \(block)")
    }
    let answer = try exchange([0x02, number] + [UInt8](repeating: 0, count: 8), &channel)
    guard answer.count == 1 + Self.blockSize, answer[0] == number else {
      throw .refused(.damaged, "the tag answered READ8 with what is not block \(block)")
    }
    memory.learn(answer[1...], at: block * Self.blockSize)
  }

  /// Sends WRITE-E or WRITE-NE for one byte of the first 15 blocks. Returns whether the tag confirms that it holds the
  /// byte.
  mutating func write(
    _ byte: UInt8, to address: Int, erasing: Bool, _ channel: inout some TagChannel
  ) throws(TagWriteError) -> Bool {
    guard (0..<Self.staticSize).contains(address) else { return false }
    let operand = UInt8(truncatingIfNeeded: address)
    let answer = try exchange([erasing ? 0x53 : 0x1A, operand, byte], &channel)
    return confirm([byte], answer, operand, address, erasing)
  }

  /// Sends WRITE-E8 or WRITE-NE8. Returns whether the tag confirms that it holds the bytes.
  mutating func write(
    _ bytes: [UInt8], toBlock block: Int, erasing: Bool, _ channel: inout some TagChannel
  ) throws(TagWriteError) -> Bool {
    guard isDynamic, bytes.count == Self.blockSize, let number = UInt8(exactly: block) else { return false }
    let answer = try exchange([erasing ? 0x54 : 0x1B, number] + bytes, &channel)
    return confirm(bytes, answer, number, block * Self.blockSize, erasing)
  }

  /// A tag answers a write with the address and its new contents.
  private mutating func confirm(
    _ bytes: [UInt8], _ answer: [UInt8], _ operand: UInt8, _ address: Int, _ erasing: Bool
  ) -> Bool {
    guard answer.count == 1 + bytes.count, answer[0] == operand else { return false }
    memory.learn(answer[1...], at: address)
    return zip(answer[1...], bytes).allSatisfy { erasing ? $0 == $1 : $0 & $1 == $1 }
  }

  private func exchange(_ command: [UInt8], _ channel: inout some TagChannel) throws(TagWriteError) -> [UInt8] {
    try channel.ask(command + uid)
  }
}
