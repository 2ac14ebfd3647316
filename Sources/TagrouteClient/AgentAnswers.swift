import Bus

/// How the agent is.
public struct AgentStatus: Sendable, Hashable {
  /// The agent's version, `major.minor.patch`.
  public var version: String
  /// The version of the interfaces that it speaks; 0 where it does not say, as one from before they had a version.
  public var interfaceVersion: UInt32 = 0
  /// Whether the daemon gives it the tags of this session's seat.
  public var registered: Bool
  /// Why the daemon has not accepted it; nil where the agent does not say.
  public var registrationError: RegistrationError?
  /// What keeps `agent.conf`, as it was read last, from being in force; the one before it is. Empty where there is nothing.
  public var configurationError = ""
  /// When the `agent.conf` that is in force was read, in microseconds since 1970; nil where the agent does not say.
  public var configurationTime: UInt64?

  /// What a daemon has answered to an agent that wanted to be registered.
  public struct RegistrationError: Sendable, Hashable {
    /// The error's name, such as `org.tagroute.Error.NotASession`; empty where there is none.
    public var name: String
    /// For a person; untrusted.
    public var message: String

    /// Nil where the value is none of `RegistrationError`.
    init?(_ value: Value?) {
      let words = value?.asStructure?.compactMap(\.asString) ?? []
      guard words.count == 2 else { return nil }
      self.init(name: words[0], message: words[1])
    }

    init(name: String, message: String) { (self.name, self.message) = (name, message) }

    /// Whether there is none: it has been accepted, or has not been answered yet.
    public var isNone: Bool { name.isEmpty }
  }
}

/// A handler that claims a URI, and why it opens it or does not.
public struct ClaimantDescription: Sendable, Hashable {
  /// The desktop id.
  public var id: String
  /// What it claims that covers the URI.
  public var claim: String
  /// Why it won or lost: `only`, `preferred`, `offered`, `another-is-preferred`, `less-exact`, `blocked`, `excluded`,
  /// `not-covered`, `undecided`, `unusable-links`; others may come.
  public var outcome: String
  /// `system`, `vouched-for`, `confirmed` or `unconfirmed`.
  public var trust: String
  /// Where the rule stands in its `Links=` that excludes the URI; nil where none does.
  public var rule: String?
  /// All that in a sentence.
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

/// Where a URI would go.
public struct Resolution: Sendable, Hashable {
  /// The URI in its normal form, or as given where it is refused.
  public var uri: String
  /// `universal-link`, `scheme`, `default`, `none` or `refused`.
  public var kind: String
  /// The handler's desktop id; nil where there is none.
  public var handler: String?
  /// The desktop ids of the handlers that could take it, the best first.
  public var candidates: [String]
  /// How many more could take it.
  public var moreCandidates: UInt32
  /// Those who claim it, whoever opens it.
  public var claimants: [ClaimantDescription]
  /// How many more claim it.
  public var moreClaimants: UInt32
  /// Whether the handler needs no confirmation.
  public var trusted: Bool
  /// What the user is asked first: `nothing`, `whether-allowed` or `which`; others may come.
  public var question: String
  /// Why, in a sentence.
  public var reason: String
  /// Every step that led there.
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

/// One handler that the agent knows.
public struct HandlerDescription: Sendable, Hashable {
  /// The desktop id.
  public var id: String
  /// What a person calls the app.
  public var name: String
  /// The desktop entry's file.
  public var path: String
  /// The domains it takes, `*.` before those whose subdomains it takes.
  public var domains: [String]
  /// The schemes it takes.
  public var schemes: [String]
  /// Whether nobody but root can change its entry, and it is no store's: it needs no permission.
  public var trusted: Bool
  /// Whose its entry is: `system`, `store` or `user`; empty where it is wrong.
  public var origin: String
  /// The claims for which the user prefers it.
  public var preferred: [String]
  /// The claims for which the user has allowed its entry.
  public var allowed: [String]
  /// The claims for which it is not offered, or `*`.
  public var blocked: [String]
  /// What is wrong and what to do: this one tells of a mistake in the entry, and the claims that are right are another.
  public var problem: String?
  /// The line of the problem, from 1; nil where it is about none.
  public var line: UInt32?
  /// The column of the problem, from 1; nil where it is about none.
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

/// One tap in the inbox.
public struct TapDescription: Sendable, Hashable {
  /// A UUID.
  public var id: String
  /// When it was read, microseconds since 1970-01-01 00:00 UTC.
  public var time: UInt64
  /// The link, in its normal form.
  public var uri: String
  /// The tag's own title, or the link for display.
  public var title: String
  /// `received`, `shown`, `opening`, `delivered`, `dismissed`, `failed`, `expired`; others may come.
  public var state: String
  /// The desktop id of the handler; nil where there is none.
  public var handler: String?
  /// The whole NDEF message; nil in a list.
  public var message: [UInt8]?
  /// Why it goes where it goes, as it was decided before it was shown; nil in a list, and where its notification is gone.
  public var reason: String?
  /// Why it has come to its state; empty in a list, and where there is nothing to say.
  public var stateReason: String
  /// The same for programs, as `ListInbox` of `org.tagroute.Agent1` lists it; others may come. Empty in a list.
  public var stateReasonCode: String
  /// When it has come to its state, like `time`; nil in a list.
  public var stateTime: UInt64?
  /// The tag's technology, for example `type-2`; empty in a list.
  public var technology: String
  /// The tag's UID; empty in a list, and of a tag that has none.
  public var uid: [UInt8]
  /// The reader's object path at the daemon; empty in a list.
  public var reader: String
  /// Its place in a list, the greater the newer; nil where it is no list's.
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
