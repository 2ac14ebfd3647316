/// The contact of a card: vCard 2.1, 3.0 (RFC 2426) or 4.0 (RFC 6350). Has what a person needs to recognise it.
///
/// The values are as they are on the tag, which anyone can write. A value that is encoded, as in a card of version 2.1
/// with QUOTED-PRINTABLE, is left out.
package struct ContactCard: Sendable, Hashable {
  /// The media types of cards (RFC 6350, section 10.1, and earlier ones).
  package static let types: Set<String> = ["text/vcard", "text/x-vcard", "text/directory"]
  /// What lies behind it is not read, in bytes.
  package static let readAtMost = 64 << 10
  /// The most telephone numbers, and the most addresses.
  package static let mostNumbers = 16

  /// Empty if the card has none.
  package private(set) var name = ""
  /// With its units. Empty if the card has none.
  package private(set) var organisation = ""
  package private(set) var phones: [String] = []
  package private(set) var emails: [String] = []

  /// Nil if the record is not a card.
  package init?(_ record: NDEFRecord) {
    guard Self.types.contains(where: record.isMedia) else { return nil }
    var lines = Self.lines(record.payload.prefix(Self.readAtMost)).makeIterator()
    guard let first = lines.next(), first.name == "BEGIN", first.text.uppercased() == "VCARD" else { return nil }
    var parts: [String] = []
    while let line = lines.next(), line.name != "END" {
      switch line.name {
      case "FN" where name.isEmpty: name = line.text
      case "N" where parts.isEmpty: parts = line.components
      case "ORG" where organisation.isEmpty:
        organisation = line.components.filter { !$0.isEmpty }.joined(separator: ", ")
      case "TEL" where phones.count < Self.mostNumbers: phones.append(Self.number(line.text))
      case "EMAIL" where emails.count < Self.mostNumbers: emails.append(line.text)
      default: break
      }
    }
    phones.removeAll(where: \.isEmpty)
    emails.removeAll(where: \.isEmpty)
    // Family name, given name, additional names, prefixes, suffixes (RFC 6350, section 6.2.2).
    if name.isEmpty {
      let order = [3, 1, 2, 0, 4].filter(parts.indices.contains)
      name = order.map { parts[$0] }.filter { !$0.isEmpty }.joined(separator: " ")
    }
  }

  /// Version 4.0 has numbers as URIs, too.
  private static func number(_ text: String) -> String {
    text.prefix(4).lowercased() == "tel:" ? String(text.dropFirst(4)) : text
  }

  private struct Line {
    /// In capital letters, without its group and its parameters.
    let name: String
    /// Separated by semicolons, without escapes.
    let components: [String]

    var text: String { components.joined(separator: ";") }

    /// Nil if the line has no value, or an encoded one.
    init?(_ line: [UInt8]) {
      var isQuoted = false
      let colon = line.firstIndex { byte in
        if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
        return byte == UInt8(ascii: ":") && !isQuoted
      }
      guard let colon else { return nil }
      let head = String(decoding: line[..<colon], as: UTF8.self).uppercased().split(separator: ";")
      let encodings = ["QUOTED-PRINTABLE", "BASE64"]
      guard let name = head.first?.split(separator: ".").last,
        !head.dropFirst().contains(where: { $0.hasPrefix("ENCODING=") || encodings.contains(String($0)) })
      else { return nil }
      self.name = String(name)
      components = Self.components(line[(colon + 1)...])
    }

    /// RFC 6350, section 3.4. A line break becomes a space.
    private static func components(_ value: ArraySlice<UInt8>) -> [String] {
      var components: [[UInt8]] = []
      var component: [UInt8] = []
      var isEscaped = false
      for byte in value {
        switch byte {
        case UInt8(ascii: "n") where isEscaped, UInt8(ascii: "N") where isEscaped: component.append(UInt8(ascii: " "))
        case _ where isEscaped: component.append(byte)
        case UInt8(ascii: "\\"):
          isEscaped = true
          continue
        case UInt8(ascii: ";"):
          components.append(component)
          component = []
        default: component.append(byte)
        }
        isEscaped = false
      }
      return (components + [component]).map { String(decoding: $0, as: UTF8.self) }
    }
  }

  /// A line that begins with a space or a tab continues the one before (RFC 6350, section 3.2).
  private static func lines(_ bytes: ArraySlice<UInt8>) -> [Line] {
    var lines: [[UInt8]] = []
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
      if let first = line.first, first == UInt8(ascii: " ") || first == UInt8(ascii: "\t"), !lines.isEmpty {
        lines[lines.count - 1] += line.dropFirst()
      } else {
        lines.append(Array(line))
      }
    }
    return lines.compactMap(Line.init)
  }
}
