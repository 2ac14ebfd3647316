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
