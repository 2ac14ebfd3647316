import UniversalLinks

extension Registry {
  /// Who wants a link, of those that claim its domain: whose own rules keep it out has not claimed it.
  ///
  /// - Parameters:
  ///   - matches: the claims, the most exact first.
  ///   - trials: the link, and how many steps are left for whom.
  ///   - steps: gets the others, no more than are ever shown.
  /// - Returns: those who want it, by claim.
  func willing(
    among matches: [(pattern: String, values: [Int32])], _ trials: inout RuleTrials, _ steps: inout Explanation
  ) -> [(claim: String, applications: [Application])] {
    var willing: [(claim: String, applications: [Application])] = []
    var unwilling: [Candidate] = []
    var count = 0
    for (pattern, values) in matches {
      var applications: [Application] = []
      for declaration in values.lazy.map({ declarations[Int($0)] }) {
        guard let (outcome, rule) = declaration.obstacle(&trials) else {
          applications.append(declaration.application)
          continue
        }
        count += 1
        guard unwilling.count < HandlerSelection.maximumLosers else { continue }
        let candidate = Candidate(
          declaration.application, claim: pattern, outcome: outcome, trust: .unconfirmed, rule: rule)
        unwilling.append(candidate)
        if count <= Self.mostNamed { steps.add("links", candidate.sentence) }
      }
      if !applications.isEmpty { willing.append((pattern, applications)) }
    }
    if count > Self.mostNamed {
      steps.add("links", "\(count - Self.mostNamed) more do not take it, by their Links=")
    }
    steps.lose(unwilling, leftOut: count - unwilling.count)
    return willing
  }

  /// How many of those that lose are named one by one.
  static let mostNamed = 8
}

extension HandlerDeclaration {
  /// Why its rules keep the link out; nil where they let it in, or where there are none.
  fileprivate func obstacle(_ trials: inout RuleTrials) -> (Candidate.Outcome, rule: String?)? {
    if hasUnusableLinks { return (.unusableLinks, nil) }
    guard let links else { return nil }
    let id = application.desktopID
    let verdict = trials.match(for: application) { matching in
      matching.verdict(of: links) { AppSiteAssociation.appID($0, means: id) }
    }
    switch verdict {
    case .matched: return nil
    case .excluded(let rule): return (.excluded, rule.location)
    case .unmatched, .unnamed: return (.notCovered, nil)
    case .undecided: return (.undecided, nil)
    }
  }
}
