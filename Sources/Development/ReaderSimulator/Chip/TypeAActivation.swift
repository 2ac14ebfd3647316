/// A tag that was found and selected.
struct ActivatedTag {
  var atqa: [UInt8]
  var sak: UInt8
  var uid: [UInt8]

  /// Bit 6 of SAK: the tag speaks ISO/IEC 14443-4 (ISO/IEC 14443-3, 6.5.3.4).
  var speaksBlockProtocol: Bool { sak & 0x20 != 0 }
}

/// Finding and selecting a tag (ISO/IEC 14443-3, 6.5).
extension RadioInterface {
  static let reqa: UInt8 = 0x26
  static let wupa: UInt8 = 0x52
  private static let cascadeTag: UInt8 = 0x88
  private static let selectCodes: [UInt8] = [0x93, 0x95, 0x97]

  /// Sends one request and, if a tag answers, runs anticollision and select. The request is REQA, or WUPA, which also
  /// wakes halted tags. `wanted` is the UID of the only tag to select. Returns the tag that is now ACTIVE.
  mutating func activateTypeA(request: UInt8, wanted: [UInt8]? = nil) -> ActivatedTag? {
    let atqa: [UInt8]
    switch transceive(.short(request), for: .activation) {
    case .silence: return nil
    case .frame(let frame): atqa = frame.bytes
    case .collision(let frames): atqa = frames[0].bytes
    }
    var rest = wanted.map { $0[...] }
    var uid: [UInt8] = []
    for code in Self.selectCodes {
      guard let level = identify(code: code, wanted: rest) else { return nil }
      guard case .frame(let answer) = transceive(.standard([code, 0x70] + level), for: .activation),
        let sak = answer.checkedData?.first
      else { return nil }
      if sak & 0x04 == 0 {
        uid += level[0..<4]
        return ActivatedTag(atqa: atqa, sak: sak, uid: uid)
      }
      uid += level[1..<4]
      rest = rest?.dropFirst(3)
    }
    return nil
  }

  /// The four bytes of one cascade level and their check byte.
  private mutating func identify(code: UInt8, wanted: ArraySlice<UInt8>?) -> [UInt8]? {
    if let wanted {
      let level = wanted.count > 4 ? [Self.cascadeTag] + wanted.prefix(3) : Array(wanted)
      return level.count == 4 ? level + [level.reduce(0, ^)] : nil
    }
    switch transceive(RadioFrame(bytes: [code, 0x20]), for: .activation) {
    case .silence: return nil
    case .frame(let frame): return frame.bytes.count == 5 ? frame.bytes : nil
    case .collision(let frames):
      // If bits collide, the chip continues with the tags that sent a one.
      return frames.map(\.bytes).filter { $0.count == 5 }
        .max { Self.asSent($0).lexicographicallyPrecedes(Self.asSent($1)) }
    }
  }

  /// The bits in their order on the air, the lowest first.
  private static func asSent(_ bytes: [UInt8]) -> [UInt8] {
    bytes.map { byte in (0..<8).reduce(0 as UInt8) { (bits: UInt8, position: Int) in bits << 1 | byte >> position & 1 }
    }
  }
}
