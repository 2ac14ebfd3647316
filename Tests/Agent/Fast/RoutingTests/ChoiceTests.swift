import Routing
import Testing
import UniversalLinks

/// How the user's choices change routes.
@Suite struct ChoiceTests {
  private static let menu = "https://menu.example.com/7"

  private func registry(_ declarations: HandlerDeclaration...) -> Registry { Registry(declarations: declarations) }

  private func choices(_ changes: HandlerChoices.Change...) -> RoutingPolicy {
    var choices = HandlerChoices()
    for change in changes { expect(true, &choices, change) }
    return RoutingPolicy(choices: choices)
  }

  @Test func `an entry that the user installed is confirmed once and then opens at once`() throws {
    let registry = registry(try handler("mine", ["menu.example.com"], origin: .user))
    let mine = application("mine", origin: .user)
    #expect(registry.route(for: Self.menu).question == .whetherAllowed)
    let policy = choices(.prefer(mine, claim: "menu.example.com"))
    let route = registry.route(for: Self.menu, policy: policy)
    #expect(route.question == .nothing && route.trusted)
    #expect(route.claimants.map(\.outcome) == [.preferred])
    #expect(route.claimants.map(\.trust) == [.confirmed])
  }

  @Test(
    arguments: [("/elsewhere/mine.desktop", "mine %u"), ("/home/mine.desktop", "evil %u"), ("/home/mine.desktop", "")])
  func `a permission applies to one entry in one place with one command`(file: String, launch: String) throws {
    func mine(_ file: String, _ launch: String) -> Application {
      Application(desktopID: "mine.desktop", name: "Mine", file: file, origin: .user, launch: launch)
    }
    let claims = [try DomainPattern("menu.example.com")]
    let policy = choices(.prefer(mine("/home/mine.desktop", "mine %u"), claim: "menu.example.com"))
    for (application, question) in [
      (mine("/home/mine.desktop", "mine %u"), Route.Question.nothing), (mine(file, launch), .whetherAllowed),
    ] {
      let registry = registry(HandlerDeclaration(application: application, domains: claims))
      #expect(registry.route(for: Self.menu, policy: policy).question == question)
    }
  }

  @Test(arguments: [
    ("*.example.com", "https://menu.example.com/", true), ("*.example.com", "https://a.b.example.com/", true),
    ("*.example.com", "https://example.com/", false), ("menu.example.com", "https://menu.example.com/", true),
    ("menu.example.com", "https://a.menu.example.com/", false), ("example.com", "https://menu.example.com/", false),
    ("x-menu:", "x-menu:1", true), ("x-menu:", "https://menu.example.com/", false),
  ])
  func `a permission covers the links of its claim and no others`(claim: String, uri: String, isAllowed: Bool) throws {
    let registry = registry(try handler("mine", ["example.com", "*.example.com"], schemes: ["x-menu"], origin: .user))
    let policy = choices(.prefer(application("mine", origin: .user), claim: claim))
    #expect((registry.route(for: uri, policy: policy).question == .nothing) == isAllowed)
  }

  @Test func `a later handler takes over no link, whatever its claim and origin`() throws {
    let mine = application("mine", origin: .user)
    let policy = choices(.prefer(mine, claim: "*.example.com"))
    let first = try handler("mine", ["*.example.com"], origin: .user)
    for origin in Application.Origin.allCases {
      for claim in ["menu.example.com", "*.example.com"] {
        let registry = registry(first, try handler("a.later", [claim], origin: origin))
        let route = registry.route(for: Self.menu, policy: policy)
        #expect(route.handler == mine && route.question == .nothing && route.candidates == [mine])
        #expect(route.claimants.map(\.outcome) == [.preferred, .anotherIsPreferred])
      }
    }
  }

  @Test func `the most exact preference for a current claimant applies`() throws {
    let registry = registry(
      try handler("wide", ["*.example.com"]), try handler("exact", ["menu.example.com"]), try handler("other", ["a.b"]))
    let wide = HandlerChoices.Change.prefer(application("wide"), claim: "*.example.com")
    let exact = HandlerChoices.Change.prefer(application("exact"), claim: "menu.example.com")
    let stranger = HandlerChoices.Change.prefer(application("other"), claim: "menu.example.com")
    #expect(registry.route(for: Self.menu, policy: choices(wide)).handler == application("wide"))
    #expect(registry.route(for: Self.menu, policy: choices(wide, exact)).handler == application("exact"))
    #expect(registry.route(for: Self.menu, policy: choices(wide, stranger)).handler == application("wide"))
    #expect(registry.route(for: Self.menu, policy: choices(stranger)).handler == application("exact"))
  }

  @Test func `an untrusted handler with a more exact claim does not hide a trusted one`() throws {
    let mine = (0..<40).map { "mine\(1000 + $0)" }
    let link = "https://a.menu.example.com/7"
    let exact = try handler("a.user", ["a.menu.example.com"], origin: .user)
    let between = try mine.map { try handler($0, ["*.menu.example.com"], origin: .user) }
    let theirs = try handler("theirs", ["*.example.com"])
    for declarations in [[exact, theirs], [exact, theirs] + between] {
      let registry = Registry(declarations: declarations)
      let route = registry.route(for: link)
      #expect(route.question == .which && route.candidates == [theirs.application, exact.application])
      #expect(route.claimants.prefix(2).map(\.outcome) == [.offered, .offered])
      #expect(
        route.claimants.prefix(2).map(\.sentence) == [
          "theirs.desktop is one of several to choose from, by its claim to *.example.com, and installed by the system",
          "a.user.desktop is one of several to choose from, by its claim to a.menu.example.com, and not allowed yet by the user",
        ])
      #expect(route.claimants.count { $0.application == theirs.application } == 1)
      #expect(route.claimants.count + route.claimantsLeftOut == declarations.count)
      // The user is not asked again about a handler that is already allowed.
      let policy = choices(.prefer(exact.application, claim: "a.menu.example.com"))
      #expect(registry.route(for: link, policy: policy).candidates == [exact.application])
    }
    // A less exact handler that is not trusted is not offered.
    #expect(registry(exact, between[0]).route(for: link).question == .whetherAllowed)
    let blocked = choices(.block(desktopID: "theirs.desktop", claim: nil))
    #expect(registry(exact, theirs).route(for: link, policy: blocked).candidates == [exact.application])
  }

  @Test func `a blocked handler is never offered, unless a more exact preference allows it`() throws {
    let registry = Registry(
      declarations: [
        try handler("menu", ["menu.example.com"], schemes: ["x-menu"]), try handler("wide", ["*.example.com"]),
      ], defaults: ["https": application("browser")])
    let all = HandlerChoices.Change.block(desktopID: "menu.desktop", claim: nil)
    let route = registry.route(for: Self.menu, policy: choices(all))
    #expect(route.handler == application("wide") && route.candidates == [application("wide")])
    #expect(route.claimants.last?.outcome == .blocked)
    #expect(registry.route(for: "x-menu:1", policy: choices(all)).handler == nil)
    let both = choices(all, .block(desktopID: "wide.desktop", claim: "*.example.com"))
    #expect(registry.route(for: Self.menu, policy: both).kind == .default)
    let one = choices(.block(desktopID: "menu.desktop", claim: "menu.example.com"))
    #expect(registry.route(for: Self.menu, policy: one).handler == application("wide"))
    #expect(registry.route(for: "x-menu:1", policy: one).handler == application("menu"))
    let exception = choices(all, .prefer(application("menu"), claim: "menu.example.com"))
    #expect(registry.route(for: Self.menu, policy: exception).handler == application("menu"))
    #expect(registry.route(for: "x-menu:1", policy: exception).handler == nil)
  }

  @Test func `blocking removes preferences and permissions, and forgetting removes the given choices`() {
    let (menu, other) = (application("menu"), application("other"))
    var choices = HandlerChoices()
    let changes: [HandlerChoices.Change] = [
      .prefer(menu, claim: "a.example"), .prefer(menu, claim: "b.example"), .prefer(other, claim: "c.example"),
      .block(desktopID: "other.desktop", claim: "a.example"),
    ]
    for change in changes { expect(true, &choices, change) }
    func after(_ change: HandlerChoices.Change) -> HandlerChoices {
      var copy = choices
      expect(true, &copy, change)
      return copy
    }
    let blocked = after(.block(desktopID: "menu.desktop", claim: nil))
    #expect(blocked.preferred == ["c.example": ["other.desktop"]] && blocked.allowed["menu.desktop"] == nil)
    #expect(blocked.blocked["menu.desktop"] == [HandlerChoices.everything])
    let handler = after(.forget(desktopID: "menu.desktop", claim: nil))
    #expect(handler.preferred.keys.sorted() == ["c.example"] && Array(handler.blocked.keys) == ["other.desktop"])
    let claim = after(.forget(desktopID: nil, claim: "a.example"))
    #expect(claim.preferred.keys.sorted() == ["b.example", "c.example"] && claim.blocked.isEmpty)
    #expect(claim.allowed["menu.desktop"]?.claims == ["b.example"])
    let one = after(.forget(desktopID: "other.desktop", claim: "a.example"))
    #expect(one.preferred == choices.preferred && one.allowed == choices.allowed && one.blocked.isEmpty)
    #expect(after(.forget(desktopID: nil, claim: nil)) == HandlerChoices())
  }

  @Test func `the number of choices is limited, and choices can be removed at the limit`() {
    var choices = HandlerChoices()
    for number in 0..<HandlerChoices.maximumClaims {
      expect(true, &choices, .block(desktopID: "menu.desktop", claim: "d\(number).example"))
    }
    let full = choices
    expect(false, &choices, .block(desktopID: "menu.desktop", claim: "more.example"))
    expect(false, &choices, .prefer(application("menu"), claim: "more.example"))
    #expect(choices == full)
    expect(true, &choices, .forget(desktopID: nil, claim: "d1.example"))
    #expect(choices.count == HandlerChoices.maximumClaims - 1)
  }

  @Test(
    arguments: [
      ("Menu.EXAMPLE.com.", "menu.example.com"), ("*.bücher.example", "*.xn--bcher-kva.example"), ("TEL:", "tel:"),
      ("web+menu:", "web+menu:"), ("https:", nil), ("javascript:", nil), ("*.co.uk", nil), ("192.0.2.1", nil),
      ("", nil), (":", nil), ("*", nil), ("a b", nil), ("tel:x:", nil),
    ] as [(String, String?)])
  func `a claim has one spelling`(text: String, claim: String?) {
    #expect(HandlerChoices.claim(text) == claim)
  }
}
