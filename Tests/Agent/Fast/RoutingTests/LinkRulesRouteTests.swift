import Rig
import Routing
import Testing
import UniversalLinks

@Suite struct LinkRulesRouteTests {
  private func handler(
    _ id: String, _ domain: String, _ components: String, origin: Application.Origin = .system
  ) throws -> HandlerDeclaration {
    let file = #"{"applinks": {"details": [{"appIDs": ["\#(id)"], "components": [\#(components)]}]}}"#
    return HandlerDeclaration(
      application: application(id, origin: origin), domains: [try DomainPattern(domain)],
      links: try AppSiteAssociation(json: Array(file.utf8)))
  }

  private func ids(_ route: Route) -> [String] { route.candidates.map { String($0.desktopID.dropLast(8)) } }

  @Test(arguments: [
    ("https://a.example.com/menu/7", ["all", "menu"]), ("https://a.example.com/menu/bill", ["all"]),
    ("https://a.example.com/shop", ["all", "shop"]), ("https://a.example.com/private", ["below"]),
    ("https://a.example.com/private/none", []),
  ])
  func `if rules exclude all handlers of a pattern, the next pattern applies`(uri: String, expected: [String]) throws {
    let registry = Registry(declarations: [
      try handler("all", "a.example.com", #"{"/": "/private*", "exclude": true}, {}"#),
      try handler("menu", "a.example.com", #"{"/": "/menu/bill", "exclude": true}, {"/": "/menu/*"}"#),
      try handler("shop", "a.example.com", #"{"/": "/shop"}"#),
      try handler("below", "*.example.com", #"{"/": "/private/none", "exclude": true}, {}"#),
    ])
    let route = registry.route(for: uri)
    #expect(ids(route) == expected)
    #expect(route.kind == (expected.isEmpty ? .none : .universalLink))
  }

  @Test func `the steps name the rule that excluded a link`() throws {
    let registry = Registry(declarations: [
      try handler("menu", "a.example.com", #"{"/": "/bill", "exclude": true}, {"/": "/menu"}"#),
      try RoutingTests.handler("all", ["*.example.com"]),
    ])
    let bill = registry.route(for: "https://a.example.com/bill").steps.map(\.description)
    #expect(
      bill.contains(
        "links: menu does not take it: applinks.details[0].components[0] of its path rules excludes it"),
      "\(bill)")
    let other = registry.route(for: "https://a.example.com/x").steps.map(\.description)
    #expect(other.contains("links: menu does not take it: none of its path rules covers it"), "\(other)")
  }

  @Test func `an excluded link never goes to the handler that excludes it`() throws {
    var random = SeededGenerator(seed: 3)
    let excluding = try handler("menu", "*.example.com", #"{"/": "/bill*", "exclude": true}, {}"#)
    for _ in 0..<30 {
      let others = try (0..<Int.random(in: 0...4, using: &random)).map { number in
        try RoutingTests.handler(
          "other\(number)", [["a.example.com", "*.example.com"][Int.random(in: 0...1, using: &random)]])
      }
      let registry = Registry(declarations: others + [excluding])
      #expect(!ids(registry.route(for: "https://a.example.com/bill/7")).contains("menu"))
    }
  }

  @Test func `slow rules with a more exact claim use no steps of a system or preferred handler`() throws {
    let component = #"{"/": "\#(String(repeating: "*a", count: 2000))b"}"#
    let components = Array(repeating: component, count: 2).joined(separator: ",")
    let slow = try (0..<4).map { try handler("slow\($0)", "a.menu.example.com", components, origin: .user) }
    let registry = Registry(
      declarations: slow + [
        try RoutingTests.handler("stranger", ["a.menu.example.com"], origin: .user),
        try handler("menu", "*.menu.example.com", "{}"), try handler("mine", "*.menu.example.com", "{}", origin: .user),
      ])
    let link = "https://a.menu.example.com/" + String(repeating: "a", count: 8000)
    let route = registry.route(for: link)
    #expect(ids(route) == ["menu", "stranger"])
    #expect(route.claimants.count { $0.outcome == .undecided } == 5)
    var choices = HandlerChoices()
    _ = choices.apply(.prefer(application("mine", origin: .user), claim: "*.menu.example.com"))
    #expect(ids(registry.route(for: link, policy: RoutingPolicy(choices: choices))) == ["mine"])
  }

  @Test func `a dozen handlers with slow rules do not displace the system handler`() throws {
    let component = #"{"/": "\#(String(repeating: "*a", count: 2000))b"}"#
    let components = Array(repeating: component, count: 2).joined(separator: ",")
    let slow = try (0..<12).map { try handler("slow\($0)", "a.example.com", components, origin: .user) }
    let registry = Registry(declarations: slow + [try handler("menu", "a.example.com", "{}")])
    let route = registry.route(for: "https://a.example.com/" + String(repeating: "a", count: 8000))
    #expect(ids(route) == ["menu"])
    #expect(route.steps.contains { $0.finding.contains("too many steps") })
    #expect(route.steps.count < 20)
  }
}

@Suite struct ClaimantTests {
  @Test func `each claimant is listed with its outcome, and the steps only on request`() throws {
    let rules =
      #"{"applinks": {"details": [{"appIDs": ["menu"], "components": [{"/": "/bill", "exclude": true}, {}]}]}}"#
    let menu = HandlerDeclaration(
      application: application("menu"), domains: [try DomainPattern("a.example.com")],
      links: try AppSiteAssociation(json: Array(rules.utf8)))
    let registry = Registry(declarations: [
      menu, try handler("other", ["a.example.com"]), try handler("below", ["*.example.com"]),
    ])
    func outcomes(_ route: Route) -> [String] {
      route.claimants.map { "\($0.application.desktopID) \($0.outcome.rawValue)" }
    }
    let bill = registry.route(for: "https://a.example.com/bill")
    #expect(outcomes(bill).first == "other.desktop only")
    #expect(Set(outcomes(bill)) == ["other.desktop only", "below.desktop less-exact", "menu.desktop excluded"])
    #expect(bill.claimants.first { $0.outcome == .excluded }?.rule == "applinks.details[0].components[0]")
    #expect(bill.claimants.count == 3 && bill.claimantsLeftOut == 0)
    let both = registry.route(for: "https://a.example.com/7")
    #expect(Set(outcomes(both)) == ["menu.desktop offered", "other.desktop offered", "below.desktop less-exact"])
    let quick = registry.route(for: "https://a.example.com/bill", explaining: false)
    #expect(quick.steps.isEmpty && !bill.steps.isEmpty)
    #expect(quick.claimants == bill.claimants && quick.handler == bill.handler && quick.reason == bill.reason)
  }

  @Test func `if all claimants are excluded, the default opens the link and they are still listed`() throws {
    let rules = #"{"applinks": {"details": [{"appIDs": ["menu"], "components": []}]}}"#
    let many = try (0..<50).map { number in
      HandlerDeclaration(
        application: application("menu\(number)"), domains: [try DomainPattern("a.example.com")],
        links: try AppSiteAssociation(json: Array(rules.replacing("menu", with: "menu\(number)").utf8)))
    }
    let registry = Registry(declarations: many, defaults: ["https": application("browser")])
    let route = registry.route(for: "https://a.example.com/7")
    #expect(route.kind == .default && route.handler == application("browser"))
    #expect(route.claimants.count + route.claimantsLeftOut == 50)
    #expect(route.claimants.allSatisfy { $0.outcome == .notCovered })
    #expect(route.steps.count < 15)
  }
}
