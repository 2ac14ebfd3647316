import Tags

/// Parses the chip's answer to InListPassiveTarget (UM0701-02, 7.3.5).
///
/// libnfc's own parser for that answer trusts lengths that come from the tag. One of them crashes the process.
enum TargetList {
  /// The answer does not have the form that the chip's manual gives.
  struct Malformed: Error {}

  /// `answer` is the data after the response code: the number of targets, then for each target its number and the data
  /// that its technology defines.
  ///
  /// There are two targets at most, and more than one only for Type A or B. A second target that cannot be separated
  /// from the first is left out. Throws if a field is cut off or longer than its standard allows.
  static func all(of answer: [UInt8], _ modulation: Modulation) throws(Malformed) -> [TagActivation] {
    guard let count = answer.first else { throw Malformed() }
    if count == 0 { return [] }
    let fields = Array(answer.dropFirst(2))
    switch modulation {
    case .typeA where count == 2: return try pair(fields)
    case .typeA: return [.typeA(try typeA(fields))]
    case .typeB where count == 2: return try pairB(fields)
    case .typeB: return [.typeB(try typeB(fields))]
    case .felica212: return [.felica(try felica(fields, bitRate: 212))]
    case .felica424: return [.felica(try felica(fields, bitRate: 424))]
    case .jewel: return [.jewel(try jewel(fields))]
    }
  }

  /// Of Type A. Only the ATS of the first target, which comes from the tag, says where that target ends.
  private static func pair(_ fields: [UInt8]) throws(Malformed) -> [TagActivation] {
    guard fields.count >= 4, fields.count >= 4 + Int(fields[3]) else { throw Malformed() }
    var end = 4 + Int(fields[3])
    if fields[2] & 0x20 != 0, end < fields.count { end += max(1, Int(fields[end])) }
    let first = TagActivation.typeA(try typeA(Array(fields.prefix(end))))
    // The number of the second target comes before its data.
    guard end + 1 < fields.count, let second = try? typeA(Array(fields[(end + 1)...])) else { return [first] }
    return [first, .typeA(second)]
  }

  /// Of Type B. Each target has 12 bytes, the length of the answer to ATTRIB, and that answer.
  private static func pairB(_ fields: [UInt8]) throws(Malformed) -> [TagActivation] {
    let first = TagActivation.typeB(try typeB(fields))
    let end = 13 + Int(fields[12])
    guard end + 1 < fields.count, let second = try? typeB(Array(fields[(end + 1)...])) else { return [first] }
    return [first, .typeB(second)]
  }

  /// ATQA, SAK, UID with its length, and an ATS if the chip has requested one.
  private static func typeA(_ fields: [UInt8]) throws(Malformed) -> TypeAActivation {
    guard fields.count >= 4 else { throw Malformed() }
    let length = Int(fields[3])
    let rest = fields.dropFirst(4)
    guard (1...12).contains(length), rest.count >= length else { throw Malformed() }
    return TypeAActivation(
      atqa: Array(fields[0...1]), sak: fields[2], uid: withoutCascadeTags(Array(rest.prefix(length))),
      ats: Array(rest.dropFirst(length)))
  }

  /// ATQB (50, PUPI, application data, protocol info), then the answer to ATTRIB with its length.
  private static func typeB(_ fields: [UInt8]) throws(Malformed) -> TypeBActivation {
    guard fields.count >= 13, fields[0] == 0x50 else { throw Malformed() }
    let length = Int(fields[12])
    let response = fields.dropFirst(13)
    guard response.count >= length else { throw Malformed() }
    return TypeBActivation(
      pupi: Array(fields[1...4]), applicationData: Array(fields[5...8]), protocolInfo: Array(fields[9...11]),
      attribResponse: Array(response.prefix(length)))
  }

  /// The answer to polling: its length, 01, IDm, PMm, and the system code if that was requested.
  private static func felica(_ fields: [UInt8], bitRate: Int) throws(Malformed) -> FeliCaActivation {
    guard fields.count >= 18, fields[0] == 18 || fields[0] == 20, fields.count >= fields[0], fields[1] == 0x01 else {
      throw Malformed()
    }
    return FeliCaActivation(
      idm: Array(fields[2...9]), pmm: Array(fields[10...17]),
      systemCode: fields[0] == 20 ? Array(fields[18...19]) : nil, bitRate: bitRate)
  }

  /// ATQA and the part of the UID that commands contain.
  private static func jewel(_ fields: [UInt8]) throws(Malformed) -> JewelActivation {
    guard fields.count >= 6 else { throw Malformed() }
    return JewelActivation(atqa: Array(fields[0...1]), uid: Array(fields[2...5]))
  }

  /// 88 (ISO/IEC 14443-3, 6.5.4). Some firmware leaves cascade tags in a double or triple size UID.
  private static func withoutCascadeTags(_ uid: [UInt8]) -> [UInt8] {
    switch uid.count {
    case 8 where uid[0] == 0x88: Array(uid[1...])
    case 12 where uid[0] == 0x88 && uid[4] == 0x88: Array(uid[1...3] + uid[5...])
    default: Array(uid.prefix(10))
    }
  }
}
