import Tags

/// What the chip found, read from its answer to InListPassiveTarget (UM0701-02, 7.3.5) and nothing else.
///
/// libnfc's own reading of that answer trusts lengths that come from the tag, and one of them brings the process down.
enum TargetList {
  /// The answer is not of the form that the chip's manual gives.
  struct Malformed: Error {}

  /// Reads the answer to a search for one Type A target at 106 kbit/s.
  ///
  /// - Parameter answer: what follows the response code: the number of targets, then the target's number, ATQA, SAK, UID
  ///   with its length, and an ATS where the chip has asked for one.
  /// - Returns: the target; nil where there is none.
  /// - Throws: `Malformed` where a field is cut off or longer than its standard allows.
  static func typeA(_ answer: [UInt8]) throws(Malformed) -> TypeAActivation? {
    guard let count = answer.first else { throw Malformed() }
    if count == 0 { return nil }
    let fields = answer.dropFirst(2)
    guard fields.count >= 4 else { throw Malformed() }
    let header = Array(fields.prefix(4))
    let length = Int(header[3])
    let rest = fields.dropFirst(4)
    guard (1...12).contains(length), rest.count >= length else { throw Malformed() }
    return TypeAActivation(
      atqa: Array(header[0...1]), sak: header[2], uid: withoutCascadeTags(Array(rest.prefix(length))),
      ats: Array(rest.dropFirst(length)))
  }

  /// Some firmware gives a double or triple size UID with its cascade tags (88, ISO/IEC 14443-3, 6.5.4).
  private static func withoutCascadeTags(_ uid: [UInt8]) -> [UInt8] {
    switch uid.count {
    case 8 where uid[0] == 0x88: Array(uid[1...])
    case 12 where uid[0] == 0x88 && uid[4] == 0x88: Array(uid[1...3] + uid[5...])
    default: Array(uid.prefix(10))
    }
  }
}
