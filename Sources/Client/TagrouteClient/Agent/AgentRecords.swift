public import NDEF

/// A tap in the inbox.
public struct TapDescription: BusRecord, Sendable, Hashable {
  /// A UUID.
  public var id = ""
  /// When the tag was read, in microseconds since 1970-01-01 00:00 UTC.
  public var time: UInt64 = 0
  /// The link, in its normal form.
  public var uri = ""
  /// The text of the notification, or a name for contents without a link or a text.
  public var title = ""
  /// `received`, `shown`, `opening`, `delivered`, `dismissed`, `failed`, `expired`. Later versions may add values.
  public var state = ""
  /// The desktop id of the handler; nil if there is none.
  public var handler: String?
  /// The name of the rule that decides; nil if none does, and with an agent that does not name it.
  public var rule: String?
  /// The program of that rule; nil if it runs none.
  public var program: String?
  /// The whole NDEF message; nil in a list.
  public var message: [UInt8]?
  /// Why this handler was chosen, as decided before the tap was shown. Nil in a list, and after its notification has
  /// gone.
  public var reason: String?
  /// Why the tap is in its state; empty if there is no more to report.
  public var stateReason = ""
  /// The same for programs, as documented for `ListInbox` of `org.tagroute.Agent1`. Later versions may add values.
  public var stateReasonCode = ""
  /// When the tap entered its state, in the same unit as `time`; nil in a list.
  public var stateTime: UInt64?
  /// The tag's technology, for example `type-2`; empty in a list.
  public var technology = ""
  /// The tag's UID; empty in a list, and for a tag without one.
  public var uid: [UInt8] = []
  /// The reader's object path at the daemon; empty in a list.
  public var reader = ""
  /// Its position in a list; newer taps have greater numbers. Nil outside a list.
  public var sequence: UInt64?

  package init() {}

  /// What was read; nil in a list without messages. Decodes the message.
  public var read: TagRead? {
    message.map { bytes in
      TagRead(
        id: id, time: time, reader: reader, technology: technology, uid: uid, bytes: bytes,
        damage: stateReasonCode == "damaged" ? stateReason : "")
    }
  }

  package static let fields = listed + details

  /// A list has the details only if it has the messages.
  package var presentFields: [BusField<Self>] { message == nil ? Self.listed : Self.fields }

  private static let listed: [BusField<Self>] = [
    .text("id", \.id), .number("time", \.time), .text("uri", \.uri), .text("title", \.title),
    .text("state", \.state), .textOrEmpty("handler", \.handler), .number("sequence", \.sequence).notInJSON,
    .text("rule", \.rule), .text("program", \.program), .text("state-reason", \.stateReason),
    .text("state-reason-code", \.stateReasonCode), .printed("read-at") { UTCTime.text($0.time) },
  ]

  private static let details: [BusField<Self>] = [
    .bytes("message", \.message), .text("reason", \.reason), .number("state-time", \.stateTime),
    .printed("state-at") { $0.stateTime.map(UTCTime.text) },
    .text("technology", \.technology), .bytes("uid", \.uid), .text("reader", \.reader),
  ]
}

/// A handler that the agent knows.
public struct HandlerDescription: BusRecord, Sendable, Hashable {
  /// The desktop id.
  public var id = ""
  /// The app's name, for a person.
  public var name = ""
  /// The desktop entry's file.
  public var path = ""
  /// The domains it takes. A domain starts with `*.` if the handler takes its subdomains.
  public var domains: [String] = []
  /// The schemes it takes.
  public var schemes: [String] = []
  /// The media types of records that it takes, each exact or `type/*`.
  public var mimeTypes: [String] = []
  /// The external types of records that it takes.
  public var externalTypes: [String] = []
  /// Whether it needs no permission: only root can change its entry, and the entry does not come from a store.
  public var trusted = false
  /// The origin of its entry: `system`, `store` or `user`; empty with a `problem`.
  public var origin = ""
  /// The claims that it opens by the user's preference.
  public var preferred: [String] = []
  /// The claims that the user has allowed its entry to open.
  public var allowed: [String] = []
  /// The claims that the user has blocked for it, or `*` for all.
  public var blocked: [String] = []
  /// The error in the entry, and how to fix it. An element with a problem has only the problem; another element has the
  /// valid claims.
  public var problem: String?
  /// The line of the problem, from 1; nil if it has none.
  public var line: UInt32?
  /// The column of the problem, from 1; nil if it has none.
  public var column: UInt32?

  package init() {}

  package init(id: String, path: String, problem: String, line: Int?, column: Int?) {
    (self.id, self.path, self.problem) = (id, path, problem)
    self.line = line.map(UInt32.init(clamping:))
    self.column = column.map(UInt32.init(clamping:))
  }

  package static let fields: [BusField<Self>] = [
    .text("id", \.id), .text("name", \.name), .text("path", \.path), .texts("domains", \.domains),
    .texts("schemes", \.schemes), .texts("mime-types", \.mimeTypes), .texts("external-types", \.externalTypes),
    .flag("trusted", \.trusted), .text("origin", \.origin),
    .texts("preferred", \.preferred), .texts("allowed", \.allowed), .texts("blocked", \.blocked),
    .text("problem", \.problem), .number("line", \.line), .number("column", \.column),
  ]

  /// `FILE:LINE:COLUMN`, as compilers print it and editors understand it.
  package var place: String { path + [line, column].compactMap { $0.map { ":\($0)" } }.joined() }
}

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

  package static let fields: [BusField<Self>] = [
    .text("id", \.id), .text("claim", \.claim), .text("outcome", \.outcome), .text("trust", \.trust),
    .text("rule", \.rule), .text("reason", \.reason),
  ]
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

  package static let fields: [BusField<Self>] = [
    .text("uri", \.uri), .text("kind", \.kind), .text("handler", \.handler), .texts("candidates", \.candidates),
    .number("more-candidates", \.moreCandidates), .records("claimants", \.claimants),
    .number("more-claimants", \.moreClaimants), .flag("trusted", \.trusted), .text("question", \.question),
    .text("record-type", \.recordType), .text("rule", \.rule), .text("action", \.action), .flag("asks", \.asks),
    .text("reason", \.reason), .texts("steps", \.steps),
  ]
}

extension Resolution {
  /// Every step, and every claimant that no step mentions, without the reason.
  package var explanation: [String] {
    // A rule that matches is named by the reason.
    let told = steps.filter { !$0.hasSuffix(reason) && !(rule != nil && $0.hasSuffix(" matches")) }
    let untold = claimants.filter { claimant in
      claimant.reason != reason && !told.contains { $0.hasSuffix(claimant.reason) }
    }
    let more = moreClaimants > 0 ? ["claimant: and \(moreClaimants) more"] : []
    return told + untold.map { "claimant: \($0.reason)" } + more
  }

  /// Whether its reason only names the claim of the app, as the reason of the app among the claimants does.
  package var repeatsClaim: Bool {
    ["universal-link", "scheme", "record"].contains(kind) && claimants.contains { $0.id == handler }
  }
}
