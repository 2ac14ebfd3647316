/// An application that claims a link, and why it opens it or does not.
public struct Candidate: Sendable, Hashable {
  /// Why it won or lost. The raw values are what scripts read.
  public enum Outcome: String, Sendable, Hashable, CaseIterable {
    /// It is the only one with the most exact claim.
    case only
    /// The user prefers it.
    case preferred
    /// It is one of several among which the user chooses.
    case offered
    /// The user prefers another.
    case anotherIsPreferred = "another-is-preferred"
    /// Another's claim is more exact.
    case lessExact = "less-exact"
    /// The user has blocked it.
    case blocked
    /// A rule of its own keeps the link out.
    case excluded
    /// It has rules of its own, and none covers the link.
    case notCovered = "not-covered"
    /// To try its rules takes more steps than are allowed: it is none that takes the link.
    case undecided
    /// Its file of rules cannot be used, so it is not known which links it wants.
    case unusableLinks = "unusable-links"
  }

  /// Why it may be opened without a question, or may not. The raw values are what scripts read.
  public enum Trust: String, Sendable, Hashable, CaseIterable {
    /// Only root can have installed it.
    case system
    /// The link's domain names it.
    case vouchedFor = "vouched-for"
    /// The user has allowed it.
    case confirmed
    /// Nobody has yet.
    case unconfirmed
  }

  /// The application.
  public let application: Application
  /// Its most exact claim that covers the link, as ``HandlerChoices`` spells it.
  public let claim: String
  /// Why it won or lost.
  public let outcome: Outcome
  /// Why it may be opened without a question, or may not. Of one that is blocked or does not take the link it is not
  /// looked at, and `unconfirmed`.
  public let trust: Trust

  /// For `excluded`: where the rule stands in the file of rules.
  public let rule: String?

  init(_ application: Application, claim: String, outcome: Outcome, trust: Trust, rule: String? = nil) {
    self.application = application
    self.claim = claim
    self.outcome = outcome
    self.trust = trust
    self.rule = rule
  }
}

extension Candidate {
  /// Whether it is among those who may open the link.
  public var wins: Bool { outcome == .only || outcome == .preferred || outcome == .offered }

  /// Why it won or lost, and why it may be opened without a question or may not: a sentence without its full stop.
  public var sentence: String {
    let id = application.desktopID
    let why =
      switch outcome {
      case .only: "is the only one that claims \(claim)"
      case .preferred: "is preferred by the user"
      case .offered: "is one of several to choose from, by its claim to \(claim)"
      case .anotherIsPreferred: "gives way to the one that the user prefers"
      case .lessExact: "gives way to a more exact claim than \(claim)"
      case .blocked: "is blocked by the user"
      case .excluded: "does not take it: \(rule ?? "a rule") of its Links= excludes it"
      case .notCovered: "does not take it: no rule of its Links= covers it"
      case .undecided: "does not take it: to try its Links= takes too many steps, so what it says is not known"
      case .unusableLinks: "does not take it: its Links= cannot be used, and tagroute handlers --check says why"
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
