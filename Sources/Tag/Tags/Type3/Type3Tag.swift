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

  /// Finds the NDEF system and reads its attribute information block. Returns the identifier that commands to this
  /// system contain, and the block.
  func open(_ channel: inout some TagChannel) throws(TagWriteError) -> (idm: [UInt8], attributes: Type3Attributes) {
    let idm = try ndefIdentifier(&channel)
    return (idm, try attributes(idm, &channel))
  }

  /// Reads only the attribute information block.
  func attributes(_ idm: [UInt8], _ channel: inout some TagChannel) throws(TagWriteError) -> Type3Attributes {
    guard let block = try channel.check(0..<1, idm) else {
      throw .refused(.notNDEF, "the card does not let everybody read its NDEF system")
    }
    return try Type3Attributes(block)
  }

  /// The identifier of the NDEF system. This takes a poll, unless the NDEF system answered the first poll.
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
  /// The block as read from the tag.
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

  /// The number of blocks for the message, behind this one: Nmaxb.
  var blockCount: Int { bytes[3...4].bigEndian }

  /// The length of the longest message, in bytes.
  var capacity: Int { blockCount * 16 }

  /// The length of the message, in bytes: Ln.
  var length: Int { bytes[11...13].bigEndian }

  /// Whether RWFlag and Nbw permit writing.
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
