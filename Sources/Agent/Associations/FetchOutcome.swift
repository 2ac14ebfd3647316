import UniversalLinks

/// The result of asking a domain for a document.
package enum FetchOutcome: Sendable, Hashable {
  /// The domain has this document of at most 128 KiB, sent with this `Cache-Control`.
  case found([UInt8], cacheControl: String?)
  /// The domain has no such document (404 or 410). That is an answer too.
  case absent
  /// There is no answer.
  case failed(FetchFailure)

  /// This outcome, or for an invalid file of this kind a failure with the place of the error.
  package func checked(as document: AssociationDocument) -> FetchOutcome {
    guard case .found(let file, _) = self, let mistake = document.mistake(in: file) else { return self }
    return .failed(FetchFailure(.malformed, "the file is wrong: \(mistake)"))
  }
}

/// Why there is no answer.
package struct FetchFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kinds of failures. Scripts read the raw values. More may be added.
  package enum Code: String, Sendable, Hashable {
    /// The domain is one that is never asked, or all its addresses are private.
    case refused = "refused"
    /// The name has no address.
    case name
    /// There is no connection to a server, or the request could not be made.
    case connection
    /// The certificate is for another domain, has expired, or is not signed by a known authority.
    case certificate
    /// A TLS connection of at least version 1.2 cannot be established.
    case tls
    /// The request took too long.
    case timeout
    /// The answer is a redirect.
    case redirect
    /// The status is not 200, 404 or 410, nor a redirect.
    case status
    /// The answer is larger than a document may be.
    case size
    /// The answer ended too early, or is not HTTP.
    case transfer
    /// The file is not a valid document.
    case malformed
  }

  /// The kind of failure.
  package let code: Code
  /// The reason, as a sentence without its full stop. It repeats no data from the server except locations and quoted
  /// names in a file.
  package let message: String

  /// The message is a sentence without its full stop.
  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The message.
  package var description: String { message }
}
