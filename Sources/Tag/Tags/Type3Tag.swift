import NDEF

/// NFC Forum Type 3 Tag Operation Specification 1.1.
///
/// A tag has blocks of 16 bytes, and two services: one reads, the other also writes. Block 0 is the attribute
/// information block. The message begins in block 1. Reading takes one command for block 0, and more for as many
/// message blocks at once as block 0 allows. A card with several systems is polled for the NDEF system first.
struct Type3Tag: NDEFTag {
  private static let ndefSystem: [UInt8] = [0x12, 0xFC]

  let activation: FeliCaActivation

  init(_ activation: FeliCaActivation) { self.activation = activation }

  func status(over channel: inout some TagChannel) throws(TagWriteError) -> NDEFStatus {
    let tag = try openWithConfiguration(&channel)
    return NDEFStatus(capacity: tag.attributes.capacity, isWritable: tag.isWritable)
  }

  func message(over channel: inout some TagChannel) throws(TagWriteError) -> [UInt8] {
    let (idm, attributes) = try open(&channel)
    try attributes.checkIsWhole()
    let end = 1 + (attributes.length + 15) / 16
    var bytes: [UInt8] = []
    var block = 1
    while block < end {
      let next = min(block + attributes.mostRead, end)
      guard let blocks = try channel.check(block..<next, idm) else {
        throw .damaged("the blocks of the NDEF message cannot be read", attributes.bytes + bytes)
      }
      bytes += blocks
      block = next
    }
    return Array(bytes.prefix(attributes.length))
  }

  /// Returns the identifier that commands to the NDEF system contain, and its attribute information block.
  func open(_ channel: inout some TagChannel) throws(TagWriteError) -> (idm: [UInt8], attributes: Type3Attributes) {
    let idm = try ndefIdentifier(&channel)
    return (idm, try attributes(idm, &channel))
  }

  func attributes(_ idm: [UInt8], _ channel: inout some TagChannel) throws(TagWriteError) -> Type3Attributes {
    guard let block = try channel.check(0..<1, idm) else {
      throw .refused(.notNDEF, "the card does not let everybody read its NDEF system")
    }
    return try Type3Attributes(block)
  }

  /// Takes a poll, unless the NDEF system answered the first poll.
  func ndefIdentifier(_ channel: inout some TagChannel) throws(TagWriteError) -> [UInt8] {
    if activation.systemCode == Self.ndefSystem { return activation.idm }
    let silence: TagChannelError
    do throws(TagChannelError) {
      let idm = try poll(Self.ndefSystem, &channel)
      // The identifiers of one card's systems differ only in the first half-byte, which is the system's number.
      guard idm[0] & 0x0F == activation.idm[0] & 0x0F, idm.dropFirst() == activation.idm.dropFirst() else {
        throw TagChannelError(.transmission, "another FeliCa card has answered")
      }
      return idm
    } catch {
      guard error.code == .noAnswer else { throw .channel(error) }
      silence = error
    }
    // A card without an NDEF system is silent, but so is a card that was removed. A poll for any system tells them
    // apart.
    do throws(TagChannelError) {
      _ = try poll([0xFF, 0xFF], &channel)
    } catch {
      throw .channel(error.code == .noAnswer ? silence : error)
    }
    throw .silence(.notNDEF, "the FeliCa card has no NDEF system; it is one for trains, shops or doors")
  }

  /// Returns the identifier of the system that answers.
  private func poll(_ system: [UInt8], _ channel: inout some TagChannel) throws(TagChannelError) -> [UInt8] {
    let answer = try channel.exchange([0x00] + system + [0x01, 0x00])
    guard answer.count >= 17, answer[0] == 0x01 else {
      throw TagChannelError(.transmission, "the answer to a poll is not of the form that it has")
    }
    return Array(answer[1...8])
  }
}

/// The attribute information block (section 6.1).
struct Type3Attributes {
  let bytes: [UInt8]

  /// Fails with a problem if the 16 bytes are not a valid block.
  init(_ bytes: [UInt8]) throws(TagWriteError) {
    self.bytes = bytes
    guard bytes.contains(where: { $0 != 0 }) else {
      throw .refused(.notNDEF, "the attribute information block is blank")
    }
    guard bytes.prefix(14).reduce(0, { $0 + Int($1) }) == bytes[14...15].bigEndian else {
      throw .damaged("the checksum of the attribute information block is wrong", bytes)
    }
    guard bytes[0] >> 4 == 1 else {
      throw .refused(.unsupported, "it is formatted for mapping version \(bytes[0] >> 4) of Type 3")
    }
    guard bytes[1] > 0 else { throw .damaged("the attribute information block lets no block be read", bytes) }
  }

  /// Blocks per Check: Nbr, but at most 14. Every reader supports the answer for 14 blocks with its 12 other bytes.
  var mostRead: Int { min(Int(bytes[1]), (ExchangeLimit.answer - 12) / 16) }

  /// Blocks per Update: Nbw, but at most 12. Every reader supports the command for 12 blocks with 3-byte block list
  /// elements and 13 other bytes.
  var mostWritten: Int { min(Int(bytes[2]), (ExchangeLimit.command - 13) / (16 + 3)) }

  /// For the message: Nmaxb.
  var blockCount: Int { bytes[3...4].bigEndian }

  /// In bytes.
  var capacity: Int { blockCount * 16 }

  /// Of the message, in bytes: Ln.
  var length: Int { bytes[11...13].bigEndian }

  /// RWFlag and Nbw permit it.
  var isWritable: Bool { bytes[10] == 0x01 && mostWritten > 0 }

  /// Fails with a problem if WriteF is set, or if the length exceeds the capacity.
  func checkIsWhole() throws(TagWriteError) {
    guard bytes[9] == 0x00 else {
      throw .damaged("the tag was removed while it was written", bytes)
    }
    guard length <= capacity else {
      throw .damaged("the NDEF message is longer than the memory that the tag has for it", bytes)
    }
  }

  /// The block with new contents and a new checksum. `length` is Ln, `isBeingWritten` WriteF, and `isReadOnly` RWFlag.
  func changed(length: Int, isBeingWritten: Bool = false, isReadOnly: Bool = false) -> [UInt8] {
    var fields = Array(bytes.prefix(14))
    fields[9] = isBeingWritten ? 0x0F : 0x00
    if isReadOnly { fields[10] = 0x00 }
    fields.replaceSubrange(11...13, with: length.bytes(3))
    return fields + fields.reduce(0) { $0 + Int($1) }.bytes(2)
  }
}

/// Writing (section 6.4.3). First the attribute information block is marked as being written. Then the message is
/// written, and last the block with the new length.
extension Type3Tag {
  /// What a write needs to know about the tag.
  struct Opened {
    let idm: [UInt8]
    let attributes: Type3Attributes
    /// Nil if the card is not a FeliCa Lite.
    let configuration: FeliCaLiteConfiguration?

    /// The attribute information block and the message blocks behind it.
    var blocks: ClosedRange<Int> { 0...attributes.blockCount }

    var isWritable: Bool { attributes.isWritable && configuration?.letsWrite(blocks) ?? true }
  }

  /// On a FeliCa Lite, the same command also reads the memory configuration.
  func openWithConfiguration(_ channel: inout some TagChannel) throws(TagWriteError) -> Opened {
    guard FeliCaLiteConfiguration.belongs(to: activation) else {
      let (idm, attributes) = try open(&channel)
      return Opened(idm: idm, attributes: attributes, configuration: nil)
    }
    let idm = try ndefIdentifier(&channel)
    if let blocks = try channel.check([0, FeliCaLiteConfiguration.block], idm) {
      return Opened(
        idm: idm, attributes: try Type3Attributes(Array(blocks[..<16])),
        configuration: FeliCaLiteConfiguration(Array(blocks[16...])))
    }
    // The card has the IC code of a Lite, but does not seem to be one.
    return Opened(idm: idm, attributes: try attributes(idm, &channel), configuration: nil)
  }

  func write(_ message: [UInt8], over channel: inout some TagChannel) throws(TagWriteError) {
    let tag = try openWithConfiguration(&channel)
    let attributes = tag.attributes
    guard tag.isWritable else { throw .readOnly }
    guard message.count <= attributes.capacity else { throw .tooLong(capacity: attributes.capacity) }
    // The length is also zero meanwhile, for readers that ignore WriteF.
    try channel.update(from: 0, attributes.changed(length: 0, isBeingWritten: true), tag.idm)
    let padded = message + [UInt8](repeating: 0, count: (16 - message.count % 16) % 16)
    let most = attributes.mostWritten * 16
    for offset in stride(from: 0, to: padded.count, by: most) {
      try channel.update(from: 1 + offset / 16, Array(padded[offset..<min(offset + most, padded.count)]), tag.idm)
    }
    try channel.update(from: 0, attributes.changed(length: message.count), tag.idm)
  }

  /// Sets RWFlag in the attribute information block to "read-only". The specification defines only this (section
  /// 6.4.4). Readers that follow it never write such a tag, but the card itself still accepts writes.
  ///
  /// A FeliCa Lite or Lite-S can also enforce it: its memory configuration then makes the blocks of the message
  /// permanently read-only. Only the issuer can do that on a FeliCa Standard, because the issuer defined its services.
  func lock(over channel: inout some TagChannel) throws(TagWriteError) {
    let tag = try openWithConfiguration(&channel)
    // If the tag was removed between the two writes, the second is still missing.
    let configuration = tag.configuration?.locking(tag.blocks)
    guard tag.isWritable || (configuration != nil && !tag.attributes.isWritable) else { throw .readOnly }
    // A half-written message would become permanent.
    try tag.attributes.checkIsWhole()
    if tag.attributes.isWritable {
      let locked = tag.attributes.changed(length: tag.attributes.length, isReadOnly: true)
      try channel.update(from: 0, locked, tag.idm)
    }
    if let configuration { try channel.update(from: FeliCaLiteConfiguration.block, configuration, tag.idm) }
  }
}

/// The commands of JIS X 6319-4 that a Type 3 tag supports, for the NDEF services.
extension TagChannel {
  /// Check, READ WITHOUT ENCRYPTION. Takes the numbers of 1 to 15 blocks. Returns 16 bytes per block; nil if the tag
  /// refuses.
  mutating func check(_ blocks: some Collection<Int>, _ idm: [UInt8]) throws(TagWriteError) -> [UInt8]? {
    let answer = try send(0x06, idm, service: [0x0B, 0x00], blocks)
    guard answer.count > 2, answer[0] == 0x00, answer[1] == 0x00 else { return nil }
    let data = answer.dropFirst(3)
    guard answer[2] == blocks.count, data.count == blocks.count * 16 else { return nil }
    return Array(data)
  }

  /// Update, WRITE WITHOUT ENCRYPTION. A card writes all blocks or none. Takes 16 bytes per block, for 1 to 12 blocks.
  /// Fails with a problem if the tag refuses.
  mutating func update(from first: Int, _ data: [UInt8], _ idm: [UInt8]) throws(TagWriteError) {
    let answer = try send(0x08, idm, service: [0x09, 0x00], first..<first + data.count / 16, data)
    // 71h means that the write succeeded, but the memory has exceeded its specified number of writes.
    guard answer.count >= 2, answer[0] == 0x00 && answer[1] == 0x00 || answer[1] == 0x71 else {
      throw .refused(.unsupported, "the tag refuses to be written")
    }
  }

  /// Returns the answer without the response code and the identifier.
  private mutating func send(
    _ command: UInt8, _ idm: [UInt8], service: [UInt8], _ blocks: some Collection<Int>, _ data: [UInt8] = []
  ) throws(TagWriteError) -> [UInt8] {
    let list = blocks.flatMap { block -> [UInt8] in
      // Block numbers from 256 on take three bytes, with the low byte of the number first.
      block < 0x100 ? [0x80, UInt8(truncatingIfNeeded: block)] : [0x00] + block.bytes(2).reversed()
    }
    let count = UInt8(truncatingIfNeeded: blocks.count)
    let answer = try ask([command] + idm + [0x01] + service + [count] + list + data)
    guard answer.count >= 9, answer[0] == command + 1, Array(answer[1...8]) == idm else {
      throw .channel(TagChannelError(.transmission, "the answer is of another command or another tag"))
    }
    return Array(answer[9...])
  }
}

/// The memory configuration block of a FeliCa Lite or Lite-S (FeliCa Lite-S User's Manual, "MC block"): which blocks
/// may be written, and with which protection. The Type 3 specification does not define it, but it makes a tag read-only
/// for good.
struct FeliCaLiteConfiguration {
  static let block = 0x88
  /// Bits of MC_SP_REG_ALL_RW: 14 bits for the blocks, then one for REG, then this one for these bits themselves.
  private static let ownBit = 15
  private static let blockCount = 14

  /// 16 bytes.
  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// By its IC code, the second byte of PMm: RC-S965, RC-S966 and RC-S967.
  static func belongs(to tag: FeliCaActivation) -> Bool { tag.pmm.count == 8 && (0xF0...0xF2).contains(tag.pmm[1]) }

  func letsWrite(_ blocks: ClosedRange<Int>) -> Bool {
    // A set bit in the second field requires a key, one in the third a MAC. If neither is set, anyone may write.
    let (writable, withKey, withMAC) = (bits(at: 0), bits(at: 8), bits(at: 10))
    return blocks.allSatisfy { $0 < Self.blockCount && (writable & ~withKey & ~withMAC) >> $0 & 1 == 1 }
  }

  /// Makes these blocks read-only, which is permanent. Nil if they are read-only already, or if the configuration
  /// cannot be changed any more.
  func locking(_ blocks: ClosedRange<Int>) -> [UInt8]? {
    let writable = bits(at: 0)
    let mask = blocks.filter { $0 < Self.blockCount }.reduce(0) { $0 | 1 << $1 }
    guard writable & mask != 0, writable >> Self.ownBit & 1 == 1 else { return nil }
    let locked = writable & ~mask
    return [UInt8(truncatingIfNeeded: locked), UInt8(truncatingIfNeeded: locked >> 8)] + bytes.dropFirst(2)
  }

  private func bits(at index: Int) -> Int { Int(bytes[index]) | Int(bytes[index + 1]) << 8 }
}
