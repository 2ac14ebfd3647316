import Names

/// A condition on a whole link: the link itself, or a pattern.
///
/// A text with `*` or `$(` is a pattern. Its host is a domain pattern, and its path, query and fragment are patterns in
/// the syntax of path rules, each compared with its own part of the link. So no wildcard crosses the border of the
/// host. A query or fragment that the pattern does not have may have any value.
public struct LinkCondition: Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    case exact(URI)
    case pattern(scheme: String, host: HostCondition, rule: LinkRule)
  }

  /// The hosts that a pattern covers.
  enum HostCondition: Sendable, Hashable {
    /// No host.
    case none
    /// The hosts of a web link without a port.
    case domain(DomainPattern)
    /// The host and port of another link, as they are written.
    case text(String)

    func covers(_ uri: URI) -> Bool {
      switch self {
      case .none: return uri.host == nil
      case .domain(let pattern): return uri.linkDomain.map(pattern.matches) ?? false
      case .text(let text): return uri.host.map { "\($0)\(uri.port.map { ":\($0)" } ?? "")" } == text
      }
    }
  }

  /// The most bytes of a pattern. It bounds the time that one condition takes.
  public static let maximumPatternLength = 1024

  /// The condition as it was written.
  public let text: String
  let kind: Kind

  /// Reads a link or a pattern.
  ///
  /// - Parameter text: for example `https://example.com/menu`, `https://*.example.com/menu/*` or `tel:+1*`.
  /// - Throws: `AssociationError` with the reason.
  public init(_ text: String) throws(AssociationError) {
    self.text = text
    guard text.contains("*") || text.contains("$(") else {
      do throws(URIError) { kind = .exact(try URI(text)) } catch { throw AssociationError(error.message) }
      return
    }
    guard text.utf8.count <= Self.maximumPatternLength else {
      throw AssociationError("a pattern has at most \(Self.maximumPatternLength) bytes")
    }
    guard let colon = text.firstIndex(of: ":"), Self.isScheme(text[..<colon]) else {
      throw AssociationError("a pattern begins with a scheme, such as https: or tel:, which has no wildcard")
    }
    let scheme = text[..<colon].lowercased()
    let (host, rest) = try Self.host(of: text[text.index(after: colon)...], scheme: scheme)
    let hash = rest.firstIndex(of: "#") ?? rest.endIndex
    let mark = rest[..<hash].firstIndex(of: "?") ?? hash
    let path = host == .none || mark > rest.startIndex ? String(rest[..<mark]) : "/"
    let query = mark < hash ? String(rest[rest.index(after: mark)..<hash]) : nil
    let fragment = hash < rest.endIndex ? String(rest[rest.index(after: hash)...]) : nil
    kind = .pattern(
      scheme: scheme, host: host,
      rule: LinkRule(
        location: "", isExclusion: false, comparison: LinkPattern.Comparison(), path: try LinkPattern(path),
        query: try query.map { text throws(AssociationError) in .whole(try LinkPattern(text)) },
        fragment: try fragment.map { text throws(AssociationError) in try LinkPattern(text) }))
  }

  /// The host of a pattern, and the text behind it. `text` begins after the colon of the scheme.
  private static func host(
    of text: Substring, scheme: String
  ) throws(AssociationError) -> (HostCondition, Substring) {
    let isWeb = scheme == "http" || scheme == "https"
    guard text.hasPrefix("//") else {
      guard !isWeb else { throw AssociationError("a pattern for \(scheme) has // and a domain after the colon") }
      return (.none, text)
    }
    let authority = text.dropFirst(2).prefix { !"/?#".contains($0) }
    let rest = text[authority.endIndex...]
    if isWeb {
      do throws(URIError) { return (.domain(try DomainPattern(String(authority))), rest) } catch {
        throw AssociationError("the domain \(JSONReader.quoted(String(authority))) is invalid: \(error.message)")
      }
    }
    guard !authority.contains("*"), !authority.contains("$(") else {
      throw AssociationError("only the domain of an http or https pattern may have a wildcard, *. at its beginning")
    }
    return (.text(String(authority)), rest)
  }

  private static func isScheme(_ text: Substring) -> Bool {
    guard let first = text.utf8.first, Character(Unicode.Scalar(first)).isLetter, first < 0x80 else { return false }
    return text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."): true
      default: false
      }
    }
  }
}
