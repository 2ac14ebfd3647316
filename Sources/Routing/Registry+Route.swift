public import UniversalLinks

extension Registry {
  /// Decides who opens a URI.
  ///
  /// - Parameters:
  ///   - text: the URI as a tag or a person gives it.
  ///   - policy: what the user's configuration says.
  /// - Returns: the answer, with its reason; a text that is not a URI is an answer too.
  public func route(for text: String, policy: RoutingPolicy = RoutingPolicy()) -> Route {
    route(for: text, policy: policy, steps: [])
  }

  /// Decides who opens a URI that was parsed before.
  public func route(for uri: URI, policy: RoutingPolicy = RoutingPolicy()) -> Route {
    route(for: uri, policy: policy, steps: [])
  }

  func route(for text: String, policy: RoutingPolicy, steps: [Route.Step]) -> Route {
    do {
      let uri = try URI(text)
      return route(for: uri, policy: policy, steps: steps + [Route.Step("uri", "it is well-formed")])
    } catch {
      return .refused(error.message, steps: steps + [Route.Step("uri", error.message)])
    }
  }

  private func route(for uri: URI, policy: RoutingPolicy, steps: [Route.Step]) -> Route {
    var steps = steps
    if uri.isWeb {
      if let route = universalLink(for: uri, policy: policy, steps: &steps) { return route }
    } else if let indices = schemes[uri.scheme] {
      steps.append(Route.Step("scheme", "\(uri.scheme) is claimed by \(list(applications(indices)))"))
      let claim = HandlerChoices.claim(onScheme: uri.scheme)
      let selection = HandlerSelection(
        [(claim, applications(indices))], covering: [claim], choices: policy.choices
      ) { _ in false }
      if let route = chosen(.scheme, uri, selection, policy: policy, steps: &steps) { return route }
    } else {
      steps.append(Route.Step("scheme", "no handler claims \(uri.scheme) links from tags"))
    }
    return defaultApplication(for: uri, policy: policy, steps: steps)
  }

  private func universalLink(for uri: URI, policy: RoutingPolicy, steps: inout [Route.Step]) -> Route? {
    guard let host = uri.linkDomain else {
      let what = uri.host?.kind == .domain ? "a port of its own" : "an address"
      steps.append(Route.Step("domain", "the host has \(what), which no handler can claim"))
      return nil
    }
    let matches = domains.matches(for: host)
    guard let first = matches.first else {
      steps.append(Route.Step("domain", "no handler claims \(host)"))
      return nil
    }
    steps.append(
      Route.Step("domain", "\(host) matches \(first.pattern), claimed by \(list(applications(first.values)))"))
    for other in matches.dropFirst() {
      steps.append(
        Route.Step("domain", "\(other.pattern) is less exact, claimed by \(list(applications(other.values)))"))
    }
    // One for all: what each of thousands may take is bounded only together.
    var matching = LinkMatching(uri)
    let (willing, unwilling) = willing(among: matches, &matching, &steps)
    var claims: [String: String] = [:]
    for match in willing.reversed() {
      for application in match.applications { claims[application.desktopID] = match.claim }
    }
    let selection = HandlerSelection(
      willing, covering: HandlerChoices.claims(covering: host), choices: policy.choices
    ) { application in
      guard let claim = claims[application.desktopID] else { return false }
      return policy.associations[Self.domain(of: claim)]?.vouches(for: application.desktopID, &matching) == true
    }
    return chosen(.universalLink, uri, selection, unwilling, policy: policy, steps: &steps)
  }

  /// What is said for a wildcard stands at the domain above, as with Apple and Android.
  private static func domain(of claim: String) -> String {
    claim.hasPrefix("*.") ? String(claim.dropFirst(2)) : claim
  }

  /// The route to whom the selection comes to; nil where nobody is left.
  private func chosen(
    _ kind: Route.Kind, _ uri: URI, _ selection: HandlerSelection, _ unwilling: [Candidate] = [], policy: RoutingPolicy,
    steps: inout [Route.Step]
  ) -> Route? {
    for candidate in selection.losers where candidate.outcome != .lessExact {
      steps.append(Route.Step("choice", candidate.sentence))
    }
    guard let first = selection.candidates.first else {
      steps.append(Route.Step("choice", "nobody who claims the link is left"))
      return nil
    }
    for candidate in selection.candidates.prefix(8) { steps.append(Route.Step("choice", candidate.sentence)) }
    if first.trust == .vouchedFor {
      steps.append(
        Route.Step(
          "choice", "\(Self.domain(of: first.claim)) itself names \(first.application.desktopID) for this link"))
    }
    let alternative = policy.schemes.contains(uri.scheme) ? defaults[uri.scheme] : nil
    let claim = kind == .scheme ? "\(uri.scheme) links from tags" : first.claim
    return Route(
      kind: kind, uri: uri, handler: first.application, candidates: selection.candidates.map(\.application),
      claimants: selection.candidates + selection.losers + unwilling, question: selection.question,
      alternative: alternative,
      trusted: first.trust != .unconfirmed, reason: "\(first.application.desktopID) claims \(claim)", steps: steps)
  }

  private func defaultApplication(for uri: URI, policy: RoutingPolicy, steps: [Route.Step]) -> Route {
    guard policy.schemes.contains(uri.scheme) else {
      let reason =
        "no handler claims \(uri.scheme) links, and they are not among the schemes that default applications get"
      return .none(uri, reason, steps: steps + [Route.Step("default", "\(uri.scheme) is not an allowed scheme")])
    }
    guard let application = defaults[uri.scheme] else {
      let obstacle = unusableDefaults[uri.scheme].map { " that can be opened: \($0)" } ?? ""
      let finding = "\(uri.scheme) has no default application\(obstacle)"
      return .none(
        uri, "no handler claims the link, and \(finding)", steps: steps + [Route.Step("default", finding)])
    }
    let step = Route.Step("default", "\(application.desktopID) is the default application for \(uri.scheme)")
    return Route(
      kind: .default, uri: uri, handler: application, candidates: [application], trusted: true,
      reason: "no handler claims the link; \(application.desktopID) is the default application for \(uri.scheme)",
      steps: steps + [step])
  }

  func list(_ applications: [Application]) -> String {
    let shown = applications.prefix(8).map(\.desktopID).joined(separator: ", ")
    return applications.count > 8 ? shown + " and \(applications.count - 8) more" : shown
  }
}

extension Route {
  static func refused(_ reason: String, steps: [Step]) -> Route {
    Route(kind: .refused, uri: nil, handler: nil, candidates: [], trusted: false, reason: reason, steps: steps)
  }

  static func none(_ uri: URI?, _ reason: String, steps: [Step]) -> Route {
    Route(kind: .none, uri: uri, handler: nil, candidates: [], trusted: false, reason: reason, steps: steps)
  }
}

extension Candidate {
  /// Why it won or lost, and why it is trusted or not.
  var sentence: String {
    let id = application.desktopID
    let why =
      switch outcome {
      case .only: "is the only one that claims \(claim)"
      case .preferred: "is preferred by the user"
      case .offered: "is one of several that claim \(claim)"
      case .anotherIsPreferred: "gives way to the one that the user prefers"
      case .lessExact: "gives way to a more exact claim than \(claim)"
      case .blocked: "is blocked by the user"
      case .excluded: "does not take it: \(rule ?? "a rule") of its Links= excludes it"
      case .notCovered: "does not take it: no rule of its Links= covers it"
      case .undecided: "does not take it: to try its Links= takes too many steps, so what it says is not known"
      }
    guard outcome == .only || outcome == .preferred || outcome == .offered else { return "\(id) \(why)" }
    let trusted =
      switch trust {
      case .system: "installed by the system"
      case .vouchedFor: "named by its domain"
      case .confirmed: "allowed by the user"
      case .unconfirmed: "not allowed yet by the user"
      }
    return "\(id) \(why), and \(trusted)"
  }
}
