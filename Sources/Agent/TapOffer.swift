import Inbox
import NDEF
import Notifications
import Routing
import UniversalLinks

/// A tap with what may be done about it: the decision, and the words in which the user is asked.
struct TapOffer: Sendable, Hashable {
  /// The daemon's UUID for this reading.
  let id: String
  /// Which tag it was.
  let tag: TagIdentity
  /// The link; nil where there is none that may be opened.
  let uri: URI?
  /// Who opens it; nil where nobody does.
  let handler: Application?
  /// Everybody who could, the handler first.
  let candidates: [Application]
  /// Those that the user is offered, the handler first, each with the claim by which it is; at most ``maximumOffered``.
  let offered: [Candidate]
  /// The desktop ids of those offered whose names do not tell them from another that is installed.
  let namesakes: Set<String>
  /// The desktop ids of the candidates that the user has to be asked about before they are opened.
  private let unconfirmed: Set<String>
  /// What the user is asked before the handler is opened.
  let question: Route.Question
  /// Who gets the link alone where the user does not want the handler: the browser.
  let alternative: Application?
  /// Whether the handler gets the whole message, or the link alone.
  let handsOverMessage: Bool
  /// Why it is this handler, which names the domain that it claims; or why there is none, which tells nothing of the link but
  /// its scheme.
  let reason: String
  /// What a Smart Poster calls the link, in the user's language; empty where there is none.
  let title: DisplayText
  /// What is shown where nobody opens it: the link, or what a Text record says, on one line. Empty where there is neither.
  let words: DisplayText
  /// What keeps any app from opening the tag's link; nil if there is no such thing, or no link.
  let obstacle: Obstacle?

  /// What is wrong with a tag, whatever is installed.
  enum Obstacle: Sendable, Hashable {
    /// Its link is never opened. The code says why; nil if the link cannot be decoded.
    case refused(URIError.Code?)
    /// Its message is not NDEF.
    case unreadable
  }

  /// Notification servers show no more buttons than these.
  static let maximumOffered = 3
  private static let maximumWords = 4096

  /// - Parameters:
  ///   - reading: what was read.
  ///   - registry: who handles what.
  ///   - policy: what the user's configuration says.
  ///   - languages: the user's languages as codes of RFC 4646, the best first.
  init(_ reading: TagReading, registry: Registry, policy: RoutingPolicy, languages: [String]) {
    id = reading.id
    tag = reading.tag
    do {
      let message = try NDEFMessage(decoding: reading.message)
      let route = registry.route(for: message, policy: policy, explaining: false)
      uri = route.uri
      handler = route.handler
      candidates = route.candidates
      let offered = TapOffer.offered(of: route.claimants)
      self.offered = offered
      namesakes = TapOffer.namesakes(among: offered.map(\.application), in: registry)
      unconfirmed = TapOffer.unconfirmed(route.claimants)
      question = route.question
      alternative = route.alternative
      handsOverMessage = route.handsOverMessage
      reason = route.reason
      obstacle = route.kind == .refused ? .refused(route.refusal) : nil
      title =
        route.uri.map { TapOffer.title(of: message, for: $0, policy: policy, languages: languages) } ?? DisplayText("")
      let words = route.kind == .none ? route.uri?.string ?? TapOffer.text(of: message, languages: languages) : ""
      self.words = DisplayText(words, limit: TapOffer.maximumWords)
    } catch {
      (uri, handler, candidates, handsOverMessage) = (nil, nil, [], false)
      (offered, question, alternative, words) = ([], .nothing, nil, DisplayText(""))
      (namesakes, unconfirmed, obstacle) = ([], [], .unreadable)
      reason = "the message is not NDEF: \(error.description)"
      title = DisplayText("")
    }
  }

  init(
    id: String, tag: TagIdentity, uri: URI?, handler: Application?, candidates: [Application],
    offered: [Candidate] = [], namesakes: Set<String> = [],
    question: Route.Question = .nothing, alternative: Application? = nil, handsOverMessage: Bool, reason: String,
    title: DisplayText, words: DisplayText = DisplayText("")
  ) {
    self.id = id
    self.tag = tag
    self.uri = uri
    self.handler = handler
    self.candidates = candidates
    self.offered = offered
    self.namesakes = namesakes
    unconfirmed = TapOffer.unconfirmed(offered)
    self.question = question
    self.alternative = alternative
    self.handsOverMessage = handsOverMessage
    self.reason = reason
    self.title = title
    self.words = words
    obstacle = nil
  }

  /// Whether there is anybody to open it.
  var isOpenable: Bool { handler != nil && uri != nil }

  /// Whether there is anything to show: what nobody opens can still be read, and copied.
  var isShown: Bool { isOpenable || !words.isEmpty }

  /// How a tap ends that is not shown: nothing failed if there is only nothing to do with what is on the tag.
  var ending: (state: TapState, reason: TapReason) {
    obstacle != nil
      ? (.failed, TapReason(.refused, detail: reason)) : (.dismissed, TapReason(.nothingToOpen, detail: reason))
  }

  /// The same tap, opened by another application without a question.
  ///
  /// - Parameters:
  ///   - application: who opens it.
  ///   - whole: whether it gets the whole message, or the link alone.
  /// - Returns: the offer.
  func handed(to application: Application, whole: Bool) -> TapOffer {
    TapOffer(
      id: id, tag: tag, uri: uri, handler: application, candidates: candidates, offered: offered,
      namesakes: namesakes, alternative: alternative, handsOverMessage: whole, reason: reason, title: title)
  }

  /// Whether the user has to be asked before this one is opened, even where it was chosen once.
  func needsPermission(_ desktopID: String) -> Bool { unconfirmed.contains(desktopID) }

  /// Those who are offered: a route has its candidates first, and no more are looked at than are shown.
  static func offered(of claimants: some Sequence<Candidate>) -> [Candidate] {
    claimants.prefix(maximumOffered).filter(\.wins)
  }

  /// Of one that does not get the message, since the user has blocked it say, nobody is asked.
  private static func unconfirmed(_ claimants: [Candidate]) -> Set<String> {
    Set(claimants.lazy.filter { $0.wins && $0.trust == .unconfirmed }.map(\.application.desktopID))
  }

  /// Of those, the desktop ids of whose names another has, whether it is offered or only installed.
  private static func namesakes(among applications: [Application], in registry: Registry) -> Set<String> {
    Set(applications.filter { registry.hasNamesake(name(of: $0).string) }.map(\.desktopID))
  }

  /// What the inbox keeps of it.
  func tap(_ reading: TagReading) -> Tap {
    let isRefused = if case .refused = obstacle { true } else { false }
    let title = text.isEmpty ? TagContents.title(of: reading.message, isRefused: isRefused) : text
    return Tap(
      id: id, time: reading.time, message: reading.message, technology: reading.technology, uid: reading.uid,
      reader: reading.reader, uri: uri?.string, title: title.string, handler: handler?.desktopID)
  }

  /// The name of whoever opens it, for display.
  var handlerName: DisplayText { handler.map(TapOffer.name) ?? DisplayText("") }

  /// What is put on the clipboard: the link as it would be opened, or the words.
  var copied: String { uri?.string ?? words.string }

  /// The name of one that is offered, with the desktop id where the name alone could be that of another.
  func distinctName(of application: Application) -> DisplayText {
    let name = TapOffer.name(of: application)
    guard namesakes.contains(application.desktopID) else { return name }
    return DisplayText("\(DisplayText(name.string, limit: 30)) (\(DisplayText(application.desktopID, limit: 60)))")
  }

  /// An application's name for display, without quotation marks, which stand around it in a question.
  static func name(of application: Application) -> DisplayText {
    let name = DisplayText(withoutQuotationMarks(application.name), limit: 60)
    return name.isEmpty ? DisplayText(application.desktopID, limit: 60) : name
  }

  /// Words that somebody else's quotation marks are to stand around.
  static func withoutQuotationMarks(_ words: String) -> String {
    // No more than is looked at when it is shown.
    String(String.UnicodeScalarView(words.unicodeScalars.prefix(4096).filter { !quotationMarks.contains($0) }))
  }

  /// All that look like `“` and `”`, or stand in their place in a translation: by scalars, for a mark behind one makes another character of it.
  private static let quotationMarks = Set(
    "\"“”„‟″‶＂〝〞〟❝❞❠«»「」『』｢｣﹁﹂﹃﹄🙶🙷🙸\u{2BA}\u{2DD}\u{2EE}\u{5F4}\u{3003}".unicodeScalars)

  /// What nobody opens; else what the tag says of its link, and the place that it leads to.
  ///
  /// The tag's words stand in front only where an app gets the link that is there for just these links, and of which nothing is asked. A title
  /// can claim anything, another place included, and a banner that is collapsed shows no more than the beginning: where a browser is
  /// to open the link, or the user is to decide by the place, that stands there.
  var text: DisplayText {
    guard let uri else { return DisplayText(words.string, limit: 200) }
    let link = uri.display()
    guard !title.isEmpty else { return DisplayText(link, limit: 200) }
    let isTitled = handsOverMessage && question == .nothing && isOpenable
    return DisplayText(isTitled ? "\(title) · \(link)" : "\(link) · \(title)", limit: 200)
  }

  /// What the message says in words, in the user's language where it says it in several.
  private static func text(of message: NDEFMessage, languages: [String]) -> String {
    message.records.lazy.compactMap { try? TextRecord($0) }.preferred(in: languages)?.text ?? ""
  }

  /// What a Smart Poster calls `uri`; nothing where it is about another, which is then not the one that is opened.
  private static func title(
    of message: NDEFMessage, for uri: URI, policy: RoutingPolicy, languages: [String]
  ) -> DisplayText {
    guard let record = message.records.first(where: { $0.isWellKnown(SmartPosterRecord.type) }),
      let poster = try? SmartPosterRecord(record),
      let posterURI = try? URI(poster.uri), posterURI == uri,
      let title = poster.title(inPreferred: languages)
    else { return DisplayText("") }
    return DisplayText(title.text, limit: 60)
  }
}
