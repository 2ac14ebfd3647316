package import UniversalLinks

/// The application that opens the link or the record of a tag, and why.
package struct Route: Sendable, Hashable {
  /// Scripts read the raw values.
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    /// A handler claims the link's domain and gets the whole message.
    case universalLink = "universal-link"
    /// A handler claims the scheme for tags and gets the whole message.
    case scheme
    /// The scheme's default application gets the URI alone.
    case `default`
    /// There is no URI, or no application to open it.
    case none
    /// The URI is malformed, or is never opened.
    case refused
    case rule
    /// A handler declares the type of the record and gets the whole message.
    case record
    /// The default application of the record's media type gets a file with the record's contents.
    case recordDefault = "record-default"
    /// NetworkManager connects to the Wi-Fi network of the record, if the user agrees.
    case wifi
  }

  /// The question to the user before the handler is opened. Scripts read the raw values.
  package enum Question: String, Sendable, Hashable, CaseIterable {
    /// Only whether to open it now.
    case nothing
    /// Whether this handler may open such links. The handler is not trusted yet.
    case whetherAllowed = "whether-allowed"
    /// Which of the candidates opens such links.
    case which
  }

  /// One step of the explanation.
  package struct Step: Sendable, Hashable, CustomStringConvertible {
    /// What was examined: `rule`, `record`, `uri`, `domain`, `scheme`, `type`, `default`, `wifi` or `choice`.
    /// More may be added.
    package let subject: String
    /// A sentence without its full stop.
    package let finding: String

    package init(_ subject: String, _ finding: String) {
      self.subject = subject
      self.finding = finding
    }

    package var description: String { "\(subject): \(finding)" }
  }

  package let kind: Kind
  /// Nil if no URI decided, or it is refused.
  package let uri: URI?
  /// The application that opens the URI: the first candidate, or the default application. Nil for `none` and `refused`.
  package let handler: Application?
  /// All applications that may open the URI, in the order in which they are offered. Empty for `none` and `refused`.
  package let candidates: [Application]
  /// The candidates that claim the link, then some of the applications that claim it but do not open it.
  package internal(set) var claimants: [Candidate] = []
  /// How many more applications claim the link but do not open it and are not in `claimants`.
  package internal(set) var claimantsLeftOut = 0
  package internal(set) var question = Question.nothing
  /// The default application of the scheme or of the record's type, if the user does not want the handler. It gets the
  /// URI alone, or a file. Nil for `default` and `recordDefault`, and if no default application may be offered.
  package internal(set) var alternative: Application?
  /// Whether `handler` may be offered without asking the user first.
  package let trusted: Bool
  /// The error in the URI, for `refused`. Nil for all other kinds, and if the URI cannot even be decoded.
  package internal(set) var refusal: URIError.Code?
  /// A sentence without its full stop. For `refused` it quotes only single characters and the scheme of the URI.
  package let reason: String
  /// The steps to the answer, in order. Empty if the caller did not ask for them.
  package internal(set) var steps: [Step]

  package internal(set) var rule: TapRule?
  /// Whether the application that a rule opens is a handler.
  var opensHandler = false
  /// If a rule decides, the desktop id of the handler that opens the tag without rules, and needs no permission for it.
  /// Nil if there is no such handler, or no rule decides.
  package internal(set) var handlerWithoutRules: String? = nil

  /// The record that decides, if the message has no link; nil if it has one, or no record has a type that apps can
  /// declare.
  package internal(set) var record: TypedRecord? = nil

  /// The record that no application gets because its type is neither shown nor played; nil if there is none. A caller can
  /// show its type and size.
  package var unopenedRecord: TypedRecord? {
    guard handler == nil, uri == nil, network == nil, let record, case .media = record.type, !record.type.mayBeFile,
      !record.holdsWiFi
    else { return nil }
    return record
  }

  /// The Wi-Fi network that decides, for `wifi`, and for `none` if it cannot be used. Nil for all other kinds.
  package internal(set) var network: WiFiOffer? = nil

  /// If not, the handler gets the URI alone, or a file with the record.
  package var handsOverMessage: Bool { kind == .universalLink || kind == .scheme || kind == .record || opensHandler }
}

extension Route {
  /// The same route without the applications that do not open the link: nobody is shown them.
  package var withoutLosers: Route {
    var route = self
    route.claimants = claimants.filter(\.wins)
    route.claimantsLeftOut = 0
    return route
  }
}

/// The steps that lead to an answer, and the applications that claim the link but do not open it. The steps are
/// recorded only if the caller wants to read them.
struct Explanation {
  private let isWanted: Bool
  private(set) var steps: [Route.Step] = []
  private(set) var losers: [Candidate] = []
  /// Of further applications that lost.
  private(set) var leftOut = 0

  init(isWanted: Bool) { self.isWanted = isWanted }

  mutating func add(_ subject: String, _ finding: @autoclosure () -> String) {
    if isWanted { steps.append(Route.Step(subject, finding())) }
  }

  mutating func lose(_ candidates: [Candidate], leftOut count: Int) {
    losers += candidates
    leftOut += count
  }
}
