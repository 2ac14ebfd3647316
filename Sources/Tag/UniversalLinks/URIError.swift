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
