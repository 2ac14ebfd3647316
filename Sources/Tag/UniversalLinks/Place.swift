/// A place on Earth: a `geo:` URI (RFC 5870), with the label that maps of phones write in its query:
/// `geo:48.2010,16.3695?q=48.2010,16.3695(Café)`.
package struct Place: Sendable, Hashable {
  /// In degrees of WGS 84: a decimal number as it is written.
  package let latitude: String
  package let longitude: String
  /// Empty if there is none.
  package var label = ""

  /// A latitude and a longitude with a comma in between, and an altitude or none. Nil for any other text.
  package init?(coordinates text: some StringProtocol) {
    let parts = String(text).split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    guard (2...3).contains(parts.count), Self.isNumber(parts[0], upTo: 90), Self.isNumber(parts[1], upTo: 180),
      parts.count == 2 || Self.isNumber(parts[2], upTo: .infinity)
    else { return nil }
    (latitude, longitude) = (parts[0], parts[1])
  }

  /// Nil if the URI is no `geo:` URI, or has coordinates in another system.
  package init?(_ uri: URI) {
    let parts = uri.path.lowercased().split(separator: ";", omittingEmptySubsequences: false)
    guard uri.scheme == "geo", let coordinates = parts.first, let place = Place(coordinates: coordinates),
      parts.allSatisfy({ !$0.hasPrefix("crs=") || $0 == "crs=wgs84" })
    else { return nil }
    let query = uri.query?.split(separator: "&").first { $0.hasPrefix("q=") } ?? ""
    let question = PercentEncoding.decoded(String(query.dropFirst(2).map { $0 == "+" ? " " : $0 }))
    // The coordinates in the query are those of the place, also if the others are 0,0.
    if question.hasSuffix(")"), let open = question.firstIndex(of: "("),
      let marked = Place(coordinates: question[..<open])
    {
      self = marked
      label = String(question[question.index(after: open)...].dropLast())
    } else if let marked = Place(coordinates: question) {
      self = marked
    } else {
      self = place
      label = question
    }
  }

  /// RFC 5870, section 3.3: `num`.
  private static func isNumber(_ text: String, upTo most: Double) -> Bool {
    let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
    let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
    let isDecimal = parts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
    guard (1...2).contains(parts.count), isDecimal, let number = Double(digits) else { return false }
    return number <= most
  }
}
