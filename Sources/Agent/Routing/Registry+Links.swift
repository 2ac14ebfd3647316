import UniversalLinks

extension Registry {
  /// The applications, by claim, that claim the domain of a link and want the link. An application with rules that
  /// exclude a link does not claim it.
  ///
  /// The matches begin with the most exact claim. `trials` has the steps that are left for the applications. `steps`
  /// receives the applications that do not want the link, at most as many as are ever shown.
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
      steps.add("links", "\(count - Self.mostNamed) more do not take it, by their path rules")
    }
    steps.lose(unwilling, leftOut: count - unwilling.count)
    return willing
  }

  /// How many candidates or losers the steps name one by one.
  static let mostNamed = 8
}

extension HandlerDeclaration {
  /// Why its rules do not admit the link; nil if they do, or if it has no rules.
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
