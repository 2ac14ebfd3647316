extension SimulatedTag {
  /// A MIFARE Classic that is formatted for NDEF (AN1304) and holds an encoded message; empty for a formatted tag
  /// without one. The UID has four or seven bytes on a real tag. `keyB`, six bytes, is key B of every sector; any key
  /// other than the default of formatting programs is a secret. Without `sectors`, all possible ones are for NDEF.
  /// Fails if the message does not fit, the UID is random, or the key has another length.
  package static func mifareClassic(
    _ model: MIFAREClassicModel, message: [UInt8], uid: TagUID = .generated(),
    keyB: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], sectors: [Int]? = nil
  ) throws(SimulatorError) -> SimulatedTag {
    try mifareClassic(model, contents: tlv(message), isTerminated: true, uid: uid, keyB: keyB, sectors: sectors)
  }

  /// A MIFARE Classic that is formatted for NDEF, with arbitrary contents of the data blocks in place of the TLVs.
  /// Without `sectors`, all possible ones are for NDEF. Fails if the contents do not fit, or the UID is random.
  package static func mifareClassic(
    _ model: MIFAREClassicModel, contents: [UInt8], uid: TagUID = .generated(), sectors: [Int]? = nil
  ) throws(SimulatorError) -> SimulatedTag {
    try mifareClassic(
      model, contents: contents, isTerminated: false, uid: uid, keyB: [UInt8](repeating: 0xFF, count: 6),
      sectors: sectors)
  }

  /// A MIFARE Classic from a dump that includes its keys, from block 0 on. The UID has four or seven bytes; nil for the
  /// UID of four bytes in block 0. Fails if the model has another number of bytes than the dump, or the UID is random.
  package static func mifareClassic(
    _ model: MIFAREClassicModel, memory: [UInt8], uid: TagUID? = nil
  ) throws(SimulatorError) -> SimulatedTag {
    guard memory.count == model.blockCount * MIFAREClassicMemory.blockSize else {
      throw SimulatorError("a dump of \(memory.count) bytes is not one of \(model.name)")
    }
    let uid = if let uid { uid } else { try TagUID.fixed(Array(memory[0..<4])) }
    var blocks = MIFAREClassicMemory(model: model, uid: uid.fixedBytes ?? [])
    blocks.put(memory, at: 0)
    return try mifareClassic(blocks, uid)
  }

  /// A MIFARE Classic in its factory state: all keys FF, no user data. The UID has four or seven bytes on a real tag.
  /// Fails if it is random, since the chip has no random UIDs.
  package static func mifareClassicBlank(
    _ model: MIFAREClassicModel, uid: TagUID = .generated()
  ) throws(SimulatorError) -> SimulatedTag {
    try mifareClassic(MIFAREClassicMemory(model: model, uid: uid.fixedBytes ?? []), uid)
  }

  private static func mifareClassic(
    _ model: MIFAREClassicModel, contents: [UInt8], isTerminated: Bool, uid: TagUID, keyB: [UInt8], sectors: [Int]?
  ) throws(SimulatorError) -> SimulatedTag {
    let sectors = sectors ?? (1..<model.sectorCount).filter { $0 != 16 }
    var blocks = MIFAREClassicMemory(model: model, uid: uid.fixedBytes ?? [])
    let room = sectors.reduce(0) { $0 + blocks.dataBlocks(of: $1).count * MIFAREClassicMemory.blockSize }
    guard contents.count <= room else {
      throw SimulatorError("\(contents.count) bytes do not fit into the \(room) that \(model.name) has for TLVs")
    }
    guard keyB.count == 6 else { throw SimulatorError("a key has 6 bytes, not \(keyB.count)") }
    let isFull = contents.count == room
    blocks.format(sectors: sectors, keyB: keyB, contents: contents + (isTerminated && !isFull ? [0xFE] : []))
    return try mifareClassic(blocks, uid)
  }

  private static func mifareClassic(_ blocks: MIFAREClassicMemory, _ uid: TagUID) throws(SimulatorError) -> SimulatedTag
  {
    // The UID is part of every authentication.
    guard let bytes = uid.fixedBytes else { throw SimulatorError("a MIFARE Classic has no random UID") }
    return SimulatedTag(tag: TypeATag(uid: uid, application: MIFAREClassicTag(blocks, uid: bytes)))
  }
}
