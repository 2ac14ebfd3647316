/// The text of a file of rules, changed by whole groups. Comments and other rules keep every byte.
struct RuleText {
  private var lines: [ArraySlice<UInt8>]

  init(_ bytes: [UInt8]) {
    lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
  }

  var bytes: [UInt8] { Array(lines.joined(separator: [UInt8(ascii: "\n")])) }

  /// Removes the group whose header is in this line, from 1. Comments behind its last entry stay: they may belong to
  /// the next group.
  mutating func removeGroup(at line: Int) {
    let header = line - 1
    guard lines.indices.contains(header), Self.kind(of: lines[header]) == .header else { return }
    let next = lines[(header + 1)...].firstIndex { Self.kind(of: $0) == .header } ?? lines.endIndex
    let last = lines[header..<next].lastIndex { [.header, .entry].contains(Self.kind(of: $0)) } ?? header
    lines.removeSubrange(header...last)
    // Of the blank lines above and below, one is enough.
    guard header > 0, Self.kind(of: lines[header - 1]) == .blank else { return }
    if header >= lines.count || Self.kind(of: lines[header]) == .blank { lines.remove(at: header - 1) }
  }

  /// Adds a group at the end, below a blank line. `text` ends with a line break.
  mutating func append(_ text: String) {
    var bytes = bytes
    if let last = bytes.last {
      bytes += Array((last == UInt8(ascii: "\n") ? "\n" : "\n\n").utf8)
    }
    self = RuleText(bytes + Array(text.utf8))
  }

  private enum Kind { case blank, comment, header, entry }

  private static func kind(of line: ArraySlice<UInt8>) -> Kind {
    let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
    switch line.first(where: { !isSpace($0) }) {
    case nil: return .blank
    case UInt8(ascii: "#"): return .comment
    case UInt8(ascii: "["): return .header
    default: return .entry
    }
  }
}
