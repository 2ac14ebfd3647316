/// Why a text is not a URI that may be acted on.
public struct URIError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What kind of mistake it is; new kinds may come.
  public struct Code: RawRepresentable, Sendable, Hashable {
    /// The kind's name, for logs and scripts.
    public let rawValue: String

    /// - Parameter rawValue: the kind's name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Longer than `URI.maximumLength`.
    public static let tooLong = Code(rawValue: "too-long")
    /// A character that RFC 3986 does not allow where it stands, control characters and backslashes among them.
    public static let forbiddenCharacter = Code(rawValue: "forbidden-character")
    /// A `%` that two hexadecimal digits do not follow.
    public static let badPercentEncoding = Code(rawValue: "bad-percent-encoding")
    /// No scheme, or one that is not spelled as RFC 3986 section 3.1 says.
    public static let badScheme = Code(rawValue: "bad-scheme")
    /// A scheme that runs code or reads local files, never taken from a tag.
    public static let forbiddenScheme = Code(rawValue: "forbidden-scheme")
    /// A user name or password in front of the host.
    public static let userInformation = Code(rawValue: "user-information")
    /// No host, or one that is neither a domain name nor an address.
    public static let badHost = Code(rawValue: "bad-host")
    /// A port that is not a number from 0 to 65535.
    public static let badPort = Code(rawValue: "bad-port")
  }

  /// What kind of mistake it is.
  public let code: Code
  /// What is wrong, as a sentence without its full stop. Holds nothing of the text but single characters and the scheme.
  public let message: String

  init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The message.
  public var description: String { message }
}
