/// An application that claims a link, and why it opens the link or does not.
package struct Candidate: Sendable, Hashable {
  /// Scripts read the raw values.
  package enum Outcome: String, Sendable, Hashable, CaseIterable {
    /// It is the only application with the most exact claim.
    case only
    case preferred
    /// The user chooses between it and others.
    case offered
    case anotherIsPreferred = "another-is-preferred"
    case lessExact = "less-exact"
    case blocked
    /// One of its rules excludes the link.
    case excluded
    /// It has rules, but no rule covers the link.
    case notCovered = "not-covered"
    /// Trying its rules takes more steps than are allowed, so it does not get the link.
    case undecided
    /// Its file of rules cannot be used, so the links that it wants are unknown.
    case unusableLinks = "unusable-links"
  }

  /// Why the application may be opened without asking the user first, or may not. Scripts read the raw values.
  package enum Trust: String, Sendable, Hashable, CaseIterable {
    /// Only root can have installed it.
    case system
    case vouchedFor = "vouched-for"
    case confirmed
    /// Not trusted yet: the user has to allow it first.
    case unconfirmed
  }

  package let application: Application
  /// In the spelling of ``HandlerChoices``: the most exact claim that covers the link.
  package let claim: String
  package let outcome: Outcome
  /// Always `unconfirmed`, without being examined, for an application that is blocked or does not take the link.
  package let trust: Trust

  /// For `excluded`: the location of the rule in the file of rules.
  package let rule: String?

  init(_ application: Application, claim: String, outcome: Outcome, trust: Trust, rule: String? = nil) {
    self.application = application
    self.claim = claim
    self.outcome = outcome
    self.trust = trust
    self.rule = rule
  }
}

extension Candidate {
  package var wins: Bool { outcome == .only || outcome == .preferred || outcome == .offered }

  /// With the reason for the trust, if the application won. A sentence without its full stop.
  package var sentence: String {
    let id = application.id
    let why =
      switch outcome {
      case .only: "is the only one that claims \(claim)"
      case .preferred: "is preferred by the user"
      case .offered: "is one of several to choose from, by its claim to \(claim)"
      case .anotherIsPreferred: "gives way to the one that the user prefers"
      case .lessExact: "gives way to a more exact claim than \(claim)"
      case .blocked: "is blocked by the user"
      case .excluded: "does not take it: \(rule ?? "a rule") of its path rules excludes it"
      case .notCovered: "does not take it: none of its path rules covers it"
      case .undecided: "does not take it: to try its path rules takes too many steps, so what it says is not known"
      case .unusableLinks: "does not take it: its path rules cannot be used, and tagroute handlers --check says why"
      }
    guard wins else { return "\(id) \(why)" }
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
