/// The name of a reader, as pcscd composes it: `FRIENDLY [interface] (serial) 00 01`. The parts in brackets may be missing.
///
/// Names may have any content. A device can choose its own, so a name is a hint and no proof.
struct SlotName {
  private let text: [UInt8]
  /// The words of the interface's name, in lower case.
  let interface: [String]
  /// The words in front of the brackets, in lower case.
  let friendly: [String]

  init(_ name: String) {
    text = Array(name.lowercased().utf8)
    let opening = text.firstIndex(of: UInt8(ascii: "[")) ?? text.endIndex
    let closing = text[opening...].lastIndex(of: UInt8(ascii: "]")) ?? opening
    let end = min(opening, text.firstIndex(of: UInt8(ascii: "(")) ?? text.endIndex)
    interface = Self.words(text[opening..<closing])
    friendly = Self.words(text[..<end])
  }

  /// Whether a part is in the name. It begins where a word does, and no digit follows it.
  func contains(_ part: String) -> Bool {
    let part = Array(part.lowercased().utf8)
    guard let first = part.first, part.count <= text.count else { return false }
    return text.indices.contains { start in
      let end = start + part.count
      guard text[start] == first, end <= text.count, text[start..<end].elementsEqual(part) else { return false }
      let isStart = start == 0 || !Self.isInWord(text[start - 1])
      return isStart && (end == text.count || !Self.isDigit(text[end]) || !Self.isDigit(text[end - 1]))
    }
  }

  private static func words(_ text: ArraySlice<UInt8>) -> [String] {
    text.split { !isInWord($0) }.map { String(decoding: $0, as: UTF8.self) }
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  private static func isInWord(_ byte: UInt8) -> Bool {
    isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || byte >= 0x80
  }
}
