import UniversalLinks

/// What came of asking a domain for a document.
public enum FetchOutcome: Sendable, Hashable {
  /// The domain has it. At most 128 KiB, and the `Cache-Control` that came with it.
  case found([UInt8], cacheControl: String?)
  /// The domain says that it has none (404 or 410): an answer, too.
  case absent
  /// There is no answer.
  case failed(FetchFailure)

  /// A file that is none of its kind is no answer.
  ///
  /// - Parameter document: what was asked for.
  /// - Returns: the same, or a failure that says where the file is wrong.
  public func checked(as document: AssociationDocument) -> FetchOutcome {
    guard case .found(let file, _) = self, let mistake = document.mistake(in: file) else { return self }
    return .failed(FetchFailure(.malformed, "the file is wrong: \(mistake)"))
  }
}

/// Why there is no answer.
public struct FetchFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// Kinds of failures. The raw values are what scripts read; more may come.
  public enum Code: String, Sendable, Hashable {
    /// The domain is none that is asked, or all its addresses are private.
    case refused = "refused"
    /// The name has no address.
    case name
    /// Nobody answers there.
    case connection
    /// The certificate is not the domain's, has expired, or nobody known has signed it.
    case certificate
    /// TLS of at least 1.2 cannot be spoken.
    case tls
    /// It took too long.
    case timeout
    /// The answer leads elsewhere.
    case redirect
    /// The answer has another status than 200, 404 and 410.
    case status
    /// The answer is larger than a document may be.
    case size
    /// The answer ended too early, or is no HTTP.
    case transfer
    /// The file is not what it should be.
    case malformed
  }

  /// What kind it is.
  public let code: Code
  /// Why, as a sentence without its full stop. Nothing that the other side has sent is in it, but for places and names in a
  /// file, quoted.
  public let message: String

  /// - Parameters:
  ///   - code: what kind it is.
  ///   - message: why, as a sentence without its full stop.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The message.
  public var description: String { message }
}
