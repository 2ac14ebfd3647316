package import NDEF
package import UniversalLinks

extension Registry {
  /// A text that is not a URI gets an answer too.
  ///
  /// Recording the steps of the answer takes longer than the decision.
  package func route(for text: String, policy: RoutingPolicy = RoutingPolicy(), explaining: Bool = true) -> Route {
    route(for: text, policy: policy, Explanation(isWanted: explaining))
  }

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

  /// The domain that publishes the association files for the claim. For a wildcard it is the domain above, as with
  /// Apple and Android.
  private static func domain(of claim: String) -> String {
    claim.hasPrefix("*.") ? String(claim.dropFirst(2)) : claim
  }

  /// Nil if there is no candidate.
  private func chosen(
    _ kind: Route.Kind, _ uri: URI, _ selection: HandlerSelection, policy: RoutingPolicy,
    steps: inout Explanation
  ) -> Route? {
    guard let first = winner(of: selection, steps: &steps) else { return nil }
    if first.trust == .vouchedFor {
      steps.add("choice", "\(Self.domain(of: first.claim)) itself names \(first.application.id) for this link")
    }
    let alternative = policy.schemes.contains(uri.scheme) ? defaults[uri.scheme] : nil
    let claim = kind == .scheme ? "\(uri.scheme) links from tags" : first.claim
    return Route(
      kind: kind, uri: uri, handler: first.application, candidates: selection.candidates.map(\.application),
      claimants: selection.candidates + steps.losers, claimantsLeftOut: steps.leftOut, question: selection.question,
      alternative: alternative, trusted: first.trust != .unconfirmed,
      reason: "\(first.application.id) claims \(claim)", steps: steps.steps)
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
    steps.add("default", "\(application.id) is the default application for \(uri.scheme)")
    return Route(
      kind: .default, uri: uri, handler: application, candidates: [application], claimants: steps.losers,
      claimantsLeftOut: steps.leftOut, trusted: true,
      reason: "no handler claims the link; \(application.id) is the default application for \(uri.scheme)",
      steps: steps.steps)
  }

  /// The failure says why there is none.
  func schemeDefault(of uri: URI) -> Result<Application, RoutingObstacle> {
    guard let application = defaults[uri.scheme] else {
      let why = unusableDefaults[uri.scheme].map { " that can be opened: \($0)" } ?? ""
      return .failure(RoutingObstacle("\(uri.scheme) has no default application\(why)"))
    }
    return .success(application)
  }

  func list(_ applications: [Application]) -> String {
    let shown = applications.prefix(8).map(\.id).joined(separator: ", ")
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

extension Registry {
  /// Decides which application opens the message of a tag. A message without a URI gets an answer too.
  ///
  /// The first record of the well-known type `U` decides, regardless of the other records, as in Apple's "Adding
  /// Support for Background Tag Reading". If there is none at the top level, the first Smart Poster provides the URI,
  /// if the policy allows it. Otherwise the type of the first absolute-URI record is the URI (NDEF 1.0, section 3.2.6).
  /// Texts are ignored.
  ///
  /// If there is no URI, the first record with a media type or an external type decides, in the same way: by itself,
  /// even if no application takes it. Android application records do not count.
  ///
  /// Recording the steps of the answer takes longer than the decision.
  package func route(
    for message: NDEFMessage, policy: RoutingPolicy = RoutingPolicy(), explaining: Bool = true
  ) -> Route {
    var steps = Explanation(isWanted: explaining)
    for (number, record) in zip(1..., message.records) where record.isWellKnown(URIRecord.type) {
      steps.add("record", "record \(number) of \(message.records.count) is the first URI record")
      return route(for: record, policy: policy, steps)
    }
    steps.add("record", "none of \(message.records.count) records is a URI record")
    var reason = "the message has no URI record"
    if let poster = message.records.first(where: { $0.isWellKnown(SmartPosterRecord.type) }) {
      do throws(RoutingObstacle) {
        let record = try link(in: poster, policy: policy, &steps)
        steps.add("record", "the first Smart Poster holds the URI")
        return route(for: record, policy: policy, steps)
      } catch {
        reason = error.message
      }
    }
    for (number, record) in zip(1..., message.records) where record.typeNameFormat == .absoluteURI {
      steps.add("record", "record \(number) is an absolute URI")
      let route = route(for: String(decoding: record.type, as: UTF8.self), policy: policy, steps)
      // Windows Phones write `windows.com/LaunchApp` there, which is no link.
      if route.refusal != .badScheme { return route }
      steps.add("record", "the absolute URI has no scheme, and is ignored")
    }
    return route(withoutLink: message, reason, policy: policy, steps)
  }

  private func link(
    in poster: NDEFRecord, policy: RoutingPolicy, _ steps: inout Explanation
  ) throws(RoutingObstacle) -> NDEFRecord {
    guard policy.smartPosters else {
      steps.add("record", "there is a Smart Poster, but Smart Posters are switched off")
      throw RoutingObstacle("the message has no URI record, and Smart Posters are switched off")
    }
    do {
      let content = try NDEFMessage(decoding: poster.payload)
      if let record = content.records.first(where: { $0.isWellKnown(URIRecord.type) }) { return record }
    } catch {
      steps.add("record", "the Smart Poster cannot be decoded: \(error)")
      throw RoutingObstacle("the Smart Poster cannot be decoded")
    }
    throw RoutingObstacle("the Smart Poster has no URI record")
  }

  private func route(for record: NDEFRecord, policy: RoutingPolicy, _ steps: Explanation) -> Route {
    var steps = steps
    do {
      return route(for: try URIRecord(record).uri, policy: policy, steps)
    } catch {
      let reason = "the URI record cannot be decoded: \(error)"
      steps.add("record", reason)
      return .refused(reason, nil, steps)
    }
  }
}
