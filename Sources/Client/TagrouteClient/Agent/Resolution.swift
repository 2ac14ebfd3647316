/// A handler that claims a URI, and why it opens it or not.
public struct ClaimantDescription: BusRecord, Sendable, Hashable {
  /// The desktop id.
  public var id = ""
  /// Its claim that covers the URI.
  public var claim = ""
  /// Why it won or lost: `only`, `preferred`, `offered`, `another-is-preferred`, `less-exact`, `blocked`, `excluded`,
  /// `not-covered`, `undecided`, `unusable-links`. Later versions may add values.
  public var outcome = ""
  /// `system`, `vouched-for`, `confirmed` or `unconfirmed`.
  public var trust = ""
  /// The position of the rule in its path rules that excludes the URI; nil if no rule does.
  public var rule: String?
  /// The outcome, in a sentence.
  public var reason = ""

  package init() {}

  package static var fields: [BusField<Self>] {
    [
      .text("id", \.id), .text("claim", \.claim), .text("outcome", \.outcome), .text("trust", \.trust),
      .text("rule", \.rule), .text("reason", \.reason),
    ]
  }
}

/// The app that would open a URI, and why.
public struct Resolution: BusRecord, Sendable, Hashable {
  /// The URI in its normal form, or as given if it is refused.
  public var uri = ""
  /// `universal-link`, `scheme`, `default`, `none`, `refused`, `rule`, `record`, `record-default` or `wifi`. Later
  /// versions may add values.
  public var kind = ""
  /// The handler's desktop id; nil if there is none.
  public var handler: String?
  /// The desktop ids of the handlers that could take it, the best first.
  public var candidates: [String] = []
  /// The number of further handlers that could take it.
  public var moreCandidates: UInt32 = 0
  /// The handlers that claim it, including those that will not open it.
  public var claimants: [ClaimantDescription] = []
  /// The number of further handlers that claim it.
  public var moreClaimants: UInt32 = 0
  /// Whether the handler needs no confirmation.
  public var trusted = false
  /// The question that the user has to answer first: `nothing`, `whether-allowed` or `which`. Later versions may add
  /// values.
  public var question = ""
  /// The type of the record that decides if there is no link, such as `text/vcard`; nil if no such record decides.
  public var recordType: String?
  /// The name of the rule that decides; nil if none does.
  public var rule: String?
  /// The action of that rule: `open`, `open-default`, `run`, `show` or `ignore`; nil without a rule.
  public var action: String?
  /// Whether the user is asked first. Only a rule can do without.
  public var asks = true
  /// The reason, in a sentence.
  public var reason = ""
  /// Every step of the decision.
  public var steps: [String] = []

  package init() {}

  package static var fields: [BusField<Self>] {
    [
      .text("uri", \.uri), .text("kind", \.kind), .text("handler", \.handler), .texts("candidates", \.candidates),
      .number("more-candidates", \.moreCandidates), .records("claimants", \.claimants),
      .number("more-claimants", \.moreClaimants), .flag("trusted", \.trusted), .text("question", \.question),
      .text("record-type", \.recordType), .text("rule", \.rule), .text("action", \.action), .flag("asks", \.asks),
      .text("reason", \.reason), .texts("steps", \.steps),
    ]
  }
}
