/// A strictly parsed URI, in the normalised spelling that is compared, displayed and passed on.
///
/// RFC 3986 with these choices:
/// - The scheme is lower-cased. The host of an http or https URI is lower-cased too, and is in IDNA form (`Host`).
/// - User information is refused: `https://example.com@evil.example/` leads to `evil.example`.
/// - Control characters, spaces, backslashes and all other characters that RFC 3986 does not allow are rejected, not
///   repaired.
/// - Non-ASCII characters after the host are percent-encoded as UTF-8 (RFC 3987 section 3.1). The URI record of the NFC
///   Forum allows such characters.
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
  /// - Parameter text: the URI exactly as the tag holds it. It is not trimmed.
  /// - Throws: `URIError` with the reason.
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
