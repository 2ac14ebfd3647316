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

/// Why a text is rejected or refused as a URI.
public struct URIError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of error. New kinds may be added.
  public struct Code: RawRepresentable, Sendable, Hashable {
    /// The kind's name, for logs and scripts.
    public let rawValue: String

    /// - Parameter rawValue: the kind's name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Longer than `URI.maximumLength`.
    public static let tooLong = Code(rawValue: "too-long")
    /// A control character, or a backslash in front of or in the path of a web link.
    public static let forbiddenCharacter = Code(rawValue: "forbidden-character")
    /// No scheme, or one that breaks the syntax of RFC 3986 section 3.1.
    public static let badScheme = Code(rawValue: "bad-scheme")
    /// A scheme that runs code or reads local files. It is never opened from a tag.
    public static let forbiddenScheme = Code(rawValue: "forbidden-scheme")
    /// A user name or password in front of the host.
    public static let userInformation = Code(rawValue: "user-information")
    /// No host, or one that is neither a domain name nor an address.
    public static let badHost = Code(rawValue: "bad-host")
    /// A port that is not a number from 0 to 65535.
    public static let badPort = Code(rawValue: "bad-port")
  }

  /// The kind of error.
  public let code: Code
  /// The reason, as a sentence without its full stop. It quotes only single characters and the scheme of the text.
  public let message: String

  init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The message.
  public var description: String { message }
}

/// Splits a URI into its components from start to end, following RFC 3986 appendix B.
struct URIParser {
  private var rest: Substring.UTF8View

  init(_ written: String) throws(URIError) {
    let text = Self.trimmed(written)
    guard text.utf8.count <= URI.maximumLength else {
      throw URIError(.tooLong, "the URI has more than \(URI.maximumLength) bytes")
    }
    for scalar in text.unicodeScalars where scalar.properties.generalCategory == .control {
      throw URIError(.forbiddenCharacter, "the URI has the control character \(CharacterClasses.name(scalar))")
    }
    rest = text.utf8
  }

  /// The text without spaces and control characters at its ends (WHATWG URL, "basic URL parser", step 1).
  private static func trimmed(_ text: String) -> Substring {
    let isPadding = { (scalar: Unicode.Scalar) in scalar.value <= 0x20 }
    var scalars = text.unicodeScalars[...]
    scalars = scalars.drop(while: isPadding)
    while let last = scalars.last, isPadding(last) { scalars.removeLast() }
    return Substring(scalars)
  }

  mutating func scheme() throws(URIError) -> String {
    guard let colon = rest.firstIndex(of: UInt8(ascii: ":")) else {
      throw URIError(.badScheme, "the URI has no scheme")
    }
    let name = rest[..<colon]
    guard let first = name.first, CharacterClasses.isAlpha(first), name.allSatisfy(CharacterClasses.isSchemeCharacter)
    else {
      throw URIError(.badScheme, "what stands before the first colon is not a scheme")
    }
    rest = rest[colon...].dropFirst()
    let scheme = String(decoding: name.map(CharacterClasses.lowercased), as: UTF8.self)
    guard !URI.forbiddenSchemes.contains(scheme) else {
      throw URIError(.forbiddenScheme, "\(scheme) links are never opened from a tag")
    }
    return scheme
  }

  mutating func authority(isWeb: Bool) throws(URIError) -> (host: Host, port: UInt16?)? {
    guard rest.starts(with: "//".utf8) else {
      if isWeb { throw URIError(.badHost, "a web link needs // and a host after its scheme") }
      return nil
    }
    rest = rest.dropFirst(2)
    let authority = take(until: "/?#")
    guard !authority.utf8.contains(UInt8(ascii: "@")) else {
      throw URIError(.userInformation, "the URI has user information before its host")
    }
    if authority.utf8.contains(UInt8(ascii: "\\")) {
      throw URIError(.forbiddenCharacter, "the URI has a backslash before its path")
    }
    if authority.hasPrefix("[") {
      guard let bracket = authority.firstIndex(of: "]") else {
        throw URIError(.badHost, "the host has a bracket that is never closed")
      }
      let address = String(authority[..<bracket].dropFirst())
      return (try Host(ipv6: address), try port(authority[bracket...].dropFirst()))
    }
    let colon = authority.firstIndex(of: ":") ?? authority.endIndex
    let name = authority[..<colon]
    let port = try port(authority[colon...])
    if isWeb { return (try Host(name: String(name)), port) }
    for scalar in name.unicodeScalars {
      guard scalar.isASCII, let byte = scalar.utf8.first,
        CharacterClasses.isUnreserved(byte) || CharacterClasses.isSubDelimiter(byte)
      else {
        throw URIError(.badHost, "the host has the character \(CharacterClasses.name(scalar))")
      }
    }
    return (Host(opaque: String(name)), port)
  }

  mutating func path(isWeb: Bool) throws(URIError) -> String {
    let path = take(until: "?#")
    // Browsers take it for a slash.
    if isWeb, path.utf8.contains(UInt8(ascii: "\\")) {
      throw URIError(.forbiddenCharacter, "the path has a backslash")
    }
    return Self.encoded(path, CharacterClasses.isPathCharacter)
  }

  mutating func query() -> String? {
    guard rest.first == UInt8(ascii: "?") else { return nil }
    rest = rest.dropFirst()
    return Self.encoded(take(until: "#"), CharacterClasses.isQueryCharacter)
  }

  mutating func fragment() -> String? {
    guard rest.first == UInt8(ascii: "#") else { return nil }
    rest = rest.dropFirst()
    return Self.encoded(take(until: ""), CharacterClasses.isQueryCharacter)
  }

  private mutating func take(until delimiters: String) -> Substring {
    let end = rest.firstIndex { delimiters.utf8.contains($0) } ?? rest.endIndex
    defer { rest = rest[end...] }
    return Substring(rest[..<end])
  }

  /// `text` starts with the colon, or is empty.
  private func port(_ text: Substring) throws(URIError) -> UInt16? {
    guard !text.isEmpty else { return nil }
    let digits = text.dropFirst()
    guard text.hasPrefix(":"), digits.utf8.allSatisfy(CharacterClasses.isDigit) else {
      throw URIError(.badPort, "the port is not a number")
    }
    guard !digits.isEmpty else { return nil }
    guard let port = UInt16(digits) else { throw URIError(.badPort, "the port is above 65535") }
    return port
  }

  /// Percent-encodes everything that is not allowed, and each `%` that no two hexadecimal digits follow.
  private static func encoded(_ text: Substring, _ isAllowed: (UInt8) -> Bool) -> String {
    var result: [UInt8] = []
    var bytes = text.utf8[...]
    while let byte = bytes.popFirst() {
      let digits = bytes.prefix(2)
      let isEncoded = byte == UInt8(ascii: "%") && digits.count == 2 && digits.allSatisfy(CharacterClasses.isHexDigit)
      if isEncoded || isAllowed(byte) {
        result.append(byte)
      } else {
        result += CharacterClasses.percentEncoded(byte)
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}

/// The character classes of RFC 3986, under the names used there, for bytes of UTF-8.
enum CharacterClasses {
  static func isAlpha(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
  }

  static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  static func isHexDigit(_ byte: UInt8) -> Bool { hexValue(byte) != nil }

  static func hexValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  static func percentEncoded(_ byte: UInt8) -> [UInt8] {
    let digits = Array("0123456789ABCDEF".utf8)
    return [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
  }

  static func isUnreserved(_ byte: UInt8) -> Bool {
    isAlpha(byte) || isDigit(byte) || "-._~".utf8.contains(byte)
  }

  static func isSubDelimiter(_ byte: UInt8) -> Bool { "!$&'()*+,;=".utf8.contains(byte) }

  static func isPathCharacter(_ byte: UInt8) -> Bool {
    isUnreserved(byte) || isSubDelimiter(byte) || ":@/".utf8.contains(byte)
  }

  static func isQueryCharacter(_ byte: UInt8) -> Bool { isPathCharacter(byte) || byte == UInt8(ascii: "?") }

  static func isSchemeCharacter(_ byte: UInt8) -> Bool { isAlpha(byte) || isDigit(byte) || "+-.".utf8.contains(byte) }

  static func lowercased(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }

  /// A character as an error message may show it: a visible ASCII character in quotation marks, any other as its code
  /// point.
  static func name(_ scalar: Unicode.Scalar) -> String {
    let visible = (0x21...0x7E).contains(scalar.value)
    let hex = String(scalar.value, radix: 16, uppercase: true)
    return visible ? "\"\(scalar)\"" : "U+" + String(repeating: "0", count: max(0, 4 - hex.count)) + hex
  }
}

extension URI {
  /// Schemes that no tag may open, regardless of the installed applications. They run code in the application that
  /// displays them, reach local files, or name things inside one program.
  public static let forbiddenSchemes: Set<String> = [
    "about", "admin", "afc", "android-app", "archive", "blob", "burn", "cdda", "chrome", "chrome-error",
    "chrome-extension", "chrome-search", "chrome-untrusted", "computer", "content", "data", "devtools", "dns-sd",
    "edge",
    "feed", "file", "filesystem", "ghelp", "gopher", "help", "info", "intent", "jar", "javascript", "livescript",
    "localtest", "man", "mocha", "moz-extension", "moz-icon", "network", "opera", "recent", "res", "resource", "shell",
    "starred", "thismessage", "trash", "vbs", "vbscript", "view-source", "wyciwyg",
  ]
}
