/// How long an answer is taken for current.
///
/// What the server says in `Cache-Control` (RFC 9111, section 5.2.2), within bounds: not so short that it is asked all the
/// time, not so long that a handler which the domain no longer names stays trusted.
public enum CacheLifetime {
  /// In seconds, from an hour to seven days.
  public static let bounds: ClosedRange<Int64> = 3600...604_800
  /// In seconds, where the server says nothing: a day.
  public static let standard: Int64 = 86_400

  /// - Parameter cacheControl: the field's value, as it was sent.
  /// - Returns: seconds, within ``bounds``.
  public static func seconds(_ cacheControl: String?) -> Int64 {
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

  /// What is too large for a number means the largest (RFC 9111, section 1.2.2).
  private static func deltaSeconds(_ text: String) -> Int64? {
    let digits = text.hasPrefix("\"") && text.hasSuffix("\"") ? String(text.dropFirst().dropLast()) : text
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int64(digits) ?? .max
  }
}
