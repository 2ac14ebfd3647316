/// Tries one link on the rules of any number of files.
///
/// All files share the intermediate results about the link. They also share a limited number of steps. So the authors
/// of rules and links cannot keep a program busy.
public struct LinkMatching: Sendable {
  /// The default limit of steps for one link. It takes a few milliseconds.
  public static let standardSteps = 1 << 22

  /// The link.
  public let uri: URI
  /// The steps taken so far: words of sets, characters, rules and ids that were examined.
  public var steps: Int { taken.count }

  private var taken: MatchingSteps
  private let maximumSteps: Int
  private var parts: [LinkPattern.Comparison: LinkParts] = [:]
  private lazy var hasDotSegments = uri.hasDotSegments

  /// - Parameters:
  ///   - uri: the link. Its domain is ignored.
  ///   - maximumSteps: the maximum number of steps for all verdicts together. One file gets at most a quarter of them,
  ///     so that some are left for later files.
  public init(_ uri: URI, maximumSteps: Int = LinkMatching.standardSteps) {
    self.uri = uri
    self.maximumSteps = max(maximumSteps, 0)
    taken = MatchingSteps(limit: self.maximumSteps)
  }

  /// Decides about the link.
  ///
  /// If several details name the application, their rules form one list, in the order of the file. No rule covers a
  /// path with dot segments. Resolved, such a path differs from the path as written, and an application may use either.
  ///
  /// - Parameters:
  ///   - association: the file.
  ///   - isApplication: whether an id in the file is the application's.
  /// - Returns: the decision of the first rule that covers the link.
  public mutating func verdict(
    of association: AppSiteAssociation, for isApplication: (String) -> Bool
  ) -> AppSiteAssociation.Verdict {
    taken.limit = min(maximumSteps, taken.count + max(maximumSteps / 4, 1))
    var verdict = AppSiteAssociation.Verdict.unnamed
    for detail in association.details {
      taken.take(1 + detail.appIDs.count)
      guard !taken.isOver else { return .undecided }
      guard detail.appIDs.contains(where: isApplication) else { continue }
      verdict = .unmatched
      guard !hasDotSegments else { continue }
      for rule in detail.rules {
        let link = parts(for: rule.comparison)
        taken.take(1)
        let covers = !taken.isOver && rule.covers(link, steps: &taken)
        // A result is invalid if the steps ran out before it.
        guard !taken.isOver else { return .undecided }
        if covers { return rule.isExclusion ? .excluded(rule) : .matched(rule) }
      }
    }
    return verdict
  }

  /// Decides whether a condition covers the link. Conditions share all steps. A pattern covers no path with dot
  /// segments, like a rule.
  ///
  /// - Parameter condition: the condition.
  /// - Returns: nil if the steps ran out, so that the answer is unknown.
  public mutating func covers(_ condition: LinkCondition) -> Bool? {
    taken.limit = maximumSteps
    taken.take(1)
    guard !taken.isOver else { return nil }
    switch condition.kind {
    case .exact(let link): return link == uri
    case .pattern(let scheme, let host, let rule):
      guard scheme == uri.scheme, host.covers(uri), !hasDotSegments else { return false }
      let covers = rule.covers(parts(for: rule.comparison), steps: &taken)
      return taken.isOver ? nil : covers
    }
  }

  private mutating func parts(for comparison: LinkPattern.Comparison) -> LinkParts {
    if let known = parts[comparison] { return known }
    let made = LinkParts(uri, comparison)
    taken.take(made.cost)
    parts[comparison] = made
    return made
  }
}

extension URI {
  /// Whether some reader sees a segment `.` or `..` in the path (RFC 3986, section 3.3). Browsers read `%2e` as a dot
  /// and `\` as a slash (WHATWG URL, "path state"). Many servers decode `%2F` and `%5C` before they resolve dot
  /// segments.
  var hasDotSegments: Bool {
    let segments = PercentEncoding.decoded(path).utf8.split { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
    return segments.contains { (1...2).contains($0.count) && $0.allSatisfy { $0 == UInt8(ascii: ".") } }
  }
}

/// Counts steps up to a limit.
struct MatchingSteps: Sendable {
  private(set) var count = 0
  /// Matching stops when the count is above this limit.
  var limit: Int

  init(limit: Int = .max) { self.limit = limit }

  var isOver: Bool { count > limit }

  mutating func take(_ steps: Int) { count += steps }
}
