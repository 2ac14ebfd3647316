import Routing
import SeededRandom
import Testing
import UniversalLinks

/// What holds of choices whatever they are.
@Suite struct ChoicePropertyTests {
  private static let links = ["https://a.example/", "https://b.a.example/", "https://c.b.a.example/", "x-a:1"]
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
    let application = handlers.randomElement(using: &random)?.application ?? application("app0")
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

  @Test("an unrelated handler, and choices about it, change no decision", arguments: 1...100 as ClosedRange<UInt64>)
  func unrelated(seed: UInt64) throws {
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

  @Test("a later handler takes over no link for which one is preferred", arguments: 1...100 as ClosedRange<UInt64>)
  func later(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let handlers = try declarations(4, using: &random)
    let policy = policy(handlers, using: &random)
    let later = try handler("a.later", Self.claims, schemes: ["x-a"])
    for link in Self.links {
      let before = Registry(declarations: handlers).route(for: link, policy: policy)
      guard before.claimants.first?.outcome == .preferred else { continue }
      let after = Registry(declarations: handlers + [later]).route(for: link, policy: policy)
      #expect(after.handler == before.handler && after.question == before.question && after.trusted == before.trusted)
      #expect(after.candidates == before.candidates)
    }
  }

  @Test(
    "no one is opened unasked who is not trusted, and no one is offered who is blocked",
    arguments: 1...100 as ClosedRange<UInt64>)
  func safety(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let handlers = try declarations(5, using: &random)
    let policy = policy(handlers, using: &random)
    for link in Self.links {
      let route = Registry(declarations: handlers).route(for: link, policy: policy)
      #expect(route.trusted || route.question != .nothing || route.handler == nil)
      for candidate in route.claimants {
        let isOffered = route.candidates.contains(candidate.application)
        #expect(isOffered == [.only, .preferred, .offered].contains(candidate.outcome))
        if candidate.outcome == .blocked { #expect(policy.choices.blocked[candidate.application.desktopID] != nil) }
      }
    }
  }
}
