import Routing
import Testing
import UniversalLinks

@Suite struct VouchedRouteTests {
  private let registry: Registry
  private let policy: RoutingPolicy

  init() throws {
    registry = Registry(declarations: [
      try handler("org.example.Menu", ["menu.example.com", "*.example.org"], origin: .store),
      try handler("org.example.Other", ["other.example.com"], origin: .store),
    ])
    let file =
      #"{"applinks": {"details": [{"appIDs": ["org.example.Menu"], "components": [{"/": "/bill", "exclude": true}, {}]}]}}"#
    let association = DomainAssociation(appLinks: try AppSiteAssociation(json: Array(file.utf8)))
    policy = RoutingPolicy(associations: [
      "menu.example.com": association, "other.example.com": association, "example.org": association,
    ])
  }

  @Test(
    "a handler that its domain vouches for is trusted with what the domain's rules let in",
    arguments: [
      ("https://menu.example.com/7", true), ("https://menu.example.com/bill", false),
      // The domain names another application.
      ("https://other.example.com/7", false),
      // A wildcard: the domain above says it.
      ("https://a.example.org/7", true), ("https://a.b.example.org/bill", false),
    ])
  func trusted(uri: String, expected: Bool) {
    let route = registry.route(for: uri, policy: policy)
    #expect(route.kind == .universalLink && route.trusted == expected)
    #expect(route.steps.contains { $0.finding.contains("itself names") } == expected)
    #expect(!registry.route(for: uri).trusted)
  }

  @Test("an entry of the user's can have any id, so no domain vouches for one")
  func usersOwn() throws {
    let registry = Registry(declarations: [try handler("org.example.Menu", ["menu.example.com"], origin: .user)])
    let route = registry.route(for: "https://menu.example.com/7", policy: policy)
    #expect(!route.trusted && route.question == .whetherAllowed)
  }

  @Test("what domains say changes nothing about who is chosen")
  func choice() {
    let uri = "https://menu.example.com/7"
    #expect(registry.route(for: uri).candidates == registry.route(for: uri, policy: policy).candidates)
  }
}
