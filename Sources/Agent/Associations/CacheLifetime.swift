/// How long an answer is current.
///
/// The server sets it with `Cache-Control` (RFC 9111, section 5.2.2), within bounds. The lower bound keeps the server
/// from being asked all the time. The upper bound ends the trust in a handler that the domain no longer names.
package enum CacheLifetime {
  /// In seconds: from an hour to seven days.
  package static let bounds: ClosedRange<Int64> = 3600...604_800
  /// In seconds: a day. Used if the server sets no time.
  package static let standard: Int64 = 86_400

  /// The seconds, within ``bounds``, from the value of the field as it was sent.
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

  /// Parses a time in seconds. A number that is too large becomes the largest (RFC 9111, section 1.2.2).
  private static func deltaSeconds(_ text: String) -> Int64? {
    let digits = text.hasPrefix("\"") && text.hasSuffix("\"") ? String(text.dropFirst().dropLast()) : text
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int64(digits) ?? .max
  }
}
