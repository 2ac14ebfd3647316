/// An IPv6 address, written in the normalised spelling of RFC 5952.
struct IPv6Address: CustomStringConvertible {
  private let groups: [UInt16]

  /// Reads any spelling of RFC 4291 section 2.2, without brackets: eight groups of up to four digits, one run of zero
  /// groups as `::`, the last two as an IPv4 address. An address with a zone is rejected: a zone has no meaning on a
  /// tag.
  init?(_ text: String) {
    guard (2...45).contains(text.utf8.count) else { return nil }
    let bytes = text.utf8[...]
    guard let compression = bytes.indices.first(where: { bytes[$0...].starts(with: "::".utf8) }) else {
      guard let groups = Self.groups(in: bytes, mayEndInIPv4: true), groups.count == 8 else { return nil }
      self.groups = groups
      return
    }
    let before = bytes[..<compression]
    let after = bytes[compression...].dropFirst(2)
    guard let head = before.isEmpty ? [] : Self.groups(in: before, mayEndInIPv4: false),
      let tail = after.isEmpty ? [] : Self.groups(in: after, mayEndInIPv4: true), head.count + tail.count <= 7
    else { return nil }
    groups = head + [UInt16](repeating: 0, count: 8 - head.count - tail.count) + tail
  }

  private static func groups(in text: Substring.UTF8View, mayEndInIPv4: Bool) -> [UInt16]? {
    let parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    var groups: [UInt16] = []
    for (index, part) in parts.enumerated() {
      if (1...4).contains(part.count), let group = UInt16(Substring(part), radix: 16),
        part.allSatisfy(CharacterClasses.isHexDigit)
      {
        groups.append(group)
      } else if mayEndInIPv4, index == parts.count - 1,
        let octets = Host.octets(Array(part).split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false))
      {
        groups += [UInt16(octets[0]) << 8 | UInt16(octets[1]), UInt16(octets[2]) << 8 | UInt16(octets[3])]
      } else {
        return nil
      }
    }
    return groups
  }

  /// Lower case, no leading zeros, and the first of the longest runs of two or more zero groups as `::`. An IPv4-mapped
  /// address (`::ffff:0:0/96`) ends in dotted decimal, which people can read.
  var description: String {
    if groups.starts(with: [0, 0, 0, 0, 0, 0xFFFF]) {
      return "::ffff:" + groups[6...].flatMap { [$0 >> 8, $0 & 0xFF] }.map { String($0) }.joined(separator: ".")
    }
    var longest = 0..<0
    var start = 0
    for (index, group) in groups.enumerated() {
      if group != 0 {
        start = index + 1
      } else if index + 1 - start > max(longest.count, 1) {
        longest = start..<index + 1
      }
    }
    func text(_ groups: ArraySlice<UInt16>) -> String { groups.map { String($0, radix: 16) }.joined(separator: ":") }
    guard !longest.isEmpty else { return text(groups[...]) }
    return text(groups[..<longest.lowerBound]) + "::" + text(groups[longest.upperBound...])
  }
}
