/// A tag that a test can place on a simulated reader.
public struct SimulatedTag: Sendable {
  let tag: any FieldTag

  /// A Type 2 tag that holds an NDEF message.
  ///
  /// - Parameters:
  ///   - model: the chip.
  ///   - message: an encoded NDEF message; empty for a formatted tag without one.
  ///   - uid: seven bytes on a real tag, which are in its first pages too.
  ///   - hasLockControl: whether the model's factory lock control TLV precedes the message. Many programs overwrite it.
  /// - Returns: the tag.
  /// - Throws: `SimulatorError` if the message does not fit.
  public static func type2(
    _ model: Type2Model, message: [UInt8], uid: TagUID = .generated(), hasLockControl: Bool = false
  ) throws(SimulatorError) -> SimulatedTag {
    let bytes = uid.fixedBytes ?? []
    return type2(
      try Type2Memory(model: model, uid: bytes, message: message, hasLockControl: hasLockControl), uid)
  }

  /// A Type 2 tag with arbitrary contents in place of the TLVs: damaged, hostile, or merely unusual.
  ///
  /// - Parameters:
  ///   - model: the chip.
  ///   - contents: the bytes from page 4 on.
  ///   - uid: seven bytes on a real tag.
  /// - Returns: the tag.
  /// - Throws: `SimulatorError` if the contents do not fit.
  public static func type2(_ model: Type2Model, contents: [UInt8], uid: TagUID = .generated()) throws(SimulatorError)
    -> SimulatedTag
  {
    type2(try Type2Memory(model: model, uid: uid.fixedBytes ?? [], contents: contents), uid)
  }

  /// A Type 2 tag from a dump.
  ///
  /// - Parameters:
  ///   - model: the chip; nil for the smallest that holds the dump.
  ///   - memory: the bytes from page 0 on. The first two pages hold the UID.
  /// - Returns: the tag.
  /// - Throws: `SimulatorError` if the dump is too short to hold a UID, or too long.
  public static func type2(_ model: Type2Model? = nil, memory: [UInt8]) throws(SimulatorError) -> SimulatedTag {
    guard memory.count >= 8 else {
      throw SimulatorError("a dump of \(memory.count) bytes does not hold the UID, which takes the first 8")
    }
    guard let model = model ?? Type2Model.all.first(where: { memory.count <= $0.pageCount * 4 }) else {
      throw SimulatorError("no model has the \(memory.count) bytes of this dump")
    }
    let uid = Array(memory[0..<3] + memory[4..<8])
    return type2(try Type2Memory(model: model, uid: uid, image: memory), try .fixed(uid))
  }

  private static func type2(_ memory: Type2Memory, _ uid: TagUID) -> SimulatedTag {
    SimulatedTag(tag: TypeATag(uid: uid, application: Type2Tag(memory)))
  }
}
