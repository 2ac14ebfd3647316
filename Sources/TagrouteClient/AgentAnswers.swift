import Bus

/// The status of the agent.
public struct AgentStatus: Sendable, Hashable {
  /// The agent's version, `major.minor.patch`.
  public var version: String
  /// The version of its interfaces; 0 for an agent from before they had a version.
  public var interfaceVersion: UInt32 = 0
  /// Whether the daemon gives it the tags of this session's seat.
  public var registered: Bool
  /// Why the daemon has not accepted it; nil if the agent does not report that.
  public var registrationError: RegistrationError?
  /// The error in the latest `agent.conf`. The one before it then stays in force. Empty if there is no error.
  public var configurationError = ""
  /// When the `agent.conf` in force was read, in microseconds since 1970; nil if the agent does not report it.
  public var configurationTime: UInt64?

  /// The daemon's reply to an agent that tried to register.
  public struct RegistrationError: Sendable, Hashable {
    /// The error's name, such as `org.tagroute.Error.NotASession`; empty if there is no error.
    public var name: String
    /// A message for a person; untrusted.
    public var message: String

    /// Nil if the value is not a `RegistrationError`.
    init?(_ value: Value?) {
      let words = value?.asStructure?.compactMap(\.asString) ?? []
      guard words.count == 2 else { return nil }
      self.init(name: words[0], message: words[1])
    }

    init(name: String, message: String) { (self.name, self.message) = (name, message) }

    /// Whether there is no error: the daemon has accepted the agent, or has not replied yet.
    public var isNone: Bool { name.isEmpty }
  }
}

/// A handler that claims a URI, and why it opens it or not.
public struct ClaimantDescription: Sendable, Hashable {
  /// The desktop id.
  public var id: String
  /// Its claim that covers the URI.
  public var claim: String
  /// Why it won or lost: `only`, `preferred`, `offered`, `another-is-preferred`, `less-exact`, `blocked`, `excluded`,
  /// `not-covered`, `undecided`, `unusable-links`. Later versions may add values.
  public var outcome: String
  /// `system`, `vouched-for`, `confirmed` or `unconfirmed`.
  public var trust: String
  /// The position of the rule in its `Links=` that excludes the URI; nil if no rule does.
  public var rule: String?
  /// The outcome, in a sentence.
  public var reason: String

  init(_ values: [String: Value]) {
    id = values["id"]?.asString ?? ""
    claim = values["claim"]?.asString ?? ""
    outcome = values["outcome"]?.asString ?? ""
    trust = values["trust"]?.asString ?? ""
    rule = values["rule"]?.asString
    reason = values["reason"]?.asString ?? ""
  }
}

/// The app that would open a URI, and why.
public struct Resolution: Sendable, Hashable {
  /// The URI in its normal form, or as given if it is refused.
  public var uri: String
  /// `universal-link`, `scheme`, `default`, `none` or `refused`.
  public var kind: String
  /// The handler's desktop id; nil if there is none.
  public var handler: String?
  /// The desktop ids of the handlers that could take it, the best first.
  public var candidates: [String]
  /// The number of further handlers that could take it.
  public var moreCandidates: UInt32
  /// The handlers that claim it, including those that will not open it.
  public var claimants: [ClaimantDescription]
  /// The number of further handlers that claim it.
  public var moreClaimants: UInt32
  /// Whether the handler needs no confirmation.
  public var trusted: Bool
  /// The question that the user has to answer first: `nothing`, `whether-allowed` or `which`. Later versions may add
  /// values.
  public var question: String
  /// The reason, in a sentence.
  public var reason: String
  /// Every step of the decision.
  public var steps: [String]

  init(_ values: [String: Value]) {
    uri = values["uri"]?.asString ?? ""
    kind = values["kind"]?.asString ?? ""
    handler = values["handler"]?.asString
    candidates = values["candidates"]?.asStrings ?? []
    moreCandidates = values["more-candidates"]?.asUInt32 ?? 0
    claimants = values["claimants"]?.asArray?.compactMap(\.asDictionary).map(ClaimantDescription.init) ?? []
    moreClaimants = values["more-claimants"]?.asUInt32 ?? 0
    question = values["question"]?.asString ?? ""
    trusted = values["trusted"]?.asBool ?? false
    reason = values["reason"]?.asString ?? ""
    steps = values["steps"]?.asStrings ?? []
  }
}

/// A handler that the agent knows.
public struct HandlerDescription: Sendable, Hashable {
  /// The desktop id.
  public var id: String
  /// The app's name, for a person.
  public var name: String
  /// The desktop entry's file.
  public var path: String
  /// The domains it takes. `*.` stands before a domain if it takes the subdomains.
  public var domains: [String]
  /// The schemes it takes.
  public var schemes: [String]
  /// Whether it needs no permission: only root can change its entry, and the entry is not a store's.
  public var trusted: Bool
  /// The origin of its entry: `system`, `store` or `user`; empty if the entry is invalid.
  public var origin: String
  /// The claims that it opens by the user's preference.
  public var preferred: [String]
  /// The claims that the user has allowed its entry to open.
  public var allowed: [String]
  /// The claims that the user has blocked for it, or `*` for all.
  public var blocked: [String]
  /// The mistake in the entry, and how to fix it. Such an element is only about the mistake; another one has the valid
  /// claims.
  public var problem: String?
  /// The line of the problem, from 1; nil if it has none.
  public var line: UInt32?
  /// The column of the problem, from 1; nil if it has none.
  public var column: UInt32?

  init(_ values: [String: Value]) {
    id = values["id"]?.asString ?? ""
    name = values["name"]?.asString ?? ""
    path = values["path"]?.asString ?? ""
    domains = values["domains"]?.asStrings ?? []
    schemes = values["schemes"]?.asStrings ?? []
    trusted = values["trusted"]?.asBool ?? false
    origin = values["origin"]?.asString ?? ""
    preferred = values["preferred"]?.asStrings ?? []
    allowed = values["allowed"]?.asStrings ?? []
    blocked = values["blocked"]?.asStrings ?? []
    problem = values["problem"]?.asString
    line = values["line"]?.asUInt32
    column = values["column"]?.asUInt32
  }
}

/// A tap in the inbox.
public struct TapDescription: Sendable, Hashable {
  /// A UUID.
  public var id: String
  /// When the tag was read, in microseconds since 1970-01-01 00:00 UTC.
  public var time: UInt64
  /// The link, in its normal form.
  public var uri: String
  /// The tag's own title, or the link for display.
  public var title: String
  /// `received`, `shown`, `opening`, `delivered`, `dismissed`, `failed`, `expired`. Later versions may add values.
  public var state: String
  /// The desktop id of the handler; nil if there is none.
  public var handler: String?
  /// The whole NDEF message; nil in a list.
  public var message: [UInt8]?
  /// Why this handler was chosen, as decided before the tap was shown. Nil in a list, and after its notification has
  /// gone.
  public var reason: String?
  /// Why the tap is in its state; empty in a list, and if there is no more to report.
  public var stateReason: String
  /// The same for programs, as documented for `ListInbox` of `org.tagroute.Agent1`. Later versions may add values.
  /// Empty in a list.
  public var stateReasonCode: String
  /// When the tap entered its state, in the same unit as `time`; nil in a list.
  public var stateTime: UInt64?
  /// The tag's technology, for example `type-2`; empty in a list.
  public var technology: String
  /// The tag's UID; empty in a list, and for a tag without one.
  public var uid: [UInt8]
  /// The reader's object path at the daemon; empty in a list.
  public var reader: String
  /// Its position in a list; newer taps have greater numbers. Nil outside a list.
  public var sequence: UInt64?

  init(_ values: [String: Value]) {
    id = values["id"]?.asString ?? ""
    time = values["time"]?.asUInt64 ?? 0
    uri = values["uri"]?.asString ?? ""
    title = values["title"]?.asString ?? ""
    state = values["state"]?.asString ?? ""
    handler = values["handler"]?.asString.flatMap { $0.isEmpty ? nil : $0 }
    message = values["message"]?.asBytes
    reason = values["reason"]?.asString
    stateReason = values["state-reason"]?.asString ?? ""
    stateReasonCode = values["state-reason-code"]?.asString ?? ""
    stateTime = values["state-time"]?.asUInt64
    technology = values["technology"]?.asString ?? ""
    uid = values["uid"]?.asBytes ?? []
    reader = values["reader"]?.asString ?? ""
    sequence = values["sequence"]?.asUInt64
  }
}
