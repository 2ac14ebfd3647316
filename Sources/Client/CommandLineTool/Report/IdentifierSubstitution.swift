/// Replaces the identifiers of tags by made-up ones of the same length.
struct IdentifierSubstitution {
  /// The fewest bytes that are recognised as a part of an identifier.
  static let shortest = 4

  /// As the tags of a trace have them, each with its substitute.
  let substitutes: [[UInt8]: [UInt8]]
  /// The forms in which an identifier occurs, those of longer identifiers first.
  private let forms: [(bytes: [UInt8], substitute: [UInt8])]
  /// Where in the forms two bytes occur, so that the search does not compare with every identifier.
  private let places: [UInt16: [(form: Int, offset: Int)]]

  init(_ identifiers: [[UInt8]]) {
    var made: [[UInt8]: [UInt8]] = [:]
    for identifier in identifiers where identifier.count >= Self.shortest && made[identifier] == nil {
      let reversed: [UInt8] = identifier.reversed()
      made[identifier] = made[reversed]?.reversed() ?? Self.madeUp(identifier, number: made.count + 1)
    }
    var forms: [(bytes: [UInt8], substitute: [UInt8])] = []
    let sorted = made.sorted { a, b in
      a.key.count == b.key.count ? a.value.lexicographicallyPrecedes(b.value) : a.key.count > b.key.count
    }
    for (identifier, substitute) in sorted {
      forms += zip(Self.forms(of: identifier), Self.forms(of: substitute)).map { ($0, $1) }
    }
    var places: [UInt16: [(form: Int, offset: Int)]] = [:]
    for (form, (bytes, _)) in forms.enumerated() {
      for offset in 0...bytes.count - Self.shortest {
        places[Self.pair(bytes, offset), default: []].append((form, offset))
      }
    }
    (substitutes, self.forms, self.places) = (made, forms, places)
  }

  private static func pair(_ bytes: [UInt8], _ index: Int) -> UInt16 {
    UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1])
  }

  /// Of the same length, with the manufacturer's byte: the first one, or E0 and the next at the end of a UID of ISO/IEC
  /// 15693 that is sent with the last byte first.
  private static func madeUp(_ identifier: [UInt8], number: Int) -> [UInt8] {
    var result = [UInt8](repeating: 0, count: identifier.count)
    result[0] = identifier[0]
    let isReversed = identifier.count == 8 && identifier[7] == 0xE0
    if isReversed { (result[0], result[6], result[7]) = (0, identifier[6], 0xE0) }
    let place = isReversed ? 5 : identifier.count - 1
    (result[place - 1], result[place]) = (UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number))
    return result
  }

  /// In both orders, with the check bytes of the tag's memory, and with cascade tags (ISO/IEC 14443-3, 6.5.3 and
  /// 6.5.4). A check byte is the exclusive or of the four bytes before it.
  private static func forms(of uid: [UInt8]) -> [[UInt8]] {
    func checked(_ bytes: some Collection<UInt8>) -> [UInt8] { bytes + [bytes.reduce(0, ^)] }
    let cascade: [UInt8] = [0x88]
    var forms = [uid, uid.reversed()]
    switch uid.count {
    case 4: forms.append(checked(uid))
    case 7:
      forms.append(checked(cascade + uid[..<3]).dropFirst() + checked(uid[3...]))
    case 10:
      forms.append(cascade + uid[..<3] + cascade + uid[3...])
      forms.append(checked(cascade + uid[..<3]) + checked(cascade + uid[3..<6]) + checked(uid[6...]))
    default: break
    }
    return forms
  }

  /// Replaces each identifier, and each part of one that is long enough.
  func replace(in bytes: [UInt8]) -> [UInt8] {
    var result = bytes
    var start = 0
    while start + Self.shortest <= bytes.count {
      guard let (form, run) = longestRun(in: bytes, at: start) else {
        start += 1
        continue
      }
      result.replaceSubrange(start..<start + run.count, with: forms[form].substitute[run])
      start += run.count
    }
    return result
  }

  /// Whether an identifier, or a part of one that is long enough, is in the bytes.
  func isPresent(in bytes: [UInt8]) -> Bool { bytes.indices.contains { longestRun(in: bytes, at: $0) != nil } }

  private func longestRun(in bytes: [UInt8], at start: Int) -> (form: Int, run: Range<Int>)? {
    guard start + Self.shortest <= bytes.count else { return nil }
    var best: (form: Int, run: Range<Int>)?
    for (form, offset) in places[Self.pair(bytes, start)] ?? [] {
      let count = zip(forms[form].bytes[offset...], bytes[start...]).prefix { $0 == $1 }.count
      if count >= Self.shortest, count > best?.run.count ?? 0 { best = (form, offset..<offset + count) }
    }
    return best
  }
}
