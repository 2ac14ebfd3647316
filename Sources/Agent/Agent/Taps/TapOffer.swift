import Handlers
import Inbox
import NDEF
import Names
import Notifications
import Routing
import UniversalLinks

/// A tap as it is offered: the decision about it, and the words for the user.
struct TapOffer: Sendable, Hashable {
  let read: TagRead
  let route: Route
  /// The app that opens the tap: that of the route, or the one that the user has chosen since. Nil if there is none.
  private(set) var handler: Application?
  /// Whether the handler gets the whole message. If not, it gets the link alone, or a file with the record.
  private(set) var handsOverMessage: Bool
  private(set) var question: Route.Question
  /// The desktop ids of offered apps that share their name with another installed app.
  let namesakes: Set<String>
  /// The Smart Poster's title for the link, in the user's language; may be empty.
  let title: DisplayText
  /// The text to show if no app opens the tap: the link, or the Text record with its lines. If an app opens a record,
  /// the name of its type. The UID of a bare tag. May be empty.
  let words: DisplayText
  /// The record of a type that no app opens; nil for all other taps, and if the tag has a text to show.
  let data: TagData?
  private(set) var manner = Manner.once
  /// Whether NetworkManager can connect to the network. Only known for a network without an own obstacle.
  private(set) var wiFi = WiFiAvailability.noNetworkManager

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
    case damaged
  }

  /// At most this many apps of a question have a button.
  static let maximumOffered = 3
  private static let maximumWords = 4096
  /// Of a text from a tag: more would push the buttons off the screen.
  private static let maximumLines = 8
}

extension TapOffer {
  /// The languages are codes of RFC 4646, the best first.
  init(
    _ read: TagRead, registry: Registry, policy: RoutingPolicy, languages: [String], rules: RuleSet = RuleSet()
  ) {
    let digest = rules.needsDigest && read.message != nil ? MessageDigest.sha256(read.bytes) : ""
    route = registry.route(for: read, digest: digest, rules: rules, policy: policy, explaining: false).withoutLosers
    self.read = read
    (handler, handsOverMessage, question) = (route.handler, route.handsOverMessage, route.question)
    namesakes = TapOffer.namesakes(among: TapOffer.offered(of: route.claimants).map(\.application), in: registry)
    if let message = read.message, let uri = route.uri {
      title = TapOffer.title(of: message, for: uri, policy: policy, languages: languages)
    } else {
      title = DisplayText("")
    }
    let text = DisplayText(
      read.message.map { TapOffer.text(of: $0, languages: languages) } ?? "", limit: Self.maximumWords, lines: .max)
    data = text.isEmpty ? TagData(route, read.message) : nil
    words =
      read.isBare
      ? TapOffer.words(ofBare: read, route, isShown: policy.showsBareTags)
      : TapOffer.words(of: route, read, text: text, data)
  }

  /// The text to show if no app opens the tap, or an app opens a record. A rule may concern a tag without a link and a
  /// text: then it is the name of its contents, as for data that is only shown.
  private static func words(of route: Route, _ read: TagRead, text: DisplayText, _ data: TagData?) -> DisplayText {
    if let network = route.network { return DisplayText(Messages.network(networkName(network))) }
    if route.handler != nil || data != nil, let type = route.record?.type { return TagContents.title(of: type) }
    guard route.handler == nil, route.kind == .none || route.kind == .rule else { return DisplayText("") }
    let shown = route.uri.map { DisplayText($0.string, limit: maximumWords) } ?? text
    guard shown.isEmpty, route.rule?.action.isAboutAnyContents == true else { return shown }
    return TagContents.title(of: read, read.message == nil ? .damaged : route.refusal.map { .refused($0) })
  }

  /// The UID of a tag without a message, if a rule or the settings show such a tag. If the tag has no UID, only the
  /// words of a rule can be shown.
  private static func words(ofBare read: TagRead, _ route: Route, isShown: Bool) -> DisplayText {
    let isRuled = route.rule?.action.isAboutAnyContents == true
    guard isRuled || isShown && route.rule == nil else { return DisplayText("") }
    guard read.uid.isEmpty else { return DisplayText(UIDText.text(read.uid)) }
    return DisplayText(isRuled ? Messages.bareTag : "")
  }

  var id: String { read.id }

  /// Nil if there is none that may be opened.
  var uri: URI? { route.uri }

  /// Nil if no rule decides.
  var rule: TapRule? { route.rule }

  /// Nil if the rule runs no program.
  var command: TapCommand? { rule.flatMap { TapCommand($0, uri: uri) } }

  /// Nil if an app takes the record, and for all other taps.
  var network: WiFiOffer? { route.network }

  /// The candidates that get a button, the handler first, each with its claim; at most ``maximumOffered``.
  var offered: [Candidate] { TapOffer.offered(of: route.claimants) }

  /// Nil if an app may open the tag's link, or there is no link.
  var obstacle: Obstacle? {
    if isDamaged { return .damaged }
    return route.kind == .refused ? .refused(route.refusal) : nil
  }

  /// With the domain that the handler claims. Without a handler, it names only the link's scheme.
  var reason: String { isDamaged ? read.damage : route.reason }

  /// A rule may act on such a tag nevertheless.
  private var isDamaged: Bool { !read.damage.isEmpty && rule == nil }

  /// Whether an app opens it, or a program runs.
  var isOpenable: Bool { command != nil || connects || handler != nil && (uri != nil || route.record != nil) }

  /// Whether NetworkManager connects to the network of the tag, after the user has agreed.
  var connects: Bool { network != nil && network?.obstacle == nil && wiFi == .available }

  /// Whether there is anything to show: a text or a link without an app can still be read and copied, and data saved.
  var isShown: Bool { !isIgnored && (isOpenable || !words.isEmpty) }

  private var isIgnored: Bool { rule?.action == .ignore }

  var mayOpenAtOnce: Bool { rule?.asks == false && isOpenable }

  func opening(_ manner: Manner) -> TapOffer {
    var copy = self
    copy.manner = manner
    return copy
  }

  /// The same offer, with the present state of Wi-Fi.
  func connecting(_ availability: WiFiAvailability) -> TapOffer {
    var copy = self
    copy.wiFi = availability
    return copy
  }

  /// Of a tap that is not shown. It is a failure only if an obstacle keeps the link from being opened.
  var ending: (state: TapState, reason: TapReason) {
    if isIgnored || read.isBare { return (.dismissed, TapReason(.ignored, detail: reason)) }
    if obstacle == .damaged { return (.failedOffScreen, TapReason(.damaged, detail: reason)) }
    if obstacle != nil { return (.failedOffScreen, TapReason(.refused, detail: reason)) }
    // Even if its type is malformed or an Android app's.
    let isForApps =
      read.message?.records.contains { $0.typeNameFormat == .mediaType || $0.typeNameFormat == .external } ?? false
    return (.dismissed, TapReason(isForApps ? .ignored : .nothingToOpen, detail: reason))
  }

  /// The final state of a tap that would be shown, if no person can be asked. The detail names the rule, or says that
  /// none acts. It quotes no contents of the tag.
  var headlessEnding: (state: TapState, reason: TapReason) {
    let detail =
      switch rule {
      case let rule? where rule.asks: "no user can be asked, and the rule “\(rule.name)” has no Ask=no"
      case let rule?: "no user can be asked, and the rule “\(rule.name)” cannot act without that"
      case nil: "no user can be asked, and no rule acts on the tag"
      }
    return (.dismissed, TapReason(.headless, detail: detail))
  }

  /// For the log; nil if neither an app nor a program gets the tap.
  var receiverName: String? {
    handler?.id ?? command.map { "the program of the rule “\($0.rule)”, \($0.program)" }
      ?? (connects ? "NetworkManager" : nil)
  }

  /// As the inbox stores it.
  var receiver: TapReceiver {
    TapReceiver(handler: handler?.desktopID, rule: rule?.name, program: command?.program)
  }

  /// The same tap, opened by another application without a question. `whole` means that the app gets the whole message,
  /// not the link alone.
  func handed(to application: Application, whole: Bool) -> TapOffer {
    var copy = self
    (copy.handler, copy.handsOverMessage, copy.question) = (application, whole, .nothing)
    return copy
  }

  /// Whether this app needs the user's permission, even if the user chose it before.
  ///
  /// A blocked app does not get the message, so it needs none.
  func needsPermission(_ desktopID: String) -> Bool {
    route.claimants.contains { $0.wins && $0.trust == .unconfirmed && $0.application.desktopID == desktopID }
  }

  /// A route has them first, so only these are examined.
  static func offered(of claimants: some Sequence<Candidate>) -> [Candidate] {
    claimants.prefix(maximumOffered).filter(\.wins)
  }

  /// The desktop ids of the apps that share their name with another offered or installed app.
  private static func namesakes(among applications: [Application], in registry: Registry) -> Set<String> {
    Set(applications.filter { registry.hasNamesake(name(of: $0).string) }.map(\.desktopID))
  }

  var tap: Tap {
    // The inbox has one line for a tap.
    let title = text.isEmpty ? TagContents.title(of: read, obstacle) : DisplayText(text.string)
    return Tap(read, uri: uri?.string, title: title.string, receiver: receiver)
  }

  var handlerName: DisplayText { handler.map(TapOffer.name) ?? DisplayText("") }

  /// The text for the clipboard: the link as an app would get it, the name of a network, or the text. On one line, so
  /// that pasting it runs no command.
  var copied: String {
    uri?.string ?? network.map { TapOffer.networkName($0).string }
      ?? DisplayText(words.string, limit: Self.maximumWords).string
  }

  /// The app's name, with its desktop id if another app has the same name.
  func distinctName(of application: Application) -> DisplayText {
    let name = TapOffer.name(of: application)
    guard namesakes.contains(application.desktopID) else { return name }
    return DisplayText("\(DisplayText(name.string, limit: 30)) (\(DisplayText(application.id, limit: 60)))")
  }

  /// Without quotation marks, because a question puts the name in such.
  static func name(of application: Application) -> DisplayText {
    let name = DisplayText(withoutQuotationMarks(application.name), limit: 60)
    return name.isEmpty ? DisplayText(application.id, limit: 60) : name
  }

  /// So that the text can be quoted.
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
  /// A tag's title can claim anything, also another place, and a collapsed banner shows only the beginning. So the link
  /// comes first: the user decides by it.
  var text: DisplayText {
    guard let uri else { return DisplayText(words.string, limit: 200, lines: Self.maximumLines) }
    return DisplayText(title.isEmpty ? uri.display() : "\(uri.display()) · \(title)", limit: 200)
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

extension TapOffer {
  /// The same tap, opened without a question by this candidate, or by the app that gets the link alone; nil if there is
  /// no such app.
  func handed(to desktopID: String) -> TapOffer? {
    guard let candidate = route.candidates.first(where: { $0.desktopID == desktopID }) else {
      return alone(in: desktopID)
    }
    return handed(to: candidate, whole: handsOverMessage)
  }

  /// The same tap, opened by the default application, which gets the link alone, and needs no permission for that; nil
  /// if its desktop id is another.
  func alone(in desktopID: String) -> TapOffer? {
    guard let application = handsOverMessage ? route.alternative : handler ?? route.alternative,
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
    guard now.handsOverMessage, let candidate = now.route.candidates.first(where: { $0.desktopID == id }) else {
      return nil
    }
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
  fileprivate func isSameEntry(as other: Application) -> Bool { file == other.file && launch == other.launch }
}

/// “Always open at once”.
extension TapOffer {
  /// Whether the user may let this tag open without a click from now on. A tag that anyone could be, or a rule that
  /// would be tried after another one, is not offered.
  var mayOpenAlways: Bool {
    guard isOpenable, !connects, question == .nothing, !read.isBare, rule?.asks != false,
      rule.map(AlwaysRules.precede) ?? true, case .uid(let uid) = read.tag
    else { return false }
    return UIDText.lengths.contains(uid.count)
      && !UIDText.mayChange(uid, technology: read.technology)
  }

  /// What the rule does: the action that was offered, with the conditions that it needs beside the tag and its message.
  /// Nil if none may be written.
  var alwaysAction: (conditions: [TapRule.Condition], action: TapRule.Action, onRemove: [String], sound: String?)? {
    guard mayOpenAlways else { return nil }
    if let rule {
      var conditions = rule.conditions.filter(AlwaysRules.keeps)
      if let id = route.handlerWithoutRules, rule.action == .open(id), !conditions.contains(.handler(id)) {
        conditions.append(.handler(id))
      }
      return (conditions, rule.action, rule.onRemove, rule.sound)
    }
    guard let handler else { return nil }
    // The default application gets the link alone, or a file. By its id it might get the message.
    guard handsOverMessage else { return ([], .openDefault, [], nil) }
    return ([.handler(handler.desktopID)], .open(handler.desktopID), [], nil)
  }
}

extension TapRule.Action {
  /// Whether the action also concerns tags without a link and without a text.
  var isAboutAnyContents: Bool {
    switch self {
    case .run, .show: true
    case .open, .openDefault, .ignore: false
    }
  }
}
