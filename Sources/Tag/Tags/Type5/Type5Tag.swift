/// NFC Forum Type 5 Tag Technical Specification 1.0, over ISO/IEC 15693: ICODE, ST25, Tag-it.
///
/// Block 0 begins with the capability container. A sequence of TLV blocks follows. READ SINGLE BLOCK of block 0 shows
/// the size of all blocks. READ MULTIPLE BLOCKS returns the rest, if the container lists that command.
struct Type5Tag: NDEFTag {
  func message(over channel: inout some TagChannel) throws(TagWriteError) -> [UInt8] {
    var access = try Type5Access(&channel)
    let block = try access.block(&channel)
    try access.require(block.messageAddresses, &channel)
    return access.memory.known(at: block.messageAddresses)
  }

  func status(over channel: inout some TagChannel) throws(TagWriteError) -> NDEFStatus {
    let survey = try Type5Survey(&channel)
    let room = try survey.access.container.isWritable ? survey.room(&channel) : 0
    let isWritable = room >= 2
    return NDEFStatus(
      capacity: NDEFBlock.capacity(bytes: isWritable ? room : survey.block.addresses.count), isWritable: isWritable)
  }
}

/// The state of a tag that is needed to write or lock it.
struct Type5Survey {
  var access: Type5Access
  let block: NDEFBlock

  init(_ channel: inout some TagChannel) throws(TagWriteError) {
    var access = try Type5Access(&channel)
    try access.trim(&channel)
    block = try access.block(&channel)
    self.access = access
  }

  /// Whether the tag has no NDEF TLV. The block is then the place for one.
  var isNew: Bool { block.addresses.first.map { access.memory[$0] != 0x03 } ?? false }

  /// The number of data bytes of the NDEF TLV in front of the first locked block. Below two, the length cannot be
  /// changed. Checks the blocks up to the one with the address `last`, by default all.
  func room(upTo last: Int? = nil, _ channel: inout some TagChannel) throws(TagWriteError) -> Int {
    // The type byte of an existing TLV is not rewritten.
    let kept = isNew ? 0 : 1
    let addresses = block.addresses.dropFirst(kept)
    guard let first = addresses.first, let end = last ?? addresses.last, first <= end else { return kept }
    let blocks = first / access.blockSize..<end / access.blockSize + 1
    guard let locked = try access.lockedBlocks(in: blocks, &channel) else { return block.addresses.count }
    return kept + addresses.prefix { !locked.contains($0 / access.blockSize) }.count
  }
}
