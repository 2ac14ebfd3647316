/// One link, tried on the rules of any number of files.
///
/// What is found out about the link once serves all of them, and all of them together take a bounded number of steps: who
/// writes rules and who writes links must not be able to keep a program busy between them.
public struct LinkMatching: Sendable {
  /// How many steps are taken for one link in all where nobody says otherwise; a few milliseconds.
  public static let standardSteps = 1 << 22

  /// The link.
  public let uri: URI
  /// The steps that were taken so far: words of sets, characters, rules and ids that were looked at.
  public var steps: Int { taken.count }

  private var taken: MatchingSteps
  private let maximumSteps: Int
  private var parts: [LinkPattern.Comparison: LinkParts] = [:]
  private lazy var hasDotSegments = uri.hasDotSegments

  /// - Parameters:
  ///   - uri: the link; its domain is not looked at.
  ///   - maximumSteps: how many steps all verdicts together may take. One file gets a quarter of them at the most, so that
  ///     those that come later have some left.
  public init(_ uri: URI, maximumSteps: Int = LinkMatching.standardSteps) {
    self.uri = uri
    self.maximumSteps = max(maximumSteps, 0)
    taken = MatchingSteps(limit: self.maximumSteps)
  }

  /// Decides about the link.
  ///
  /// Where several details name the application they are one list, in the order of the file. No rule covers a path with dot
  /// segments: what it leads to is another path than the one that stands there, for those who resolve them, and an application
  /// may do either.
  ///
  /// - Parameters:
  ///   - association: the file.
  ///   - isApplication: whether an id of the file is the application's.
  /// - Returns: what the first rule that covers the link says.
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
        // What was found after the last step is none.
        guard !taken.isOver else { return .undecided }
        if covers { return rule.isExclusion ? .excluded(rule) : .matched(rule) }
      }
    }
    return verdict
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
  /// Whether a segment of the path is `.` or `..` (RFC 3986, section 3.3), for anybody: browsers read `%2e` as a dot and `\` as
  /// a slash (WHATWG URL, "path state"), and many servers decode `%2F` and `%5C` before they resolve dot segments.
  var hasDotSegments: Bool {
    let segments = PercentEncoding.decoded(path).utf8.split { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
    return segments.contains { (1...2).contains($0.count) && $0.allSatisfy { $0 == UInt8(ascii: ".") } }
  }
}

/// Counts steps, and says when there were enough.
struct MatchingSteps: Sendable {
  private(set) var count = 0
  /// Whoever comes here with more taken stops.
  var limit: Int

  init(limit: Int = .max) { self.limit = limit }

  var isOver: Bool { count > limit }

  mutating func take(_ steps: Int) { count += steps }
}
