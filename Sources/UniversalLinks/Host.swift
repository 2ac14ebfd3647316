/// The host of a URI, in the one spelling that is compared.
public struct Host: Sendable, Hashable, CustomStringConvertible {
  /// What a host can be.
  public enum Kind: Sendable, Hashable {
    /// A domain name in IDNA form: lower-case letters, digits and hyphens in labels.
    case domain
    /// An IPv4 address as four decimal numbers.
    case ipv4
    /// An IPv6 address in the spelling of RFC 5952, without its brackets.
    case ipv6
    /// Whatever a scheme other than http and https puts there, as it was written.
    case opaque
  }

  /// What it is.
  public let kind: Kind
  /// The host without brackets.
  public let text: String

  /// The host as it stands in a URI, an IPv6 address in brackets.
  public var description: String { kind == .ipv6 ? "[\(text)]" : text }

  /// A domain name or an IPv4 address as http and https have it.
  ///
  /// What is not ASCII becomes it (UTS #46, IDNA 2008). Stricter than RFC 3986 section 3.2.2, which allows percent-encoding
  /// and any sub-delimiter: labels are letters, digits and inner hyphens (RFC 1123 section 2.1) of at most 63 bytes, the whole
  /// has at most 253 (RFC 1035). A single dot at the end names the same host and is dropped. What ends in a number must be an
  /// address of four decimal numbers, for browsers read `127.1` and `0x7f000001` as addresses too (WHATWG URL, "ends in a number").
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
      where !(CharacterClasses.isAlpha(byte) || CharacterClasses.isDigit(byte) || byte == UInt8(ascii: "-")) {
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

  /// An IPv6 address without its brackets; a zone has no meaning on a tag and is refused.
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

  /// The four bytes of an IPv4 address, each written in decimal without leading zeros.
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
