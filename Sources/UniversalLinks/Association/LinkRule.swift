/// One rule of an association file: which links it is about, and whether it lets them in or keeps them out.
public struct LinkRule: Sendable, Hashable {
  /// What a query has to be.
  enum Query: Sendable, Hashable {
    case whole(LinkPattern)
    /// Each of these items; what is not named may be anything.
    case items([Item])
  }

  struct Item: Sendable, Hashable {
    /// UTF-8.
    let name: [UInt8]
    let pattern: LinkPattern
  }

  /// Where it stands in its file: `applinks.details[0].components[2]`.
  public let location: String
  /// Whether links that match are kept out.
  public let isExclusion: Bool
  let comparison: LinkPattern.Comparison
  let path: LinkPattern?
  let query: Query?
  let fragment: LinkPattern?

  /// What a rule without patterns costs.
  static let ownCost = 3

  /// What trying it on a link takes at most, in patterns' costs.
  var cost: Int {
    let patterns: [LinkPattern?]
    switch query {
    case nil: patterns = [path, fragment]
    case .whole(let pattern)?: patterns = [path, fragment, pattern]
    case .items(let items)?: patterns = [path, fragment] + items.map(\.pattern)
    }
    return patterns.reduce(1) { $0 + 1 + ($1?.cost ?? 0) }
  }

  /// Whether the rule is about this link. What the rule does not name may be anything.
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

/// The parts of a link that rules look at, for one kind of comparison.
struct LinkParts {
  let path: LinkPatternSubject
  let query: LinkPatternSubject
  let fragment: LinkPatternSubject
  /// By the bytes of their names: two texts are equal in Swift where a server has two names.
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

  /// All values of an item; one empty value where it is not there.
  func values(of item: [UInt8]) -> [LinkPatternSubject] { items[item] ?? missing }

  /// What making them took, in steps.
  var cost: Int {
    items.values.joined().reduce(path.cost + query.cost + fragment.cost) { $0 + $1.cost }
  }
}
