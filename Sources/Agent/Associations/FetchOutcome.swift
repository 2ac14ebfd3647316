import UniversalLinks

/// The result of asking a domain for a document.
package enum FetchOutcome: Sendable, Hashable {
  /// The domain has this document of at most 128 KiB, sent with this `Cache-Control`.
  case found([UInt8], cacheControl: String?)
  /// The domain has no such document (404 or 410). That is an answer too.
  case absent
  case failed(FetchFailure)

  /// This outcome, or for an invalid file of this kind a failure with the place of the error.
  package func checked(as document: AssociationDocument) -> FetchOutcome {
    guard case .found(let file, _) = self, let mistake = document.mistake(in: file) else { return self }
    return .failed(FetchFailure(.malformed, "the file is wrong: \(mistake)"))
  }
}

package struct FetchFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// Scripts read the raw values. More may be added.
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
    case timeout
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

  package let code: Code
  /// A sentence without its full stop. It repeats no data from the server except locations and quoted names in a file.
  package let message: String

  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  package var description: String { message }
}

/// How long an answer is current.
///
/// The server sets it with `Cache-Control` (RFC 9111, section 5.2.2), within bounds. The lower bound keeps the server
/// from being asked all the time. The upper bound ends the trust in a handler that the domain no longer names.
package enum CacheLifetime {
  /// In seconds: from an hour to seven days.
  package static let bounds: ClosedRange<Int64> = 3600...604_800
  /// In seconds: a day. Used if the server sets no time.
  package static let standard: Int64 = 86_400

  /// Within ``bounds``. `cacheControl` is the value of the field as it was sent.
  package static func seconds(_ cacheControl: String?) -> Int64 {
    var lifetime = standard
    for directive in (cacheControl ?? "").lowercased().split(separator: ",") {
      let parts = directive.split(separator: "=", maxSplits: 1).map { part in
        String(part.drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
      }
      switch parts.first {
      case "no-store"?, "no-cache"?: return bounds.lowerBound
      case "max-age"?:
        guard let text = parts.dropFirst().first, let seconds = deltaSeconds(text) else { continue }
        lifetime = min(max(seconds, bounds.lowerBound), bounds.upperBound)
      default: continue
      }
    }
    return lifetime
  }

  /// A number that is too large becomes the largest (RFC 9111, section 1.2.2).
  private static func deltaSeconds(_ text: String) -> Int64? {
    let digits = text.hasPrefix("\"") && text.hasSuffix("\"") ? String(text.dropFirst().dropLast()) : text
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int64(digits) ?? .max
  }
}
