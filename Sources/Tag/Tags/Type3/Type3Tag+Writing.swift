/// Writing (section 6.4.3). First the attribute information block is marked as being written. Then the message is
/// written, and last the block with the new length.
extension Type3Tag {
  /// The state of a tag that is needed to write it.
  struct Opened {
    /// The identifier of the NDEF system.
    let idm: [UInt8]
    let attributes: Type3Attributes
    /// Nil if the card is not a FeliCa Lite.
    let configuration: FeliCaLiteConfiguration?

    /// The attribute information block and the message blocks behind it.
    var blocks: ClosedRange<Int> { 0...attributes.blockCount }

    /// Whether anyone may write the tag.
    var isWritable: Bool { attributes.isWritable && configuration?.letsWrite(blocks) ?? true }
  }

  /// Finds the NDEF system and reads its attribute information block. On a FeliCa Lite, the same command also reads the
  /// memory configuration.
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
