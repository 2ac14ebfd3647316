/// Writing (section 6.4.3): the attribute information block says that somebody is writing, then comes the message, then the
/// attribute information block with its length.
extension Type3Tag {
  /// What has to be known before a tag is written.
  struct Opened {
    /// The identifier of the NDEF system.
    let idm: [UInt8]
    let attributes: Type3Attributes
    /// Nil where the card is no FeliCa Lite.
    let configuration: FeliCaLiteConfiguration?

    /// The attribute information block and those behind it.
    var blocks: ClosedRange<Int> { 0...attributes.blockCount }

    /// Whether everybody may write it.
    var isWritable: Bool { attributes.isWritable && configuration?.letsWrite(blocks) ?? true }
  }

  /// Finds the NDEF system and reads its attribute information block; a FeliCa Lite says in the same answer what may be
  /// written.
  func openWithConfiguration(_ channel: inout some TagChannel) throws(TagStop) -> Opened {
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
    // Something else with the IC code of a Lite, it seems.
    return Opened(idm: idm, attributes: try attributes(idm, &channel), configuration: nil)
  }

  func write(_ message: [UInt8], over channel: inout some TagChannel) throws(TagWriteError) {
    let tag = try TagWriteError.stopping { () throws(TagStop) in try openWithConfiguration(&channel) }
    let attributes = tag.attributes
    guard tag.isWritable else { throw .readOnly }
    guard message.count <= attributes.capacity else { throw .tooLong(capacity: attributes.capacity) }
    try TagWriteError.stopping { () throws(TagStop) in
      // The length is zero meanwhile, too, for readers that do not look at WriteF.
      try channel.update(from: 0, attributes.changed(length: 0, isBeingWritten: true), tag.idm)
      let padded = message + [UInt8](repeating: 0, count: (16 - message.count % 16) % 16)
      let most = attributes.mostWritten * 16
      for offset in stride(from: 0, to: padded.count, by: most) {
        try channel.update(from: 1 + offset / 16, Array(padded[offset..<min(offset + most, padded.count)]), tag.idm)
      }
      try channel.update(from: 0, attributes.changed(length: message.count), tag.idm)
    }
  }

  /// Sets RWFlag in the attribute information block to "read-only", which is all that the specification has (section 6.4.4):
  /// readers that keep to it never write such a tag, the card itself does not mind.
  ///
  /// A FeliCa Lite or Lite-S is then told to refuse, too: the blocks of the message are read-only for ever in its memory
  /// configuration. The services of a FeliCa Standard were laid out by its issuer, and nobody else can make them read-only.
  func lock(over channel: inout some TagChannel) throws(TagWriteError) {
    let tag = try TagWriteError.stopping { () throws(TagStop) in try openWithConfiguration(&channel) }
    // Where it was torn away between the two, the second is still to do.
    let configuration = tag.configuration?.locking(tag.blocks)
    guard tag.isWritable || (configuration != nil && !tag.attributes.isWritable) else { throw .readOnly }
    try TagWriteError.stopping { () throws(TagStop) in
      // A message that was half written would be so for ever.
      try tag.attributes.checkIsWhole()
      if tag.attributes.isWritable {
        let locked = tag.attributes.changed(length: tag.attributes.length, isReadOnly: true)
        try channel.update(from: 0, locked, tag.idm)
      }
      if let configuration { try channel.update(from: FeliCaLiteConfiguration.block, configuration, tag.idm) }
    }
  }

}
