/// The domains that a handler claims: one host, or all below one.
///
/// Written as in Apple's associated domains: `example.com` is that host alone, `*.example.com` every host below it at any
/// depth and not `example.com` itself.
public struct DomainPattern: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The domain without its `*.`, in IDNA form.
  public let domain: String
  /// Whether it means what is below `domain`.
  public let isWildcard: Bool

  /// Reads a pattern.
  ///
  /// - Parameter text: a domain name, or `*.` and a domain name of at least two labels.
  /// - Throws: `URIError` with the code `badHost`.
  public init(_ text: String) throws(URIError) {
    isWildcard = text.hasPrefix("*.")
    let host = try Host(name: isWildcard ? String(text.dropFirst(2)) : text)
    guard host.kind == .domain else { throw URIError(.badHost, "an address is not a domain") }
    guard !isWildcard || host.text.utf8.contains(UInt8(ascii: ".")) else {
      throw URIError(.badHost, "a wildcard over a top-level domain is not allowed")
    }
    domain = host.text
  }

  /// Whether the pattern covers `host`, a domain name in IDNA form.
  public func matches(_ host: String) -> Bool {
    isWildcard ? host.hasSuffix("." + domain) && host.utf8.count > domain.utf8.count + 1 : host == domain
  }

  /// The pattern as it is written in a desktop entry.
  public var description: String { isWildcard ? "*." + domain : domain }

  /// In the order of the text.
  public static func < (a: DomainPattern, b: DomainPattern) -> Bool { a.description < b.description }
}
