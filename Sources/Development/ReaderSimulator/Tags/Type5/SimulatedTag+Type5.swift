extension SimulatedTag {
  /// A Type 5 tag that holds an encoded NDEF message; empty for a formatted tag without one. `uid` has 8 bytes, E0
  /// first; it is made up if nil. If `isReadOnly`, the capability container says so; the blocks are not locked. Only
  /// PC/SC readers find such tags. Fails if the message does not fit, or the UID is wrong.
  package static func type5(
    _ model: SimulatedType5Model, message: [UInt8], uid: [UInt8]? = nil, isReadOnly: Bool = false
  ) throws(SimulatorError) -> SimulatedTag {
    try type5(try Type5Memory(model: model, message: message, isReadOnly: isReadOnly), uid)
  }

  /// A Type 5 tag with arbitrary contents, after the capability container, in place of the TLVs. Otherwise like
  /// `type5(_:message:uid:isReadOnly:)`.
  package static func type5(
    _ model: SimulatedType5Model, contents: [UInt8], uid: [UInt8]? = nil
  ) throws(SimulatorError) -> SimulatedTag {
    try type5(try Type5Memory(model: model, contents: contents), uid)
  }

  /// A Type 5 tag from a dump, from block 0 on, which holds the capability container. Otherwise like
  /// `type5(_:message:uid:isReadOnly:)`.
  package static func type5(
    _ model: SimulatedType5Model, memory: [UInt8], uid: [UInt8]? = nil
  ) throws(SimulatorError) -> SimulatedTag {
    try type5(try Type5Memory(model: model, image: memory), uid)
  }

  private static func type5(_ memory: Type5Memory, _ uid: [UInt8]?) throws(SimulatorError) -> SimulatedTag {
    let uid = uid ?? [0xE0, memory.model.manufacturer] + (0..<6).map { _ in UInt8.random(in: 0...0xFF) }
    guard uid.count == 8, uid[0] == 0xE0 else { throw SimulatorError("a UID of ISO/IEC 15693 has 8 bytes, E0 first") }
    return SimulatedTag(tag: Type5Tag(uid: uid, memory))
  }
}
