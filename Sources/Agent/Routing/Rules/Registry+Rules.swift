package import NDEF
import Names
import UniversalLinks

extension Registry {
  /// By the first rule that matches, or else by the message alone.
  ///
  /// Recording the steps of the answer takes longer than the decision.
  package func route(
    for read: TagRead, digest: String = "", rules: RuleSet, policy: RoutingPolicy = RoutingPolicy(),
    explaining: Bool = true
  ) -> Route {
    var steps = Explanation(isWanted: explaining)
    let reason = "the tag has no message"
    steps.add("record", reason)
    let base =
      read.message.map { route(for: $0, policy: policy, explaining: explaining) } ?? Route.none(nil, reason, steps)
    return ruled(base, read, digest, rules, policy, explaining: explaining)
  }

  /// For a tag with this text as its only link.
  package func route(
    for text: String, rules: RuleSet, policy: RoutingPolicy = RoutingPolicy(), explaining: Bool = true
  ) -> Route {
    let base = route(for: text, policy: policy, explaining: explaining)
    return ruled(base, TagRead(message: .uri(text)), "", rules, policy, explaining: explaining)
  }

  private func ruled(
    _ route: Route, _ read: TagRead, _ digest: String, _ rules: RuleSet, _ policy: RoutingPolicy, explaining: Bool
  ) -> Route {
    let isHandlerReady = route.handsOverMessage && route.question == .nothing
    let handler = isHandlerReady ? route.handler?.desktopID : nil
    let decision = rules.decision(for: read, digest: digest, link: route.uri, handler: handler, explaining: explaining)
    var result = decision.rule.map { apply($0, to: route, rules, policy) } ?? route
    if decision.rule != nil { result.handlerWithoutRules = handler }
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
    let target = target(of: rule.action, taking: "links", policy) { id in
      rules.applications[id].flatMap { $0.takesLinks ? $0.application : nil }
        ?? defaults.values.first { $0.desktopID == id }
    } orDefault: {
      schemeDefault(of: uri)
    }
    return route.decided(by: rule, "the link", target)
  }

  /// A handler gets the whole message, another app a file.
  private func apply(
    _ rule: TapRule, to record: TypedRecord, of route: Route, _ rules: RuleSet, _ policy: RoutingPolicy
  ) -> Route {
    let target = target(of: rule.action, taking: "files", policy) { id in
      rules.applications[id].flatMap { $0.takesFiles ? $0.application : nil }
    } orDefault: {
      typeDefault(of: record.type)
    }
    guard case .success(let found) = target, !found.isHandler, !rule.mayOpenFile(of: record) else {
      return route.decided(by: rule, "the record", target)
    }
    let why: String
    if record.holdsWiFi {
      why = "a network goes to no app"
    } else if case .media = record.type {
      why = "the rule does not name its type in MimeType="
    } else {
      why = "an external type goes to handlers only"
    }
    return route.decided(
      by: rule, "the record", .failure(RoutingObstacle("\(found.application.id) is no handler, and \(why)")))
  }

  fileprivate typealias Target = (application: Application, isHandler: Bool)

  /// A handler, another installed app, or the default application.
  private func target(
    of action: TapRule.Action, taking kind: String, _ policy: RoutingPolicy, installed: (String) -> Application?,
    orDefault: () -> Result<Application, RoutingObstacle>
  ) -> Result<Target, RoutingObstacle> {
    let found: Result<Target, RoutingObstacle>
    if case .open(let id) = action {
      if let handler = declarations.first(where: { $0.application.desktopID == id }) {
        found = .success((handler.application, true))
      } else if let application = installed(id) {
        found = .success((application, false))
      } else {
        found = .failure(RoutingObstacle("\(AppID.text(id)) is not installed, or cannot open \(kind)"))
      }
    } else {
      found = orDefault().map { ($0, false) }
    }
    guard case .success(let target) = found, policy.choices.isBlocked(target.application.desktopID) else {
      return found
    }
    return .failure(RoutingObstacle("the user has blocked \(target.application.id)"))
  }
}

extension TapRule {
  /// Whether an app that is no handler may get a record as a file. Its type must be one that is shown or played, or be
  /// named by the rule, because a rewritten tag can have any type.
  fileprivate func mayOpenFile(of record: TypedRecord) -> Bool {
    if record.type.mayBeFile { return true }
    guard case .media(let name) = record.type, !record.holdsWiFi else { return false }
    return conditions.contains(.mimeType(name))
  }
}

extension Route {
  /// The same link or record, decided by a rule. Without a handler, no app opens it.
  fileprivate func decided(by rule: TapRule, _ reason: String, handler: Application? = nil) -> Route {
    Route(
      kind: .rule, uri: uri, handler: handler, candidates: [handler].compactMap(\.self), trusted: true,
      refusal: refusal, reason: reason, steps: steps, rule: rule, record: record)
  }

  /// Opened in the app that a rule has led to.
  fileprivate func decided(
    by rule: TapRule, _ what: String, _ target: Result<Registry.Target, RoutingObstacle>
  ) -> Route {
    switch target {
    case .success(let target):
      var result = decided(
        by: rule, "the rule \(rule.place) opens \(target.application.id)", handler: target.application)
      result.opensHandler = target.isHandler
      return result
    case .failure(let obstacle):
      return decided(by: rule, "the rule \(rule.place) cannot open \(what): \(obstacle.message)")
    }
  }
}
