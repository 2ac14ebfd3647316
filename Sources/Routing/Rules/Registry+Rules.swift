import NDEF
import UniversalLinks

extension Registry {
  /// Decides what a tap does: by the first rule that matches, or else by its message alone.
  ///
  /// Recording the steps of the answer takes longer than the decision.
  public func route(
    for facts: TapFacts, rules: RuleSet, policy: RoutingPolicy = RoutingPolicy(), explaining: Bool = true
  ) -> Route {
    var steps = Explanation(isWanted: explaining)
    let reason = "the tag has no message"
    steps.add("record", reason)
    let base =
      facts.message.map { route(for: $0, policy: policy, explaining: explaining) } ?? Route.none(nil, reason, steps)
    return ruled(base, facts, rules, policy, explaining: explaining)
  }

  /// Decides what a tag with this text as its only link does.
  public func route(
    for text: String, rules: RuleSet, policy: RoutingPolicy = RoutingPolicy(), explaining: Bool = true
  ) -> Route {
    let base = route(for: text, policy: policy, explaining: explaining)
    return ruled(base, TapFacts(message: .uri(text)), rules, policy, explaining: explaining)
  }

  private func ruled(
    _ route: Route, _ facts: TapFacts, _ rules: RuleSet, _ policy: RoutingPolicy, explaining: Bool
  ) -> Route {
    let isHandlerReady = route.handsOverMessage && route.question == .nothing
    let decision = rules.decision(
      for: facts, link: route.uri, handler: isHandlerReady ? route.handler?.desktopID : nil, explaining: explaining)
    var result = decision.rule.map { apply($0, to: route, rules, policy) } ?? route
    let step = Route.Step("rule", result.reason)
    result.steps = decision.steps + (decision.rule == nil || !explaining ? route.steps : [step])
    return result
  }

  private func apply(_ rule: TapRule, to route: Route, _ rules: RuleSet, _ policy: RoutingPolicy) -> Route {
    switch rule.action {
    case .ignore: return route.decided(by: rule, "the rule \(rule.place) ignores the tag")
    case .run(let arguments):
      return route.decided(by: rule, "the rule \(rule.place) runs \(arguments.first ?? "a program")")
    case .show, .open, .openDefault: break
    }
    // No rule opens or shows a link that is never opened.
    guard route.kind != .refused else { return route }
    guard rule.action != .show else { return route.decided(by: rule, "the rule \(rule.place) shows the tag") }
    guard let uri = route.uri else {
      guard let record = route.record else {
        return route.decided(by: rule, "the rule \(rule.place) opens an app, but the tag has no link")
      }
      return apply(rule, to: record, of: route, rules, policy)
    }
    switch application(of: rule.action, uri, rules, policy) {
    case .success(let application):
      var result = route.decided(
        by: rule, "the rule \(rule.place) opens \(application.desktopID)", handler: application)
      if case .open = rule.action { result.opensHandler = isHandler(application) }
      return result
    case .failure(let obstacle):
      return route.decided(by: rule, "the rule \(rule.place) cannot open the link: \(obstacle.message)")
    }
  }

  /// Opens the record in a handler, which gets the whole message, or as a file in another app.
  private func apply(
    _ rule: TapRule, to record: TypedRecord, of route: Route, _ rules: RuleSet, _ policy: RoutingPolicy
  ) -> Route {
    let found: Result<Application, Obstacle>
    var opensHandler = false
    if case .open(let id) = rule.action {
      found = installed(id, rules, policy)
      opensHandler = (try? found.get()).map(isHandler) ?? false
    } else {
      found = typeDefault(of: record.type).flatMap { unblocked($0, policy) }
    }
    switch found {
    case .success(let application) where opensHandler || mayBeFile(record.type):
      var result = route.decided(
        by: rule, "the rule \(rule.place) opens \(application.desktopID)", handler: application)
      result.opensHandler = opensHandler
      return result
    case .success(let application):
      return route.decided(
        by: rule,
        "the rule \(rule.place) cannot open the record: \(application.desktopID) is no handler, and "
          + "its type never goes to another app")
    case .failure(let obstacle):
      return route.decided(by: rule, "the rule \(rule.place) cannot open the record: \(obstacle.message)")
    }
  }

  private typealias Obstacle = RoutingObstacle

  private func application(
    of action: TapRule.Action, _ uri: URI, _ rules: RuleSet, _ policy: RoutingPolicy
  ) -> Result<Application, Obstacle> {
    guard case .open(let id) = action else { return schemeDefault(of: uri).flatMap { unblocked($0, policy) } }
    return installed(id, rules, policy)
  }

  private func unblocked(_ application: Application, _ policy: RoutingPolicy) -> Result<Application, Obstacle> {
    policy.choices.isBlocked(application.desktopID)
      ? .failure(Obstacle("the user has blocked \(application.desktopID)")) : .success(application)
  }

  private func installed(_ id: String, _ rules: RuleSet, _ policy: RoutingPolicy) -> Result<Application, Obstacle> {
    guard !policy.choices.isBlocked(id) else {
      return .failure(Obstacle("the user has blocked \(id)"))
    }
    let handler = declarations.first { $0.application.desktopID == id }?.application
    guard
      let application = handler ?? rules.applications[id] ?? defaults.values.first(where: { $0.desktopID == id })
    else { return .failure(Obstacle("\(id) is not installed, or cannot open links")) }
    return .success(application)
  }

  private func isHandler(_ application: Application) -> Bool {
    declarations.contains { $0.application.desktopID == application.desktopID }
  }
}

extension Route {
  /// The same link or record, decided by a rule. Without a handler, no app opens it.
  fileprivate func decided(by rule: TapRule, _ reason: String, handler: Application? = nil) -> Route {
    Route(
      kind: .rule, uri: uri, handler: handler, candidates: [handler].compactMap(\.self), trusted: true,
      refusal: refusal, reason: reason, steps: steps, rule: rule, record: record)
  }
}
