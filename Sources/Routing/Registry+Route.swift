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
      let candidates = applications(indices)
      steps.append(Route.Step("scheme", "\(uri.scheme) is claimed by \(list(candidates))"))
      return .chosen(.scheme, uri, from: candidates, because: "claims \(uri.scheme) links from tags", steps: steps)
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
    let candidates = applications(first.values)
    steps.append(Route.Step("domain", "\(host) matches \(first.pattern), claimed by \(list(candidates))"))
    for other in matches.dropFirst() {
      let losers = list(applications(other.values))
      steps.append(Route.Step("domain", "\(other.pattern) is less exact; its claims do not count: \(losers)"))
    }
    // What is said for a wildcard stands at the domain above, as with Apple and Android.
    let domain = first.pattern.hasPrefix("*.") ? String(first.pattern.dropFirst(2)) : first.pattern
    let association = policy.associations[domain]
    return .chosen(
      .universalLink, uri, from: candidates, because: "claims \(first.pattern)",
      voucher: candidates.first.flatMap { handler in
        association?.vouches(for: handler.desktopID, on: uri) == true ? domain : nil
      }, steps: steps)
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

  private func list(_ applications: [Application]) -> String {
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

  /// `candidates` has at least one element; the first is taken. `voucher` is the domain that vouches for it.
  static func chosen(
    _ kind: Kind, _ uri: URI, from candidates: [Application], because claim: String, voucher: String? = nil,
    steps: [Step]
  ) -> Route {
    guard let handler = candidates.first else { return .none(uri, "no handler claims the link", steps: steps) }
    let trusted = handler.origin == .system || voucher != nil
    var steps = steps
    if candidates.count > 1 {
      steps.append(Step("choice", "\(handler.desktopID) comes first: system handlers before the user's, then by id"))
    }
    let trust =
      handler.origin == .system ? "installed by the system" : "from a directory that the user's programs can write to"
    steps.append(Step("choice", "\(handler.desktopID) is \(trust)"))
    if let voucher { steps.append(Step("choice", "\(voucher) itself names \(handler.desktopID) for this link")) }
    return Route(
      kind: kind, uri: uri, handler: handler, candidates: candidates, trusted: trusted,
      reason: "\(handler.desktopID) \(claim)", steps: steps)
  }
}
