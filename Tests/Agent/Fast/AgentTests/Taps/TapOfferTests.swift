import Bus
import Handlers
import Inbox
import NDEF
import Notifications
import Routing
import Testing
import UniversalLinks

@testable import Agent

struct TapOfferTests {
  private func offer(_ message: [UInt8], languages: [String] = []) throws -> TapOffer {
    let registry = Registry(declarations: [
      HandlerDeclaration(application: menu, domains: [try DomainPattern("menu.example.com")])
    ])
    let read = try TagRead(tapValues(1, message: message), now: sampleMicroseconds)
    return TapOffer(read, registry: registry, policy: RoutingPolicy(), languages: languages)
  }

  @Test func `a link is shown with its app and its target, without the scheme`() throws {
    let notification = try offer(try uriMessage("https://menu.example.com/table/4?x=1")).notification(
      timeout: -1)
    #expect(notification.summary.string == "Open in Menu")
    #expect(notification.body.string == "menu.example.com/table/4?…")
    #expect(notification.icon == "menu")
    #expect(notification.defaultAction.label == "Open")
    #expect(notification.buttons.map(\.label) == ["Open", "More…", "Dismiss"])
    #expect(notification.desktopEntry == "")
  }

  @Test func `a Smart Poster shows its title in the user's language, and its target`() throws {
    let poster = SmartPosterRecord(
      uri: "https://menu.example.com/a",
      titles: [TextRecord("Lunch\u{202E}", language: "en"), TextRecord("Mittag", language: "de")])
    let message = try NDEFMessage(records: [try poster.record()]).encoded()
    #expect(try offer(message, languages: ["de-AT", "de"]).text.string == "menu.example.com/a · Mittag")
    #expect(try offer(message, languages: ["en"]).text.string == "menu.example.com/a · Lunch")
  }

  @Test func `a title is short, and comes after the link`() throws {
    let claim = "menu.mybank.example – official login " + String(repeating: "x", count: 100)
    let poster = SmartPosterRecord(uri: "https://menu.example.com/a", titles: [TextRecord(claim, language: "en")])
    let message = try NDEFMessage(records: [try poster.record()]).encoded()
    let offer = try offer(message)
    let link = "menu.example.com/a"
    #expect(offer.text.string.hasPrefix("\(link) · menu.mybank.example – ") && offer.text.string.hasSuffix("x…"))
    #expect(offer.text.string.count == "\(link) · ".count + 60)
    let user = Application(desktopID: "mine.desktop", name: "Mine", file: "/f", origin: .user)
    let registry = Registry(declarations: [
      HandlerDeclaration(application: user, domains: [try DomainPattern("menu.example.com")])
    ])
    let read = try TagRead(tapValues(1, message: message), now: sampleMicroseconds)
    let asked = TapOffer(read, registry: registry, policy: RoutingPolicy(), languages: [])
    #expect(asked.question != .nothing && asked.text.string.hasPrefix("\(link) · "))
  }

  /// Swift sees each of these as one character, at any length.
  @Test(arguments: ["\u{1100}", "👩\u{200D}", "क\u{94D}"])
  func `a long title or name does not push the domain out of view`(piece: String) throws {
    let long = String(repeating: piece, count: 960)
    let poster = SmartPosterRecord(uri: "https://menu.example.com/a", titles: [TextRecord(long, language: "en")])
    let shown = try offer(try NDEFMessage(records: [try poster.record()]).encoded()).text.string
    #expect(shown.hasPrefix("menu.example.com/a · ") && shown.hasSuffix("…"))
    #expect(shown.unicodeScalars.count <= 60 * 4 + 30)
    let app = Application(desktopID: "x.desktop", name: long, file: "/f", origin: .user)
    let title = Messages.mayOpen(TapOffer.name(of: app), "menu.example.com")
    #expect(title.hasPrefix("Allow “") && title.hasSuffix("…” to open links?"))
    // With the marks, which have no width.
    #expect(title.unicodeScalars.count <= 3 * Messages.maximumTitle)
  }

  @Test func `no title with a long name is longer than a server shows`() {
    let name = DisplayText(String(repeating: "N", count: 60))
    let titles = [
      Messages.willOpen(in: name), Messages.hasOpened(in: name), Messages.couldNotOpen(in: name),
      Messages.mayHaveOpened(in: name), Messages.willRun(name), Messages.hasRun(name), Messages.couldNotRun(name),
      Messages.hasFailed(name), Messages.mayHaveRun(name), Messages.mayConnect(to: name), Messages.thisIs(name),
    ]
    for title in titles { #expect(title.count == Messages.maximumTitle, "\(title)") }
  }

  @Test(arguments: [("https://menu.example.com/b", ""), ("https://menu.example.com/a", " · Lunch")])
  func `a title is shown only for the link that is opened`(poster: String, shown: String) throws {
    let record = try SmartPosterRecord(uri: poster, titles: [TextRecord("Lunch", language: "en")]).record()
    let message = NDEFMessage(records: [record, URIRecord("https://menu.example.com/a").record()])
    #expect(try offer(try message.encoded()).text.string == "menu.example.com/a" + shown)
  }

  @Test(arguments: [
    "javascript:alert(1)", "https://user@menu.example.com/", "https://menu.example.com/\u{1}a",
  ])
  func `a refused link is not shown, and its reason contains no part of it`(uri: String) throws {
    let offer = try offer(try uriMessage(uri))
    #expect(!offer.isOpenable && !offer.isShown)
    #expect(!offer.reason.isEmpty)
    #expect(!offer.reason.contains("example"))
    #expect(!offer.reason.contains("alert"))
  }

  @Test func `a Smart Poster that is not examined is not refused`() throws {
    let poster = try SmartPosterRecord(uri: "https://menu.example.com/a", titles: []).record()
    let message = try NDEFMessage(records: [poster]).encoded()
    let read = try TagRead(tapValues(1, message: message), now: sampleMicroseconds)
    let offer = TapOffer(
      read, registry: Registry(declarations: []), policy: RoutingPolicy(smartPosters: false), languages: [])
    #expect(offer.tap.title == "Link that is not opened")
  }

  @Test(arguments: [[], [0xFF], [0xD1, 0x01, 0xFF, 0x55], [UInt8](repeating: 0, count: 64)] as [[UInt8]])
  func `an invalid message has a reason`(message: [UInt8]) throws {
    let offer = try offer(message)
    #expect(!offer.isOpenable)
    #expect(!offer.reason.isEmpty)
  }

  @Test func `a damaged tag is kept with its reason, and rules by its UID apply`() throws {
    for message: [UInt8] in [[], [0xD1, 0x01], [0xD1, 0x01, 0x02, 0x55]] {
      var values = tapValues(1, message: message, uid: [4, 1, 2, 3])
      values["damage"] = .string("damaged: it is cut off")
      let read = try TagRead(values, now: sampleMicroseconds)
      func offer(_ rules: RuleSet = RuleSet()) -> TapOffer {
        TapOffer(
          read, registry: Registry(declarations: []), policy: RoutingPolicy(), languages: [], rules: rules)
      }
      #expect(!read.isBare && !offer().isShown && offer().obstacle == .damaged)
      #expect(offer().ending.state == .failedOffScreen)
      #expect(offer().ending.reason == TapReason(.damaged, detail: "damaged: it is cut off"))
      #expect(offer().tap.title == "This tag is damaged" && offer().tap.read.bytes == message)
      let file = RuleFile(Array("[Rule lamp]\nUID=04-01-02-03\nRun=true\nAsk=no\n".utf8), file: "f", origin: .user)
      #expect(offer(RuleSet(file.rules)).mayOpenAtOnce && offer(RuleSet(file.rules)).obstacle == nil)
    }
  }

  @Test func `a failure is named, and an unknown outcome says that the tap may have been opened`() throws {
    let offer = try offer(try uriMessage("https://menu.example.com/a"))
    let failed = offer.notification(failed: TapReason(.notStarted, detail: "it hangs"), timeout: 0)
    #expect(failed.summary.string == "Could not open in Menu")
    #expect(failed.body.string == "menu.example.com/a · The app could not be started: “it hangs”")
    #expect(failed.buttons.map(\.label) == ["Try again", "Dismiss"])
    let unknown = offer.notification(failed: TapReason(.endedWhileOpening), timeout: -1)
    #expect(unknown.summary.string == "May have been opened in Menu")
  }
}

/// The app that opens a shown tap if the user's choices, the handlers or a domain's association changed since.
struct TapOfferOpeningTests {
  private func offer(
    _ claims: [(Application, String)], _ changes: [HandlerChoices.Change] = [], browser: Application?,
    vouching: Bool = false, uri: String = "https://menu.example.com/7"
  ) throws -> TapOffer {
    let registry = Registry(
      declarations: try claims.map {
        $1.hasSuffix(":")
          ? HandlerDeclaration(application: $0, schemes: [String($1.dropLast())])
          : HandlerDeclaration(application: $0, domains: [try DomainPattern($1)])
      },
      defaults: browser.map { ["https": $0, "geo": $0] } ?? [:])
    var choices = HandlerChoices()
    for change in changes { _ = choices.apply(change) }
    var policy = RoutingPolicy(choices: choices)
    if vouching {
      let file = #"{"applinks": {"details": [{"appIDs": ["shop"], "components": [{}]}]}}"#
      let rules = try AppSiteAssociation(json: Array(file.utf8))
      policy.associations["menu.example.com"] = DomainAssociation(appLinks: rules)
    }
    let read = try TagRead(tapValues(1, message: try uriMessage(uri)), now: sampleMicroseconds)
    return TapOffer(read, registry: registry, policy: policy, languages: [])
  }

  private func offer(_ applications: [Application], _ changes: [HandlerChoices.Change] = []) throws -> TapOffer {
    try offer(applications.map { ($0, "menu.example.com") }, changes, browser: sampleBrowser)
  }

  /// The app that gets the tap on this click, with `+` if it gets the whole message; nil if the tap is shown again.
  private func opened(
    _ shown: TapOffer, by action: String = "open", now: TapOffer, hasFailed: Bool = false
  ) throws -> String? {
    let (chosen, choice) = try shown.opened(by: action)
    let offer = chosen.confirmed(by: now, isAnswer: choice != nil, hasFailed: hasFailed)
    guard let offer else { return nil }
    let name = String((offer.handler?.desktopID ?? "nobody.desktop").dropLast(8))
    return offer.handsOverMessage && offer.isOpenable ? name + "+" : name
  }

  @Test(arguments: [nil, "menu.example.com", "*.example.com"])
  func `a blocked app gets no tap, and the browser does not replace it`(claim: String?) throws {
    let (theirs, mine) = (sampleApplication("theirs", .system), sampleApplication("mine", .user))
    let block = { (id: String) in HandlerChoices.Change.block(desktopID: "\(id).desktop", claim: claim) }
    let sure = try offer([theirs])
    #expect(try opened(sure, now: sure) == "theirs+")
    #expect(try opened(sure, now: try offer([theirs], [block("theirs")])) == nil)
    #expect(try opened(sure, by: "retry", now: try offer([theirs], [block("theirs")]), hasFailed: true) == nil)
    let question = try offer([mine])
    #expect(try opened(question, by: "allow", now: try offer([mine], [block("mine")])) == nil)
    #expect(try opened(question, by: "alternative", now: try offer([mine], [block("mine"), block("web")])) == "web")
    let two = try offer([theirs, mine])
    #expect(try opened(two, by: "candidate-1", now: try offer([theirs, mine], [block("mine")])) == nil)
    #expect(try opened(two, by: "candidate-0", now: try offer([theirs, mine], [block("mine")])) == "theirs+")
    let nobody = try offer([])
    #expect(try opened(nobody, now: try offer([], [block("web")])) == "web")
  }

  @Test func `an app whose permission was withdrawn needs permission again`() throws {
    let mine = sampleApplication("mine", .user)
    let allowed = try offer([mine], [.prefer(mine, claim: "menu.example.com")])
    #expect(allowed.question == .nothing)
    #expect(try opened(allowed, now: try offer([mine])) == nil)
    #expect(try opened(allowed, by: "retry", now: try offer([mine]), hasFailed: true) == nil)
    let store = sampleApplication("shop", .store)
    let vouched = try offer([(store, "menu.example.com")], browser: sampleBrowser, vouching: true)
    #expect(vouched.question == .nothing)
    #expect(try opened(vouched, now: vouched) == "shop+")
    #expect(try opened(vouched, now: try offer([store])) == nil)
  }

  @Test func `a permission applies only to the entry in the question`() throws {
    let mine = sampleApplication("mine", .user)
    let question = try offer([mine])
    #expect(try opened(question, by: "allow", now: question) == "mine+")
    #expect(
      try opened(question, by: "allow", now: try offer([sampleApplication("mine", .user, launch: "other")])) == nil)
    let two = try offer([sampleApplication("theirs", .system), mine])
    #expect(try opened(two, by: "candidate-0", now: try offer([sampleApplication("theirs", .user), mine])) == nil)
  }

  @Test func `an app that is installed later does not take over a shown tap`() throws {
    let theirs = sampleApplication("theirs", .system)
    let sure = try offer([theirs])
    #expect(try opened(sure, now: try offer([theirs, sampleApplication("later", .user)])) == "theirs+")
    #expect(try opened(sure, now: try offer([theirs, sampleApplication("a", .system)])) == "theirs+")
    let nobody = try offer([])
    #expect(try opened(nobody, now: try offer([theirs])) == "web")
    let without = try offer([], browser: nil)
    #expect(try opened(without, by: "copy", now: sure) == "nobody")
    // The current question was not the one shown.
    #expect(sure.answer(to: "copy") == .showAgain)
  }

  @Test func `an app that gets only the link is tried again without a permission`() throws {
    let maps = sampleApplication("maps", .system)
    let block = HandlerChoices.Change.block(desktopID: "maps.desktop", claim: "geo:")
    let shown = try offer([(maps, "geo:")], [block], browser: maps, uri: "geo:52.5,13.4")
    #expect(shown.handler == maps && !shown.handsOverMessage)
    #expect(try opened(shown, by: "retry", now: shown, hasFailed: true) == "maps")
    #expect(shown.again(in: "maps.desktop")?.handsOverMessage == false)
    // The browser also claims the domain without permission. It gets only the link, like any other browser.
    let claiming = sampleApplication("web", .user)
    let question = try offer([(claiming, "menu.example.com")], browser: claiming)
    #expect(question.question == .whetherAllowed)
    #expect(try opened(question, by: "alternative", now: question) == "web")
    let failed = try #require(question.alone(in: "web.desktop"))
    #expect(try opened(failed, by: "retry", now: question, hasFailed: true) == "web")
    #expect(question.again(in: "web.desktop")?.handsOverMessage == false)
  }

  @Test func `a tap whose decision has not changed is opened by each of its buttons`() throws {
    let origins: [(String, Application.Origin)] = [("a", .system), ("b", .store), ("c", .user), ("web", .user)]
    let apps = origins.map { sampleApplication($0, $1) }
    for number in 0..<(1 << 8) {
      let claims = zip(0..., apps).filter { number >> $0.0 & 1 == 1 }.map { ($0.1, "menu.example.com") }
      let changes = zip(4..., apps).filter { number >> $0.0 & 1 == 1 }
        .map { HandlerChoices.Change.block(desktopID: $0.1.desktopID, claim: nil) }
      let now = try offer(claims, changes, browser: apps[3])
      let buttons = [false, true].flatMap { now.notification(timeout: -1, more: $0).buttons }
      for button in buttons where !["dismiss", "more"].contains(button.key) {
        for hasFailed in [false, true] {
          let opened = try opened(now, by: button.key, now: now, hasFailed: hasFailed)
          #expect(opened != nil, "\(number): \(button.key)")
        }
      }
    }
  }
}

/// The language in which a tag with several languages is shown.
struct UserLanguagesTests {
  @Test(arguments: [
    (["LANG": "de_AT.UTF-8@euro"], ["de-AT", "de"]), (["LANG": "pt_BR.UTF-8"], ["pt-BR", "pt"]),
    (["LANG": "zh_TW.UTF-8"], ["zh-TW", "zh-Hant", "zh"]), (["LANG": "sr_RS@latin"], ["sr-Latn", "sr-RS", "sr"]),
    // gettext's order: LANGUAGE, LC_ALL, LC_MESSAGES, LANG. In the C locale they do not apply.
    (["LANG": "en_GB.UTF-8", "LC_MESSAGES": "fr_FR.UTF-8"], ["fr-FR", "fr"]),
    (["LANG": "en_GB", "LC_MESSAGES": "fr_FR", "LC_ALL": "de_DE"], ["de-DE", "de"]),
    (["LANG": "en_GB.UTF-8", "LANGUAGE": "ja:pt_BR:en"], ["ja", "pt-BR", "pt", "en", "en-GB"]),
    (["LC_ALL": "C.UTF-8", "LANGUAGE": "ko"], ["ko"]),
    // English, as our own texts in that case.
    (["LC_ALL": "C", "LANGUAGE": "ko"], ["en"]), (["LANG": "C"], ["en"]), (["LANG": "POSIX"], ["en"]),
    (["LANG": ""], ["en"]), (["LANG": "_@.:"], ["en"]), (["LANG": "de@"], ["de"]), ([:], ["en"]),
  ])
  func `language codes have the form that tags use`(environment: [String: String], codes: [String]) {
    #expect(UserLanguages.codes(in: environment) == codes)
  }
}
