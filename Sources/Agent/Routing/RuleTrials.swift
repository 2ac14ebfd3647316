import UniversalLinks

/// The budget of steps for trying rules on one link. Each origin has a separate budget, and so do the handlers that the
/// user has chosen. A more exact claim with slow rules therefore takes no steps from trusted or preferred applications.
struct RuleTrials {
  private enum Share: Hashable {
    case chosen
    case of(Application.Origin)
  }

  private let uri: URI
  private let choices: HandlerChoices
  private let covering: [String]
  private let preferred: Set<String>
  private var trials: [Share: LinkMatching] = [:]

  /// `covering` has every claim that could cover the link, the most exact first, and is only evaluated if the user has
  /// made choices.
  init(_ uri: URI, covering: @autoclosure () -> [String], choices: HandlerChoices) {
    self.uri = uri
    self.choices = choices
    self.covering = choices.isEmpty ? [] : covering()
    preferred = Set(choices.preferences(among: self.covering))
  }

  /// Runs `body` with the budget of the application.
  mutating func match<Verdict>(for application: Application, _ body: (inout LinkMatching) -> Verdict) -> Verdict {
    body(&trials[share(of: application), default: LinkMatching(uri)])
  }

  /// Chosen handlers share a separate budget: their rules may take long, but not at the expense of other applications.
  private func share(of application: Application) -> Share {
    preferred.contains(application.desktopID) || choices.isAllowed(application, for: covering)
      ? .chosen : .of(application.origin)
  }
}
