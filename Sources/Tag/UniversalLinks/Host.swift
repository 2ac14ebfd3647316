import CIDN2

/// The host of a URI, in the normalised spelling that is used for comparison.
public struct Host: Sendable, Hashable, CustomStringConvertible {
  /// The kinds of hosts.
  public enum Kind: Sendable, Hashable {
    /// A domain name in IDNA form: lower-case letters, digits, hyphens and underscores in labels.
    case domain
    /// An IPv4 address as four decimal numbers.
    case ipv4
    /// An IPv6 address in the spelling of RFC 5952, without its brackets.
    case ipv6
    /// Any text that a scheme other than http and https has there, as it was written.
    case opaque
  }

  /// The kind of host.
  public let kind: Kind
  /// The host without brackets.
  public let text: String

  /// The host as written in a URI: an IPv6 address has brackets.
  public var description: String { kind == .ipv6 ? "[\(text)]" : text }

  /// Reads the domain name or IPv4 address of an http or https URI.
  ///
  /// Non-ASCII names are converted to ASCII (UTS #46, IDNA 2008). The rules are stricter than RFC 3986 section 3.2.2,
  /// which allows percent-encoding and any sub-delimiter. Labels are letters, digits, inner hyphens (RFC 1123
  /// section 2.1) and underscores, which real names have. They have at most 63 bytes each and 253 in total (RFC 1035). A
  /// single dot at the end names the same host and is dropped. A name that ends in a number must be an address of four
  /// decimal numbers: browsers also read `127.1` and `0x7f000001` as addresses (WHATWG URL, "ends in a number").
  init(name text: String) throws(URIError) {
    let ascii = text.utf8.allSatisfy { $0 < 0x80 } ? text : try InternationalDomainName.ascii(text)
    var bytes = ascii.utf8.map(CharacterClasses.lowercased)
    if bytes.last == UInt8(ascii: ".") { bytes.removeLast() }
    guard !bytes.isEmpty else { throw URIError(.badHost, "the host is empty") }
    guard bytes.count <= 253 else { throw URIError(.badHost, "the host has more than 253 characters") }
    let labels = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    for label in labels {
      guard !label.isEmpty else { throw URIError(.badHost, "the host has an empty label") }
      guard label.count <= 63 else { throw URIError(.badHost, "the host has a label of more than 63 characters") }
      for byte in label
      where !(CharacterClasses.isAlpha(byte) || CharacterClasses.isDigit(byte) || "-_".utf8.contains(byte)) {
        throw URIError(.badHost, "the host has the character \(CharacterClasses.name(Unicode.Scalar(byte)))")
      }
      guard label.first != UInt8(ascii: "-"), label.last != UInt8(ascii: "-") else {
        throw URIError(.badHost, "the host has a label that begins or ends with a hyphen")
      }
    }
    self.text = String(decoding: bytes, as: UTF8.self)
    if let last = labels.last, Host.isNumber(last) {
      guard Host.octets(labels) != nil else {
        throw URIError(.badHost, "the host ends in a number and is no IPv4 address")
      }
      kind = .ipv4
    } else {
      kind = .domain
    }
  }

  /// Reads an IPv6 address without its brackets. An address with a zone is rejected: a zone has no meaning on a tag.
  init(ipv6 text: String) throws(URIError) {
    guard let address = IPv6Address(text) else { throw URIError(.badHost, "the host is not an IPv6 address") }
    kind = .ipv6
    self.text = address.description
  }

  init(opaque text: String) {
    kind = .opaque
    self.text = text
  }

  private static func isNumber(_ label: ArraySlice<UInt8>) -> Bool {
    if label.allSatisfy(CharacterClasses.isDigit) { return true }
    return label.starts(with: "0x".utf8) && label.dropFirst(2).allSatisfy(CharacterClasses.isHexDigit)
  }

  /// The four bytes of an IPv4 address in decimal without leading zeros.
  static func octets(_ labels: [ArraySlice<UInt8>]) -> [UInt8]? {
    let octets = labels.compactMap(octet)
    return octets.count == 4 && labels.count == 4 ? octets : nil
  }

  private static func octet(_ label: ArraySlice<UInt8>) -> UInt8? {
    guard (1...3).contains(label.count), label.allSatisfy(CharacterClasses.isDigit) else { return nil }
    if label.count > 1, label.first == UInt8(ascii: "0") { return nil }
    return UInt8(String(decoding: label, as: UTF8.self))
  }
}

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

/// Internationalised domain names, converted by libidn2. Unicode Technical Standard #46 (non-transitional, as in
/// browsers) maps a name, and IDNA 2008 (RFC 5891) checks the result. Browsers skip that check, so they accept emoji,
/// which are rejected here.
enum InternationalDomainName {
  /// No domain name is longer in any form. A longer text is not passed to libidn2.
  private static let maximumLength = 1024

  /// The ASCII form of a name. Throws `badHost` if it has none.
  ///
  /// The caller has to check the labels of the result: UTS #46 maps some characters to ASCII ones that no host may
  /// have.
  static func ascii(_ name: String) throws(URIError) -> String {
    let flags = CInt(IDN2_NFC_INPUT.rawValue | IDN2_NONTRANSITIONAL.rawValue)
    var output: UnsafeMutablePointer<CChar>?
    guard name.utf8.count <= maximumLength else { throw URIError(.badHost, "the host is too long") }
    // libidn2 would take it as the end of the name.
    guard !name.utf8.contains(0) else { throw URIError(.badHost, "the host has the character U+0000") }
    // `name` is passed with a NUL at its end. libidn2 allocates `output`, which is freed here.
    let status = unsafe idn2_to_ascii_8z(name, &output, flags)
    defer { unsafe idn2_free(output) }
    guard status == IDN2_OK.rawValue, let output = unsafe output else {
      let reason = unsafe String(cString: idn2_strerror(status))
      throw URIError(.badHost, "the host is not an internationalised domain name: \(reason)")
    }
    return unsafe String(cString: output)
  }

  /// The Unicode form of one label. Nil if the label is not valid in IDNA 2008, or if its Unicode form has a different
  /// ASCII form.
  static func unicode(label: String) -> String? {
    var output: UnsafeMutablePointer<CChar>?
    guard label.utf8.count <= 63 else { return nil }
    // The same rules for memory as in `ascii(_:)`.
    let status = unsafe idn2_to_unicode_8z8z(label, &output, 0)
    defer { unsafe idn2_free(output) }
    guard status == IDN2_OK.rawValue, let output = unsafe output else { return nil }
    let unicode = unsafe String(cString: output)
    guard let again = try? ascii(unicode), again == label else { return nil }
    return unicode
  }
}
