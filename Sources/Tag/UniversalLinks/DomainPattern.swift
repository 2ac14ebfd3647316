/// The domains that a handler claims: one host, or all hosts below a domain.
///
/// The syntax is that of Apple's associated domains. `example.com` is only that host. `*.example.com` is every host
/// below it at any depth, but not `example.com` itself.
public struct DomainPattern: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The domain without its `*.`, in IDNA form.
  public let domain: String
  /// Whether the pattern covers the hosts below `domain` rather than `domain` itself.
  public let isWildcard: Bool

  /// Reads a pattern.
  ///
  /// A wildcard over a public suffix (`*.com`, `*.co.uk`, `*.github.io`) is refused: it would cover the domains of
  /// strangers.
  ///
  /// - Parameters:
  ///   - text: a domain name, with `*.` in front of it for a wildcard.
  ///   - suffixes: the list of public suffixes.
  /// - Throws: `URIError` with the code `badHost`.
  public init(_ text: String, suffixes: PublicSuffixList = .system) throws(URIError) {
    isWildcard = text.hasPrefix("*.")
    let host = try Host(name: isWildcard ? String(text.dropFirst(2)) : text)
    guard host.kind == .domain else { throw URIError(.badHost, "an address is not a domain") }
    guard !isWildcard || !suffixes.isPublicSuffix(host.text) else {
      throw URIError(
        .badHost, "a wildcard would cover the domains of strangers: everybody can register below \(host.text)")
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
