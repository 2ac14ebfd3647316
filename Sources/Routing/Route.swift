public import UniversalLinks

/// Where a tag leads, and why.
public struct Route: Sendable, Hashable {
  /// What kind of answer it is. The raw values are what scripts read.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// A handler claims the link's domain and gets the whole message.
    case universalLink = "universal-link"
    /// A handler claims the scheme for tags and gets the whole message.
    case scheme
    /// The scheme's default application gets the URI alone.
    case `default`
    /// There is no URI, or nobody to open it.
    case none
    /// The URI is one that is never opened.
    case refused
  }

  /// What a user is asked before the handler is opened. The raw values are what scripts read.
  public enum Question: String, Sendable, Hashable, CaseIterable {
    /// Only whether to open it now.
    case nothing
    /// Whether this handler, for which nobody vouches, may open such links.
    case whetherAllowed = "whether-allowed"
    /// Which of the candidates opens such links.
    case which
  }

  /// One step of the explanation.
  public struct Step: Sendable, Hashable, CustomStringConvertible {
    /// What was looked at: `record`, `uri`, `domain`, `scheme`, `default` or `choice`; more may come.
    public let subject: String
    /// What was found there, as a sentence without its full stop.
    public let finding: String

    /// - Parameters:
    ///   - subject: what was looked at.
    ///   - finding: what was found there.
    public init(_ subject: String, _ finding: String) {
      self.subject = subject
      self.finding = finding
    }

    /// Subject and finding.
    public var description: String { "\(subject): \(finding)" }
  }

  /// What kind of answer it is.
  public let kind: Kind
  /// The URI that decided; nil where there is none or it is refused.
  public let uri: URI?
  /// Who opens it: the first candidate, or the default application; nil for `none` and `refused`.
  public let handler: Application?
  /// Everybody who may open it, in the order in which they are offered. Empty for `none` and `refused`.
  public let candidates: [Application]
  /// Of all who claim the link: those among the candidates, and then some of those who do not open it.
  public let claimants: [Candidate]
  /// How many more claim the link and do not open it than are in `claimants`.
  public let claimantsLeftOut: Int
  /// What the user is asked first.
  public let question: Question
  /// Who gets the URI alone where the user does not want the handler: the scheme's default application. Nil for `default`, and
  /// where there is none that may be offered.
  public let alternative: Application?
  /// Whether `handler` may be offered without asking the user first.
  public let trusted: Bool
  /// What is wrong with the URI, for `refused`; nil for every other kind, and if it cannot even be decoded.
  public let refusal: URIError.Code?
  /// Why, as a sentence without its full stop. For `refused` it tells nothing of the URI but single characters and its scheme.
  public let reason: String
  /// How the answer was reached, the last step last; empty where that was not asked for.
  public let steps: [Step]

  /// Whether the handler gets the whole NDEF message, or the URI alone.
  public var handsOverMessage: Bool { kind == .universalLink || kind == .scheme }

  init(
    kind: Kind, uri: URI?, handler: Application?, candidates: [Application], claimants: [Candidate] = [],
    claimantsLeftOut: Int = 0, question: Question = .nothing, alternative: Application? = nil, trusted: Bool,
    refusal: URIError.Code? = nil, reason: String, steps: [Step]
  ) {
    self.kind = kind
    self.uri = uri
    self.handler = handler
    self.candidates = candidates
    self.claimants = claimants
    self.claimantsLeftOut = claimantsLeftOut
    self.question = question
    self.alternative = alternative
    self.trusted = trusted
    self.refusal = refusal
    self.reason = reason
    self.steps = steps
  }
}
