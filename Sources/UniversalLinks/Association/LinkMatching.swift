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
  /// Where several details name the application they are one list, in the order of the file.
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

/// Counts steps, and says when there were enough.
struct MatchingSteps: Sendable {
  private(set) var count = 0
  /// Whoever comes here with more taken stops.
  var limit: Int

  init(limit: Int = .max) { self.limit = limit }

  var isOver: Bool { count > limit }

  mutating func take(_ steps: Int) { count += steps }
}
