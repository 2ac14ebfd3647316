import Rig
import Routing
import Testing
import UniversalLinks

/// Properties that hold for all choices.
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
