import NDEF
import Notifications
import Routing
import Testing
import UniversalLinks

@testable import Agent

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
    let reading = try TagReading(tapValues(1, message: try uriMessage(uri)), now: sampleTime)
    return TapOffer(reading, registry: registry, policy: policy, languages: [])
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
    #expect(sure.answer(to: "copy", canCopy: true) == .showAgain)
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
      for button in now.notification(timeout: -1, canCopy: true).buttons where button.key != "dismiss" {
        for hasFailed in [false, true] {
          let opened = try opened(now, by: button.key, now: now, hasFailed: hasFailed)
          #expect(opened != nil, "\(number): \(button.key)")
        }
      }
    }
  }
}
