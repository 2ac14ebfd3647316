/// A URI in the normalised spelling that is compared, displayed and passed on.
///
/// RFC 3986 with these choices, which are those of the URL Standard (WHATWG) where people's spelling needs a repair that
/// cannot change the meaning:
/// - The scheme is lower-cased. The host of an http or https URI is lower-cased too, and is in IDNA form (`Host`).
/// - User information is refused: `https://example.com@evil.example/` leads to `evil.example`.
/// - Spaces and control characters at both ends are dropped. Control characters inside are refused.
/// - Characters after the host that RFC 3986 does not allow are percent-encoded, non-ASCII ones as UTF-8 (RFC 3987
///   section 3.1): spaces, brackets, a second `#`, a `%` without digits and others. The URI record of the NFC Forum
///   allows non-ASCII characters.
/// - A backslash in front of or in the path of an http or https URI is refused, because browsers take it for a slash.
/// - Paths, queries and fragments otherwise stay as they were written.
public struct URI: Sendable, Hashable, CustomStringConvertible {
  /// The maximum length of a URI in bytes of UTF-8, before and after percent-encoding.
  public static let maximumLength = 8192

  /// Lower-case, without its colon.
  public let scheme: String
  /// The part between `//` and the port or the path; nil if there is no `//`.
  public let host: Host?
  /// The port; nil if the URI names none.
  public let port: UInt16?
  /// The path, possibly empty, percent-encoded.
  public let path: String
  /// The part after the first `?`, percent-encoded.
  public let query: String?
  /// The part after the first `#`, percent-encoded.
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

  /// The domain name that is responsible for this link, or nil.
  ///
  /// Nil for schemes other than http and https, for addresses, and for a port other than the scheme's own. A domain
  /// does not speak for the servers on its other ports.
  public var linkDomain: String? {
    guard isWeb, let host, host.kind == .domain else { return nil }
    guard port == nil || port == (scheme == "https" ? 443 : 80) else { return nil }
    return host.text
  }

  /// Parses `text`.
  ///
  /// - Parameter text: the URI as the tag holds it.
  /// - Throws: `URIError` with the reason.
  public init(_ text: String) throws(URIError) {
    var parser = try URIParser(text)
    scheme = try parser.scheme()
    let isWeb = scheme == "http" || scheme == "https"
    let authority = try parser.authority(isWeb: isWeb)
    host = authority?.host
    port = authority?.port
    path = try parser.path(isWeb: isWeb)
    query = parser.query()
    fragment = parser.fragment()
    guard string.utf8.count <= URI.maximumLength else {
      throw URIError(.tooLong, "the URI has more than \(URI.maximumLength) bytes")
    }
  }
}
