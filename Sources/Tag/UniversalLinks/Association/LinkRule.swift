/// One rule of an association file: the links that it covers, and whether it admits or excludes them.
public struct LinkRule: Sendable, Hashable {
  /// The condition on the query of a link.
  enum Query: Sendable, Hashable {
    case whole(LinkPattern)
    /// Each of these items has to match. Other items may have any value.
    case items([Item])
  }

  struct Item: Sendable, Hashable {
    /// UTF-8.
    let name: [UInt8]
    let pattern: LinkPattern
  }

  /// Its location in the file: `applinks.details[0].components[2]`.
  public let location: String
  /// Whether matching links are excluded.
  public let isExclusion: Bool
  let comparison: LinkPattern.Comparison
  let path: LinkPattern?
  let query: Query?
  let fragment: LinkPattern?

  /// The cost of a rule without patterns.
  static let ownCost = 3

  /// The maximum cost of trying the rule on a link, in the unit of pattern costs.
  var cost: Int {
    let patterns: [LinkPattern?]
    switch query {
    case nil: patterns = [path, fragment]
    case .whole(let pattern)?: patterns = [path, fragment, pattern]
    case .items(let items)?: patterns = [path, fragment] + items.map(\.pattern)
    }
    return patterns.reduce(1) { $0 + 1 + ($1?.cost ?? 0) }
  }

  /// Whether the rule covers this link. Parts that the rule does not name may have any value.
  func covers(_ link: LinkParts, steps: inout MatchingSteps) -> Bool {
    if let path, !link.path.isCovered(by: path, steps: &steps) { return false }
    if let fragment, !link.fragment.isCovered(by: fragment, steps: &steps) { return false }
    switch query {
    case nil: return true
    case .whole(let pattern)?: return link.query.isCovered(by: pattern, steps: &steps)
    case .items(let items)?:
      for item in items {
        steps.take(1)
        for value in link.values(of: item.name) where !value.isCovered(by: item.pattern, steps: &steps) { return false }
      }
      return true
    }
  }
}

/// The parts of a link that rules examine, prepared for one kind of comparison.
struct LinkParts {
  let path: LinkPatternSubject
  let query: LinkPatternSubject
  let fragment: LinkPatternSubject
  /// The key is the UTF-8 of the name, because Swift can treat two texts as equal that are different names to a server.
  private let items: [[UInt8]: [LinkPatternSubject]]
  private let missing: [LinkPatternSubject]

  init(_ uri: URI, _ comparison: LinkPattern.Comparison) {
    // RFC 3986 section 6.2.3: an empty path is the root.
    path = LinkPatternSubject(uri.path.isEmpty ? "/" : uri.path, comparison)
    query = LinkPatternSubject(uri.query ?? "", comparison)
    fragment = LinkPatternSubject(uri.fragment ?? "", comparison)
    var items: [[UInt8]: [LinkPatternSubject]] = [:]
    for item in (uri.query ?? "").split(separator: "&") {
      let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      items[Array(PercentEncoding.decoded(parts[0]).utf8), default: []].append(
        LinkPatternSubject(parts.count == 2 ? parts[1] : "", comparison))
    }
    self.items = items
    missing = [LinkPatternSubject("", comparison)]
  }

  /// All values of an item, or one empty value if the link does not have the item.
  func values(of item: [UInt8]) -> [LinkPatternSubject] { items[item] ?? missing }

  /// The steps that their creation took.
  var cost: Int {
    items.values.joined().reduce(path.cost + query.cost + fragment.cost) { $0 + $1.cost }
  }
}
