extension SimulatedTag {
  /// A Type 1 tag that holds an NDEF message.
  ///
  /// - Parameters:
  ///   - model: the chip.
  ///   - message: an encoded NDEF message; empty for a formatted tag without one.
  ///   - uid: seven bytes.
  /// - Returns: the tag.
  /// - Throws: `SimulatorError` if the message does not fit, or the UID does not have seven fixed bytes.
  public static func type1(
    _ model: Type1Model, message: [UInt8], uid: TagUID = .generatedTopaz()
  ) throws(SimulatorError) -> SimulatedTag {
    SimulatedTag(tag: Type1Tag(try Type1Memory(model: model, uid: uid.fixedBytes ?? [], message: message)))
  }

  /// The smallest Topaz tag that holds the message.
  static func topaz(message: [UInt8], uid: TagUID) throws(SimulatorError) -> SimulatedTag {
    try type1(message.count <= Type1Model.topaz96.capacity ? .topaz96 : .topaz512, message: message, uid: uid)
  }

  /// A Type 1 tag with arbitrary contents in place of the TLVs.
  ///
  /// - Parameters:
  ///   - model: the chip.
  ///   - contents: the data bytes after the capability container.
  ///   - uid: seven bytes.
  /// - Returns: the tag.
  /// - Throws: `SimulatorError` if the contents do not fit, or the UID does not have seven fixed bytes.
  public static func type1(
    _ model: Type1Model, contents: [UInt8], uid: TagUID = .generatedTopaz()
  ) throws(SimulatorError) -> SimulatedTag {
    SimulatedTag(tag: Type1Tag(try Type1Memory(model: model, uid: uid.fixedBytes ?? [], contents: contents)))
  }

  /// A Type 1 tag from a dump.
  ///
  /// - Parameters:
  ///   - model: the chip; nil for the smallest that holds the dump.
  ///   - memory: the bytes from block 0 on. The first seven are the UID.
  /// - Returns: the tag.
  /// - Throws: `SimulatorError` if the dump is too short to hold a UID, or too long.
  public static func type1(_ model: Type1Model? = nil, memory: [UInt8]) throws(SimulatorError) -> SimulatedTag {
    guard memory.count >= 7 else {
      throw SimulatorError("a dump of \(memory.count) bytes does not hold the UID, which takes the first 7")
    }
    guard let model = model ?? Type1Model.all.first(where: { memory.count <= $0.blockCount * 8 }) else {
      throw SimulatorError("no model has the \(memory.count) bytes of this dump")
    }
    return SimulatedTag(tag: Type1Tag(try Type1Memory(model: model, uid: Array(memory[..<7]), image: memory)))
  }
}
