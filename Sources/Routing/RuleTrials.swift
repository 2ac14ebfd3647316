import UniversalLinks

/// What may be taken to try rules on one link: for each origin apart, and for those that the user has chosen. So whoever claims a
/// host more exactly, by rules that take long, takes nothing from those who are trusted with it, nor from the one that is preferred.
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

  /// - Parameters:
  ///   - uri: the link.
  ///   - covering: every claim that could cover it, the most exact first; only asked for where the user has chosen anything.
  ///   - choices: what the user has chosen.
  init(_ uri: URI, covering: @autoclosure () -> [String], choices: HandlerChoices) {
    self.uri = uri
    self.choices = choices
    self.covering = choices.isEmpty ? [] : covering()
    preferred = Set(choices.preferences(among: self.covering))
  }

  /// Tries rules that count for an application.
  mutating func match<Verdict>(for application: Application, _ body: (inout LinkMatching) -> Verdict) -> Verdict {
    body(&trials[share(of: application), default: LinkMatching(uri)])
  }

  /// The user has chosen an entry of a program that is known: it may take long, but not from others.
  private func share(of application: Application) -> Share {
    preferred.contains(application.desktopID) || choices.isAllowed(application, for: covering)
      ? .chosen : .of(application.origin)
  }
}
