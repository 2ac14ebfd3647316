import Handlers
import Inbox
import NDEF
import Names
import Notifications
import Routing
import UniversalLinks

/// A tap with the decision about it: which app opens it, and what the user is asked.
struct TapOffer: Sendable, Hashable {
  /// The daemon's UUID for this reading.
  let id: String
  let tag: TagIdentity
  /// The link; nil if there is none that may be opened.
  let uri: URI?
  /// The app that opens the link; nil if there is none.
  private(set) var handler: Application?
  /// All apps that can open the link, the handler first.
  let candidates: [Application]
  /// The candidates that get a button, the handler first, each with its claim; at most ``maximumOffered``.
  let offered: [Candidate]
  /// The desktop ids of offered apps that share their name with another installed app.
  let namesakes: Set<String>
  /// The desktop ids of the candidates that need the user's permission.
  private(set) var unconfirmed: Set<String>
  /// The question before the handler is opened.
  private(set) var question: Route.Question
  /// The app that gets the link alone, or a file with the record, if the user does not want the handler: the browser.
  let alternative: Application?
  /// Whether the handler gets the whole message, or the link alone.
  private(set) var handsOverMessage: Bool
  /// Why this handler was chosen, with the domain that it claims. Without a handler, it names only the link's scheme.
  let reason: String
  /// The Smart Poster's title for the link, in the user's language; may be empty.
  let title: DisplayText
  /// The text to show if no app opens the tap: the link, or the Text record, on one line. If an app opens a record, the
  /// name of its type. The UID of a bare tag. May be empty.
  let words: DisplayText
  /// Why no app may open the tag's link; nil if one may, or there is no link.
  let obstacle: Obstacle?
  /// The rule that decides about the tap; nil if none does.
  private(set) var rule: TapRule? = nil
  /// ``Route/handlerWithoutRules``.
  private(set) var handlerWithoutRules: String? = nil
  /// The program that the rule runs; nil if it runs none.
  private(set) var command: TapCommand? = nil
  /// How it is opened.
  private(set) var manner = Manner.once
  /// The record that decides, if there is no link; nil if there is one, or no record has a type that apps can declare.
  private(set) var record: TypedRecord? = nil
  /// The record of a type that no app opens; nil for all other taps, and if the tag has a text to show.
  private(set) var data: TagData? = nil
  /// Whether the message has a record for apps, even if its type is malformed or an Android app's.
  private(set) var holdsTypedRecord = false
  /// Whether the tag has no message.
  private(set) var isBare = false
  /// The Wi-Fi network, if no app takes the record; nil for all other taps.
  private(set) var network: WiFiOffer? = nil
  /// Whether NetworkManager can connect to the network. Only known for a network without an obstacle of its own.
  private(set) var wiFi = WiFiAvailability.noNetworkManager
  /// The data about the tag, for the programs and apps that get it.
  let details: TagDetails

  /// How a tap is opened.
  enum Manner: Sendable, Hashable {
    /// With a click, and the next tap of the tag needs another one.
    case once
    /// With a click that also writes the rule that opens the tag without one from now on.
    case always
    /// With a click that also keeps the profile of the Wi-Fi network.
    case savingNetwork
    /// Without a click, because a rule says so.
    case withoutClick
  }

  /// A problem of the tag itself, with any set of installed apps.
  enum Obstacle: Sendable, Hashable {
    /// The link is never opened, for the reason of this code; nil if it cannot be decoded.
    case refused(URIError.Code?)
    /// The contents are no message.
    case damaged
  }

  /// Notification servers show at most this many buttons.
  static let maximumOffered = 3
  private static let maximumWords = 4096
}

extension TapOffer {
  /// The languages are codes of RFC 4646, the best first.
  init(
    _ reading: TagReading, registry: Registry, policy: RoutingPolicy, languages: [String], rules: RuleSet = RuleSet()
  ) {
    id = reading.id
    tag = reading.tag
    let decoded = Result { () throws(NDEFError) in try NDEFMessage(decoding: reading.message) }
    let message = try? decoded.get()
    let facts = reading.facts(message, withDigest: rules.needsDigest)
    let route = registry.route(for: facts, rules: rules, policy: policy, explaining: false)
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
    title =
      message.flatMap { message in
        route.uri.map { TapOffer.title(of: message, for: $0, policy: policy, languages: languages) }
      } ?? DisplayText("")
    isBare = reading.isBare
    details = reading.details
    let text = DisplayText(message.map { TapOffer.text(of: $0, languages: languages) } ?? "", limit: Self.maximumWords)
    let data = text.isEmpty ? TagData(route, message) : nil
    words =
      reading.isBare
      ? TapOffer.words(ofBare: reading, route, isShown: policy.showsBareTags)
      : TapOffer.words(of: route, message, reading, text: text, data)
    self.data = data
    record = route.record
    holdsTypedRecord =
      message?.records.contains { $0.typeNameFormat == .mediaType || $0.typeNameFormat == .external } ?? false
    network = route.network
    rule = route.rule
    handlerWithoutRules = route.handlerWithoutRules
    command = route.rule.flatMap { TapCommand($0, uri: route.uri) }
    if case .failure(let error) = decoded, !reading.isBare, route.rule == nil {
      (obstacle, reason) = (
        .damaged, reading.damage.isEmpty ? "the message is not NDEF: \(error.description)" : reading.damage
      )
    } else {
      (obstacle, reason) = (route.kind == .refused ? .refused(route.refusal) : nil, route.reason)
    }
  }

  /// The text to show if no app opens the tap, or an app opens a record. A rule may concern a tag without a link and a
  /// text: then it is the name of its contents, as for data that is only shown.
  private static func words(
    of route: Route, _ message: NDEFMessage?, _ reading: TagReading, text: DisplayText, _ data: TagData?
  ) -> DisplayText {
    if let network = route.network { return DisplayText(Messages.network(networkName(network))) }
    if route.handler != nil || data != nil, let type = route.record?.type { return TagContents.title(of: type) }
    guard route.handler == nil, route.kind == .none || route.kind == .rule else { return DisplayText("") }
    let shown = route.uri.map { DisplayText($0.string, limit: maximumWords) } ?? text
    guard shown.isEmpty, route.rule?.action.isAboutAnyContents == true else { return shown }
    return TagContents.title(of: reading.message, message == nil ? .damaged : route.refusal.map { .refused($0) })
  }

  /// The UID of a tag without a message, if a rule or the settings show such a tag. A tag without a UID has nothing that
  /// can be shown, except what a rule says about it.
  private static func words(ofBare reading: TagReading, _ route: Route, isShown: Bool) -> DisplayText {
    let isRuled = route.rule?.action.isAboutAnyContents == true
    guard isRuled || isShown && route.rule == nil else { return DisplayText("") }
    guard reading.uid.isEmpty else { return DisplayText(UIDText.text(reading.uid)) }
    return DisplayText(isRuled ? Messages.bareTag : "")
  }

  /// Whether an app opens it, or a program runs.
  var isOpenable: Bool { command != nil || connects || handler != nil && (uri != nil || record != nil) }

  /// Whether NetworkManager connects to the network of the tag, after the user has agreed.
  var connects: Bool { network != nil && network?.obstacle == nil && wiFi == .available }

  /// Whether there is anything to show: a text or a link without an app can still be read and copied, and data saved.
  var isShown: Bool { !isIgnored && (isOpenable || !words.isEmpty) }

  /// Whether a rule ignores the tag.
  private var isIgnored: Bool { rule?.action == .ignore }

  /// Whether a rule lets the tag open without a click.
  var mayOpenAtOnce: Bool { rule?.asks == false && isOpenable }

  /// The same offer, opened in this manner.
  func opening(_ manner: Manner) -> TapOffer {
    var copy = self
    copy.manner = manner
    return copy
  }

  /// The same offer, with what is known about Wi-Fi now.
  func connecting(_ availability: WiFiAvailability) -> TapOffer {
    var copy = self
    copy.wiFi = availability
    return copy
  }

  /// The final state of a tap that is not shown. It is a failure only if an obstacle keeps the link from being opened.
  var ending: (state: TapState, reason: TapReason) {
    if isIgnored || isBare { return (.dismissed, TapReason(.ignored, detail: reason)) }
    if obstacle == .damaged { return (.failed, TapReason(.damaged, detail: reason)) }
    if obstacle != nil { return (.failed, TapReason(.refused, detail: reason)) }
    return (.dismissed, TapReason(holdsTypedRecord ? .ignored : .nothingToOpen, detail: reason))
  }

  /// The same tap, opened by another application without a question. `whole` means that the app gets the whole message,
  /// not the link alone.
  func handed(to application: Application, whole: Bool) -> TapOffer {
    var copy = self
    (copy.handler, copy.handsOverMessage, copy.question) = (application, whole, .nothing)
    copy.unconfirmed = TapOffer.unconfirmed(offered)
    return copy
  }

  /// Whether this app needs the user's permission, even if the user chose it before.
  func needsPermission(_ desktopID: String) -> Bool { unconfirmed.contains(desktopID) }

  /// The candidates that get a button. A route has them first, so only these are examined.
  static func offered(of claimants: some Sequence<Candidate>) -> [Candidate] {
    claimants.prefix(maximumOffered).filter(\.wins)
  }

  /// A blocked app does not get the message, so it needs no permission.
  private static func unconfirmed(_ claimants: [Candidate]) -> Set<String> {
    Set(claimants.lazy.filter { $0.wins && $0.trust == .unconfirmed }.map(\.application.desktopID))
  }

  /// The desktop ids of the apps that share their name with another offered or installed app.
  private static func namesakes(among applications: [Application], in registry: Registry) -> Set<String> {
    Set(applications.filter { registry.hasNamesake(name(of: $0).string) }.map(\.desktopID))
  }

  /// The inbox's record of this tap.
  func tap(_ reading: TagReading) -> Tap {
    let title = text.isEmpty ? TagContents.title(of: reading.message, obstacle) : text
    return Tap(
      id: id, time: reading.time, message: reading.message, technology: reading.technology, uid: reading.uid,
      reader: reading.reader, uri: uri?.string, title: title.string, handler: handler?.desktopID)
  }

  var handlerName: DisplayText { handler.map(TapOffer.name) ?? DisplayText("") }

  /// The text for the clipboard: the link as an app would get it, the name of a network, or the text.
  var copied: String { uri?.string ?? network.map { TapOffer.networkName($0).string } ?? words.string }

  /// The app's name, with its desktop id if another app has the same name.
  func distinctName(of application: Application) -> DisplayText {
    let name = TapOffer.name(of: application)
    guard namesakes.contains(application.desktopID) else { return name }
    return DisplayText("\(DisplayText(name.string, limit: 30)) (\(DisplayText(application.desktopID, limit: 60)))")
  }

  /// The app's name for display, without quotation marks, because a question puts it in such.
  static func name(of application: Application) -> DisplayText {
    let name = DisplayText(withoutQuotationMarks(application.name), limit: 60)
    return name.isEmpty ? DisplayText(application.desktopID, limit: 60) : name
  }

  /// The text without quotation marks, so that it can be quoted.
  static func withoutQuotationMarks(_ words: String) -> String {
    // The display cuts it here as well.
    String(String.UnicodeScalarView(words.unicodeScalars.prefix(4096).filter { !quotationMarks.contains($0) }))
  }

  /// All scalars that look like `“` and `”`, or replace them in a translation. Scalars, because a combining mark forms
  /// another character with a quotation mark.
  private static let quotationMarks = Set(
    "\"“”„‟″‶＂〝〞〟❝❞❠«»「」『』｢｣﹁﹂﹃﹄🙶🙷🙸\u{2BA}\u{2DD}\u{2EE}\u{5F4}\u{3003}".unicodeScalars)

  /// The notification's text: the link with its title, or the tag's text if no app opens it.
  ///
  /// A tag's title can claim anything, also another place, and a collapsed banner shows only the beginning. So the
  /// title comes first only if an app made for these links gets the message, without a question. In all other cases the
  /// link comes first: the user decides by it.
  var text: DisplayText {
    guard let uri else { return DisplayText(words.string, limit: 200) }
    let link = uri.display()
    guard !title.isEmpty else { return DisplayText(link, limit: 200) }
    let isTitled = handsOverMessage && question == .nothing && isOpenable
    return DisplayText(isTitled ? "\(title) · \(link)" : "\(link) · \(title)", limit: 200)
  }

  /// The Text record in the best of the user's languages.
  private static func text(of message: NDEFMessage, languages: [String]) -> String {
    message.records.lazy.compactMap { try? TextRecord($0) }.preferred(in: languages)?.text ?? ""
  }

  /// The Smart Poster's title for `uri`; empty if the poster is about another link, which is not the one to be opened.
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

/// Changes of the app that opens a tap.
extension TapOffer {
  /// The same tap, opened without a question by this candidate, or by the app that gets the link alone; nil if there is
  /// no such app.
  func handed(to desktopID: String) -> TapOffer? {
    guard let candidate = candidates.first(where: { $0.desktopID == desktopID }) else { return alone(in: desktopID) }
    return handed(to: candidate, whole: handsOverMessage)
  }

  /// The same tap, opened by the default application, which gets the link alone, and needs no permission for that; nil
  /// if its desktop id is another.
  func alone(in desktopID: String) -> TapOffer? {
    guard let application = handsOverMessage ? alternative : handler ?? alternative,
      application.desktopID == desktopID
    else { return nil }
    return handed(to: application, whole: false)
  }

  /// The same tap, opened by the app in which it failed; nil if that is gone, or needs permission.
  func again(in desktopID: String) -> TapOffer? {
    guard let other = handed(to: desktopID), other.handsOverMessage, needsPermission(desktopID) else {
      return handed(to: desktopID)
    }
    return alone(in: desktopID)
  }

  /// What to open, if the offer that was shown still holds. Until the click, the user may have blocked the app, the
  /// domain's record may have expired, or another desktop entry may have replaced this one. Returns nil if the user has
  /// to see the current offer first.
  ///
  /// `isAnswer`: the user has just given permission, for the desktop entry in the question. `hasFailed`: the user tries
  /// again. The app as it is installed now opens the tap then: an update may have fixed it.
  func confirmed(by now: TapOffer, isAnswer: Bool, hasFailed: Bool) -> TapOffer? {
    // The rule may have changed since.
    if let command { return now.command?.isSame(as: command) == true ? self : nil }
    if connects { return now.connects && now.network == network ? self : nil }
    // Copying needs no permission.
    guard let handler, isOpenable else { return self }
    let id = handler.desktopID
    let isRetry = hasFailed && !isAnswer
    guard handsOverMessage else { return now.alone(in: id).map { isRetry ? $0 : self } }
    guard now.handsOverMessage, let candidate = now.candidates.first(where: { $0.desktopID == id }) else { return nil }
    if now.needsPermission(id) {
      // The user was not asked about this app, or about this entry.
      guard isAnswer, needsPermission(id), candidate.isSameEntry(as: handler) else { return nil }
    }
    return isRetry ? now.handed(to: candidate, whole: true) : self
  }
}

extension TapOffer {
  /// Identifies a hand-over: a second one with the same key would give the same app the same thing twice.
  struct HandOverKey: Sendable, Hashable {
    let tap: String
    /// The app by its desktop entry and command. Another name or icon does not make it another app.
    fileprivate let application: [String]
    fileprivate let uri: URI?
    fileprivate let handsOverMessage: Bool
    fileprivate let network: WiFiOffer?
    fileprivate let savesNetwork: Bool
  }

  var handOverKey: HandOverKey {
    HandOverKey(
      tap: id, application: handler.map { [$0.desktopID, $0.file, $0.launch] } ?? command?.arguments ?? [], uri: uri,
      handsOverMessage: handsOverMessage, network: network, savesNetwork: manner == .savingNetwork)
  }
}

extension Application {
  /// Whether the other app's permission is for this entry.
  fileprivate func isSameEntry(as other: Application) -> Bool { file == other.file && launch == other.launch }
}
