import Rig
import Routing
import Testing
import UniversalLinks

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
          "theirs is one of several to choose from, by its claim to *.example.com, and installed by the system",
          "a.user is one of several to choose from, by its claim to a.menu.example.com, and not allowed yet by the user",
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

@Suite struct ChoicePropertyTests {
  /// Links, each with the claims below that cover it. The most exact claim is first.
  private static let covering = [
    "https://a.example/": ["a.example"], "https://b.a.example/": ["b.a.example", "*.a.example"],
    "https://c.b.a.example/": ["*.b.a.example", "*.a.example"], "x-a:1": ["x-a:"],
  ]
  private static let links = covering.keys.sorted()
  private static let claims = ["a.example", "*.a.example", "b.a.example", "*.b.a.example"]

  private func declarations(_ count: Int, using random: inout SeededGenerator) throws -> [HandlerDeclaration] {
    try (0..<count).map { index in
      try handler(
        "app\(index)", Array(Self.claims.shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random))),
        schemes: Bool.random(using: &random) ? ["x-a"] : [],
        origin: Application.Origin.allCases.randomElement(using: &random) ?? .user)
    }
  }

  private func change(_ handlers: [HandlerDeclaration], using random: inout SeededGenerator) -> HandlerChoices.Change {
    var application = handlers.randomElement(using: &random)?.application ?? application("app0")
    if Int.random(in: 0..<4, using: &random) == 0 {
      // The user chose another entry with the same id.
      application = Application(
        desktopID: application.desktopID, name: application.name, file: application.file, origin: application.origin,
        launch: "other")
    }
    let claim = (Self.claims + ["x-a:"]).randomElement(using: &random) ?? "x-a:"
    let whole = Bool.random(using: &random)
    switch Int.random(in: 0..<5, using: &random) {
    case 0...2: return .prefer(application, claim: claim)
    case 3: return .block(desktopID: application.desktopID, claim: whole ? nil : claim)
    default: return .forget(desktopID: application.desktopID, claim: whole ? nil : claim)
    }
  }

  private func policy(_ handlers: [HandlerDeclaration], using random: inout SeededGenerator) -> RoutingPolicy {
    var choices = HandlerChoices()
    for _ in 0..<Int.random(in: 0...8, using: &random) { _ = choices.apply(change(handlers, using: &random)) }
    return RoutingPolicy(choices: choices)
  }

  @Test(arguments: 1...100 as ClosedRange<UInt64>)
  func `an unrelated handler and choices about it change no decision`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let handlers = try declarations(5, using: &random)
    let before = policy(handlers, using: &random)
    let other = try handler("a.first", ["unrelated.example", "*.unrelated.example"], schemes: ["x-other"])
    var after = before
    expect(true, &after.choices, .prefer(other.application, claim: "unrelated.example"))
    expect(true, &after.choices, .block(desktopID: other.application.desktopID, claim: "x-other:"))
    for link in Self.links {
      #expect(
        Registry(declarations: handlers).route(for: link, policy: before)
          == Registry(declarations: handlers + [other]).route(for: link, policy: after))
    }
  }

  @Test(arguments: 1...100 as ClosedRange<UInt64>)
  func `choices about other handlers change no decision`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let registry = Registry(declarations: try declarations(Int.random(in: 1...3, using: &random), using: &random))
    var choices = HandlerChoices()
    let (friend, foe) = (application("a.friend"), application("a.foe"))
    expect(true, &choices, .prefer(friend, claim: "a.example"))
    expect(true, &choices, .prefer(friend, claim: "x-a:"))
    expect(true, &choices, .block(desktopID: foe.desktopID, claim: nil))
    for link in Self.links {
      #expect(registry.route(for: link) == registry.route(for: link, policy: RoutingPolicy(choices: choices)))
    }
  }

  @Test(arguments: 1...100 as ClosedRange<UInt64>)
  func `a blocked rival does not change the route of the only other handler`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let handlers = try declarations(1, using: &random)
    var policy = policy(handlers, using: &random)
    let rival = try handler("a.rival", Self.claims, schemes: ["x-a"])
    expect(true, &policy.choices, .block(desktopID: rival.application.desktopID, claim: nil))
    for link in Self.links {
      let alone = Registry(declarations: handlers).route(for: link, policy: policy)
      let both = Registry(declarations: handlers + [rival]).route(for: link, policy: policy)
      #expect(alone.claimants == both.claimants.filter { $0.application != rival.application })
      #expect(alone.handler == both.handler && alone.candidates == both.candidates)
      #expect(alone.question == both.question && alone.trusted == both.trusted)
      // A handler is listed once, even if several of its claims cover the link.
      for route in [alone, both] { #expect(Set(route.claimants.map(\.application)).count == route.claimants.count) }
    }
  }

  @Test func `a later handler takes over no link that has a preferred handler`() throws {
    var covered = 0
    for seed: UInt64 in 1...100 {
      var random = SeededGenerator(seed: seed)
      let handlers = try declarations(4, using: &random)
      let policy = policy(handlers, using: &random)
      let later = try handler("a.later", Self.claims, schemes: ["x-a"])
      for link in Self.links {
        let before = Registry(declarations: handlers).route(for: link, policy: policy)
        guard before.claimants.first?.outcome == .preferred else { continue }
        covered += 1
        let after = Registry(declarations: handlers + [later]).route(for: link, policy: policy)
        #expect(after.handler == before.handler && after.question == before.question && after.trusted == before.trusted)
        #expect(after.candidates == before.candidates)
      }
    }
    #expect(covered > 50)
  }

  /// Whether the most exact choice about a handler blocks it for a link, computed from the choices alone.
  private func isBlocked(_ id: String, _ link: String, _ choices: HandlerChoices) -> Bool {
    let blocked = choices.blocked[id] ?? []
    for claim in Self.covering[link] ?? [] {
      if choices.preferred[claim]?.contains(id) == true { return false }
      if blocked.contains(claim) { return true }
    }
    return blocked.contains("*")
  }

  /// Whether root installed this entry, or the user allowed it a claim that covers the link. A permission for another
  /// entry with the same id does not apply.
  private func isPermitted(_ application: Application, _ link: String, _ choices: HandlerChoices) -> Bool {
    if application.origin == .system { return true }
    guard let permission = choices.allowed[application.desktopID] else { return false }
    return permission.place.file == application.file && permission.place.launch == application.launch
      && (Self.covering[link] ?? []).contains { permission.claims.contains($0) }
  }

  @Test func `only a permitted handler opens unasked, and a blocked handler is never offered`() throws {
    var (opened, asked, blocked) = (0, 0, 0)
    for seed: UInt64 in 1...200 {
      var random = SeededGenerator(seed: seed)
      let handlers = try declarations(5, using: &random)
      let choices = policy(handlers, using: &random).choices
      for link in Self.links {
        let route = Registry(declarations: handlers).route(for: link, policy: RoutingPolicy(choices: choices))
        for candidate in route.candidates {
          #expect(!isBlocked(candidate.desktopID, link, choices), "\(candidate.desktopID) of \(link), seed \(seed)")
        }
        blocked += route.claimants.count { isBlocked($0.application.desktopID, link, choices) }
        guard let handler = route.handler else { continue }
        let isPermitted = isPermitted(handler, link, choices)
        if route.question == .nothing {
          #expect(isPermitted && route.trusted, "\(handler.desktopID) of \(link), seed \(seed)")
          if handler.origin != .system { opened += 1 }
        } else if !isPermitted {
          asked += 1
        }
      }
    }
    #expect(min(opened, asked, blocked) > 50, "\((opened, asked, blocked))")
  }
}
