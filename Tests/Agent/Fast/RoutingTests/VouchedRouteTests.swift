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

  @Test(arguments: [
    ("https://menu.example.com/7", true), ("https://menu.example.com/bill", false),
    // The domain names another application.
    ("https://other.example.com/7", false),
    // For a wildcard claim, the file of the parent domain applies.
    ("https://a.example.org/7", true), ("https://a.b.example.org/bill", false),
  ])
  func `a handler is trusted with the links for which its domain vouches`(uri: String, expected: Bool) {
    let route = registry.route(for: uri, policy: policy)
    #expect(route.kind == .universalLink && route.trusted == expected)
    #expect(route.steps.contains { $0.finding.contains("itself names") } == expected)
    #expect(!registry.route(for: uri).trusted)
  }

  @Test func `no domain vouches for an entry that the user installed`() throws {
    let registry = Registry(declarations: [try handler("org.example.Menu", ["menu.example.com"], origin: .user)])
    let route = registry.route(for: "https://menu.example.com/7", policy: policy)
    #expect(!route.trusted && route.question == .whetherAllowed)
  }

  @Test func `the associations of domains do not change which handler is chosen`() {
    let uri = "https://menu.example.com/7"
    #expect(registry.route(for: uri).candidates == registry.route(for: uri, policy: policy).candidates)
  }
}
