import TagrouteClient
import TagsPages
import Testing

struct AppListTests {
  private var list = AppList()

  private static let apps = AppEntry.all([app("org.example.Menu.desktop")])

  private static func app(_ id: String) -> HandlerDescription {
    var app = HandlerDescription()
    (app.id, app.domains) = (id, ["menu.example"])
    return app
  }

  private static func number(_ actions: [AppList.Action]) throws -> Int {
    try #require(actions.compactMap { if case .fetch(let number) = $0 { number } else { nil } }.first)
  }

  @Test mutating func theAppsAreReadWhenThePageIsShown() throws {
    #expect(list.handle(.changed).isEmpty, "nobody looks")
    let number = try Self.number(list.handle(.shown))
    #expect(list.handle(.answered(number, Self.apps)) == [.show])
    #expect(list.phase == .list && list.apps == Self.apps)
    let again = try Self.number(list.handle(.changed))
    #expect(list.handle(.answered(again, Self.apps)).isEmpty, "nothing has changed")
  }

  @Test mutating func changesDuringAReadingCostOneMore() throws {
    let first = try Self.number(list.handle(.shown))
    for _ in 0..<100 { #expect(list.handle(.changed).isEmpty) }
    let second = try Self.number(list.handle(.answered(first, Self.apps)))
    #expect(list.handle(.answered(second, [])) == [.show])
    #expect(list.phase == .empty)
  }

  @Test mutating func theAppsComeBackWithTheAgent() throws {
    let first = try Self.number(list.handle(.shown))
    #expect(list.handle(.disappeared()) == [.show])
    #expect(list.phase == .unreachable(""))
    // The answer of the agent that has gone.
    #expect(list.handle(.answered(first, Self.apps)).isEmpty)
    let second = try Self.number(list.handle(.appeared))
    #expect(list.handle(.answered(second, Self.apps)) == [.show])
  }

  @Test mutating func aFailureIsShownUnlessTheAgentHasComeMeanwhile() throws {
    let first = try Self.number(list.handle(.shown))
    #expect(list.handle(.appeared).isEmpty)
    let second = try Self.number(list.handle(.failed(first, "gone")))
    #expect(list.phase == .loading)
    #expect(list.handle(.failed(second, "gone")) == [.show])
    #expect(list.phase == .unreachable("gone"))
  }
}

struct AppEntryTests {
  private static func app(_ id: String, _ name: String, domains: [String] = [], trusted: Bool = false)
    -> HandlerDescription
  {
    var app = HandlerDescription()
    (app.id, app.name, app.domains, app.trusted) = (id, name, domains, trusted)
    (app.path, app.origin) = ("/usr/share/applications/\(id)", trusted ? "system" : "user")
    return app
  }

  @Test func anAppHasItsClaimsAndProblemsInOneEntry() throws {
    var menu = Self.app("org.example.Menu.desktop", "Menu", domains: ["menu.example"], trusted: true)
    (menu.schemes, menu.mimeTypes, menu.externalTypes) = (["menu"], ["text/vcard"], ["example.com:menu"])
    var mistake = HandlerDescription()
    (mistake.id, mistake.path, mistake.problem, mistake.line) = (menu.id, menu.path, "no such key", 7)
    let entries = AppEntry.all([menu, mistake, Self.app("a.desktop", "Zoo")])
    #expect(entries.map(\.title) == ["Menu", "Zoo"])
    let entry = try #require(entries.first)
    #expect(entry.claims.map(\.id) == ["menu.example", "menu:", "text/vcard", "example.com:menu"])
    #expect(entry.summary == "menu.example, menu:, text/vcard, example.com:menu")
    #expect(entry.problems == ["/usr/share/applications/org.example.Menu.desktop:7: no such key"])
    #expect(entry.idText == "org.example.Menu" && !entry.hasChoices && !entry.isBlocked)
  }

  @Test func eachClaimSaysWhy() {
    var menu = Self.app("menu.desktop", "Menu", domains: ["a.example", "b.example", "c.example", "d.example"])
    (menu.preferred, menu.allowed, menu.blocked) = (["a.example"], ["a.example", "b.example"], ["c.example"])
    menu.schemes = ["menu"]
    let shop = Self.app("shop.desktop", "Shop", domains: ["a.example", "c.example", "d.example"], trusted: true)
    let entries = AppEntry.all([menu, shop])
    #expect(entries[0].claims.map(\.choice) == [.preferred, .allowed, .blocked, .usual, .usual])
    #expect(
      entries[0].claims.map(\.reason) == [
        "Opened without a question, because you prefer this app.", "You have allowed this app to open it.",
        "Never offered, because you have blocked it.", "Shop can open this too, so a tag asks which one.",
        "A tag asks for your permission first.",
      ])
    #expect(
      entries[1].claims.map(\.reason) == [
        "You prefer Menu for this.", "Needs no permission, because only the administrator can change this app.",
        "Menu can open this too, so a tag asks which one.",
      ])
  }

  @Test func aBlockedAppIsNotOffered() {
    var menu = Self.app("menu.desktop", "Menu", domains: ["a.example", "b.example"])
    (menu.blocked, menu.preferred) = (["*"], ["b.example"])
    let entry = AppEntry.all([menu, Self.app("shop.desktop", "Shop", domains: ["a.example"], trusted: true)])[0]
    #expect(entry.isBlocked && entry.hasChoices && entry.summary == "Blocked")
    #expect(entry.claims[0].reason == "Never offered, because you have blocked it.")
    // A choice about one claim is more exact.
    #expect(entry.claims[1].choice == .preferred)
  }

  @Test func aChoiceThatNoClaimHasIsShownToo() {
    var menu = Self.app("menu.desktop", "Menu", domains: ["*.example"])
    menu.allowed = ["shop.example"]
    #expect(AppEntry.all([menu])[0].claims.map(\.id) == ["*.example", "shop.example"])
  }

  @Test func hostileTextsAreBounded() throws {
    let long = String(repeating: "a\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}", count: 3000)
    var menu = Self.app(
      "x\u{202E}.desktop", "\n\u{202E}<b>\(long)", domains: (0..<5000).map { "\($0).\(long.prefix(10))" })
    menu.origin = "new"
    var mistake = menu
    mistake.problem = long
    let entry = try #require(AppEntry.all([menu, mistake]).first)
    #expect(entry.title.count <= 60 && entry.summary.count <= 200 && entry.claims.count == AppEntry.mostClaims)
    #expect(entry.moreClaims == 4900)
    let texts = [entry.title, entry.summary, entry.idText] + entry.claims.map(\.title) + entry.problems
    for text in texts { #expect(!text.contains("\u{202E}") && !text.contains("\n") && text.count < 1300) }
  }
}
