/// A URI that was parsed strictly, in the one spelling that is compared, shown and handed on.
///
/// RFC 3986 with these choices:
/// - the scheme is lower-cased, and the host of an http or https URI too; such a host is in IDNA form (`Host`);
/// - user information is refused, for `https://example.com@evil.example/` leads to `evil.example`;
/// - control characters, spaces, backslashes and all else that RFC 3986 does not allow are refused, not repaired;
/// - non-ASCII characters after the host are percent-encoded as UTF-8 (RFC 3987 section 3.1), as the URI record of the
///   NFC Forum allows them;
/// - paths, queries and fragments are otherwise left as they were written.
public struct URI: Sendable, Hashable, CustomStringConvertible {
  /// The longest URI that is taken, in bytes of UTF-8, before and after percent-encoding.
  public static let maximumLength = 8192

  /// Lower-case, without its colon.
  public let scheme: String
  /// What stands between `//` and the port or the path; nil where there is no `//`.
  public let host: Host?
  /// The port, where one was given.
  public let port: UInt16?
  /// The path, possibly empty, percent-encoded.
  public let path: String
  /// What stands after the first `?`, percent-encoded.
  public let query: String?
  /// What stands after the first `#`, percent-encoded.
  public let fragment: String?

  /// The whole URI.
  public var string: String {
    var result = scheme + ":"
    if let host {
      result += "//\(host)"
      if let port { result += ":\(port)" }
    }
    result += path
    if let query { result += "?" + query }
    if let fragment { result += "#" + fragment }
    return result
  }

  /// The whole URI.
  public var description: String { string }

  /// Whether the scheme is http or https.
  public var isWeb: Bool { scheme == "http" || scheme == "https" }

  /// The domain name whose owner answers for this link, or nil.
  ///
  /// Nil for other schemes than http and https, for addresses, and where a port is named other than the scheme's own: a
  /// domain says nothing about what listens on its other ports.
  public var linkDomain: String? {
    guard isWeb, let host, host.kind == .domain else { return nil }
    guard port == nil || port == (scheme == "https" ? 443 : 80) else { return nil }
    return host.text
  }

  /// Parses `text`.
  ///
  /// - Parameter text: the URI as a tag holds it. Nothing is trimmed.
  /// - Throws: `URIError`, which names what is wrong.
  public init(_ text: String) throws(URIError) {
    var parser = try URIParser(text)
    scheme = try parser.scheme()
    let authority = try parser.authority(isWeb: scheme == "http" || scheme == "https")
    host = authority?.host
    port = authority?.port
    path = try parser.path()
    query = try parser.query()
    fragment = try parser.fragment()
    guard string.utf8.count <= URI.maximumLength else {
      throw URIError(.tooLong, "the URI has more than \(URI.maximumLength) bytes")
    }
  }
}
