extension SimulatedTag {
  /// A Type 1 tag that holds an encoded NDEF message; empty for a formatted tag without one. Fails if the message does
  /// not fit, or the UID does not have seven fixed bytes.
  package static func type1(
    _ model: Type1Model, message: [UInt8], uid: TagUID = .generatedTopaz()
  ) throws(SimulatorError) -> SimulatedTag {
    SimulatedTag(tag: Type1Tag(try Type1Memory(model: model, uid: uid.fixedBytes ?? [], message: message)))
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
    SimulatedTag(tag: Type1Tag(try Type1Memory(model: model, uid: uid.fixedBytes ?? [], contents: contents)))
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
    return SimulatedTag(tag: Type1Tag(try Type1Memory(model: model, uid: Array(memory[..<7]), image: memory)))
  }
}
