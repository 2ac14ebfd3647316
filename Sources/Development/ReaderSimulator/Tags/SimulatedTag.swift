/// A tag that a test can place on a simulated reader.
package struct SimulatedTag: Sendable {
  let tag: any FieldTag

  /// A Type 2 tag that holds an encoded NDEF message; empty for a formatted tag without one. The UID has seven bytes on
  /// a real tag, which are in its first pages too. If `hasLockControl`, the model's factory lock control TLV precedes
  /// the message; many programs overwrite it. Fails if the message does not fit.
  package static func type2(
    _ model: SimulatedType2Model, message: [UInt8], uid: TagUID = .generated(), hasLockControl: Bool = false
  ) throws(SimulatorError) -> SimulatedTag {
    let bytes = uid.fixedBytes ?? []
    return type2(try Type2Memory(model: model, uid: bytes, message: message, hasLockControl: hasLockControl), uid)
  }

  /// A Type 2 tag with arbitrary contents, from page 4 on, in place of the TLVs: damaged, hostile, or merely unusual.
  /// The UID has seven bytes on a real tag. Fails if the contents do not fit.
  package static func type2(_ model: SimulatedType2Model, contents: [UInt8], uid: TagUID = .generated())
    throws(SimulatorError)
    -> SimulatedTag
  {
    type2(try Type2Memory(model: model, uid: uid.fixedBytes ?? [], contents: contents), uid)
  }

  /// A Type 2 tag from a dump, from page 0 on; the first two pages hold the UID. Without a model, it is the smallest
  /// that holds the dump. Fails if the dump is too short to hold a UID, or too long.
  package static func type2(_ model: SimulatedType2Model? = nil, memory: [UInt8]) throws(SimulatorError) -> SimulatedTag
  {
    guard memory.count >= 8 else {
      throw SimulatorError("a dump of \(memory.count) bytes does not hold the UID, which takes the first 8")
    }
    guard let model = model ?? SimulatedType2Model.all.first(where: { memory.count <= $0.pageCount * 4 }) else {
      throw SimulatorError("no model has the \(memory.count) bytes of this dump")
    }
    let uid = Array(memory[0..<3] + memory[4..<8])
    return type2(try Type2Memory(model: model, uid: uid, image: memory), try .fixed(uid))
  }

  /// A message in an NDEF TLV. The length has one byte, or three from FF on.
  static func tlv(_ message: [UInt8]) -> [UInt8] {
    let low = UInt8(truncatingIfNeeded: message.count)
    let length = message.count < 0xFF ? [low] : [0xFF, UInt8(truncatingIfNeeded: message.count >> 8), low]
    return [0x03] + length + message
  }

  private static func type2(_ memory: Type2Memory, _ uid: TagUID) -> SimulatedTag {
    SimulatedTag(tag: TypeATag(uid: uid, application: SimulatedType2(memory)))
  }
}
