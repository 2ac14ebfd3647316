package import UniversalLinks

extension Registry {
  /// Decides which application opens a URI from a tag or a person. A text that is not a URI gets an answer too.
  ///
  /// Recording the steps of the answer takes longer than the decision.
  package func route(for text: String, policy: RoutingPolicy = RoutingPolicy(), explaining: Bool = true) -> Route {
    route(for: text, policy: policy, Explanation(isWanted: explaining))
  }

  /// Decides which application opens a URI that is already parsed.
  package func route(for uri: URI, policy: RoutingPolicy = RoutingPolicy(), explaining: Bool = true) -> Route {
    route(for: uri, policy: policy, Explanation(isWanted: explaining))
  }

  func route(for text: String, policy: RoutingPolicy, _ steps: Explanation) -> Route {
    var steps = steps
    do {
      let uri = try URI(text)
      steps.add("uri", "it is well-formed")
      return route(for: uri, policy: policy, steps)
    } catch {
      steps.add("uri", error.message)
      return .refused(error.message, error.code, steps)
    }
  }

  private func route(for uri: URI, policy: RoutingPolicy, _ steps: Explanation) -> Route {
    var steps = steps
    if uri.isWeb {
      if let route = universalLink(for: uri, policy: policy, steps: &steps) { return route }
    } else if let indices = schemes[uri.scheme] {
      steps.add("scheme", "\(uri.scheme) is claimed by \(list(applications(indices)))")
      let claim = HandlerChoices.claim(onScheme: uri.scheme)
      let selection = HandlerSelection(
        [(claim, applications(indices))], covering: [claim], choices: policy.choices
      ) { _, _ in false }
      if let route = chosen(.scheme, uri, selection, policy: policy, steps: &steps) { return route }
    } else {
      steps.add("scheme", "no handler claims \(uri.scheme) links from tags")
    }
    return defaultApplication(for: uri, policy: policy, steps)
  }

  private func universalLink(for uri: URI, policy: RoutingPolicy, steps: inout Explanation) -> Route? {
    guard let host = uri.linkDomain else {
      let what = uri.host?.kind == .domain ? "a port of its own" : "an address"
      steps.add("domain", "the host has \(what), which no handler can claim")
      return nil
    }
    let matches = domains.matches(for: host)
    guard let first = matches.first else {
      steps.add("domain", "no handler claims \(host)")
      return nil
    }
    steps.add("domain", "\(host) matches \(first.pattern), claimed by \(list(applications(first.values)))")
    for other in matches.dropFirst() {
      steps.add("domain", "\(other.pattern) is less exact, claimed by \(list(applications(other.values)))")
    }
    // Thousands of applications may claim one link, so the steps for all of them are limited together.
    var trials = RuleTrials(uri, covering: HandlerChoices.claims(covering: host), choices: policy.choices)
    let willing = willing(among: matches, &trials, &steps)
    let selection = HandlerSelection(
      willing, covering: HandlerChoices.claims(covering: host), choices: policy.choices
    ) { application, claim in
      guard let association = policy.associations[Self.domain(of: claim)] else { return false }
      return trials.match(for: application) { association.vouches(for: application.desktopID, &$0) }
    }
    return chosen(.universalLink, uri, selection, policy: policy, steps: &steps)
  }

  /// The domain that publishes the association files for a claim. For a wildcard it is the domain above, as with Apple
  /// and Android.
  private static func domain(of claim: String) -> String {
    claim.hasPrefix("*.") ? String(claim.dropFirst(2)) : claim
  }

  /// The route to the selected handler; nil if there is no candidate.
  private func chosen(
    _ kind: Route.Kind, _ uri: URI, _ selection: HandlerSelection, policy: RoutingPolicy,
    steps: inout Explanation
  ) -> Route? {
    guard let first = winner(of: selection, steps: &steps) else { return nil }
    if first.trust == .vouchedFor {
      steps.add("choice", "\(Self.domain(of: first.claim)) itself names \(first.application.desktopID) for this link")
    }
    let alternative = policy.schemes.contains(uri.scheme) ? defaults[uri.scheme] : nil
    let claim = kind == .scheme ? "\(uri.scheme) links from tags" : first.claim
    return Route(
      kind: kind, uri: uri, handler: first.application, candidates: selection.candidates.map(\.application),
      claimants: selection.candidates + steps.losers, claimantsLeftOut: steps.leftOut, question: selection.question,
      alternative: alternative, trusted: first.trust != .unconfirmed,
      reason: "\(first.application.desktopID) claims \(claim)", steps: steps.steps)
  }

  /// The first candidate; nil if there is none. Records why each application won or lost.
  func winner(of selection: HandlerSelection, steps: inout Explanation) -> Candidate? {
    for candidate in selection.losers where candidate.outcome != .lessExact { steps.add("choice", candidate.sentence) }
    steps.lose(selection.losers, leftOut: selection.leftOut)
    if selection.candidates.isEmpty { steps.add("choice", "no app that claims it is left") }
    for candidate in selection.candidates.prefix(Self.mostNamed) { steps.add("choice", candidate.sentence) }
    return selection.candidates.first
  }

  private func defaultApplication(for uri: URI, policy: RoutingPolicy, _ steps: Explanation) -> Route {
    var steps = steps
    guard policy.schemes.contains(uri.scheme) else {
      let reason =
        "no handler claims \(uri.scheme) links, and they are not among the schemes that default applications get"
      steps.add("default", "\(uri.scheme) is not an allowed scheme")
      return .none(uri, reason, steps)
    }
    let application: Application
    switch schemeDefault(of: uri) {
    case .success(let found): application = found
    case .failure(let obstacle):
      steps.add("default", obstacle.message)
      return .none(uri, "no handler claims the link, and \(obstacle.message)", steps)
    }
    steps.add("default", "\(application.desktopID) is the default application for \(uri.scheme)")
    return Route(
      kind: .default, uri: uri, handler: application, candidates: [application], claimants: steps.losers,
      claimantsLeftOut: steps.leftOut, trusted: true,
      reason: "no handler claims the link; \(application.desktopID) is the default application for \(uri.scheme)",
      steps: steps.steps)
  }

  /// The default application of the link's scheme, or why there is none.
  func schemeDefault(of uri: URI) -> Result<Application, RoutingObstacle> {
    guard let application = defaults[uri.scheme] else {
      let why = unusableDefaults[uri.scheme].map { " that can be opened: \($0)" } ?? ""
      return .failure(RoutingObstacle("\(uri.scheme) has no default application\(why)"))
    }
    return .success(application)
  }

  func list(_ applications: [Application]) -> String {
    let shown = applications.prefix(8).map(\.desktopID).joined(separator: ", ")
    return applications.count > 8 ? shown + " and \(applications.count - 8) more" : shown
  }
}

extension Route {
  static func refused(_ reason: String, _ refusal: URIError.Code?, _ steps: Explanation) -> Route {
    Route(
      kind: .refused, uri: nil, handler: nil, candidates: [], trusted: false, refusal: refusal, reason: reason,
      steps: steps.steps)
  }

  static func none(_ uri: URI?, _ reason: String, _ steps: Explanation) -> Route {
    Route(
      kind: .none, uri: uri, handler: nil, candidates: [], claimants: steps.losers, claimantsLeftOut: steps.leftOut,
      trusted: false, reason: reason, steps: steps.steps)
  }
}
