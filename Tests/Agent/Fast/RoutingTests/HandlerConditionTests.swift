import Testing
import UniversalLinks

@testable import Routing

/// A rule about all tags of one app.
@Suite struct HandlerConditionTests {
  private static func application(_ id: String, _ origin: Application.Origin = .system) -> Application {
    Application(desktopID: "\(id).desktop", name: id, file: "/usr/share/applications/\(id).desktop", origin: origin)
  }

  private static func registry(_ origin: Application.Origin = .system, others: [String] = []) throws -> Registry {
    let domain = try DomainPattern("menu.example.com")
    return Registry(
      declarations: [HandlerDeclaration(application: application("menu", origin), domains: [domain])]
        + others.map { HandlerDeclaration(application: application($0), domains: [domain]) },
      defaults: ["https": application("web")])
  }

  private static let rules = RuleSet([
    TapRule(
      name: "menu", origin: .user, file: "/r.conf", line: 1, conditions: [.handler("menu.desktop")],
      action: .open("menu.desktop"), asks: false)
  ])

  @Test func `the links that the handler claims open at once`() throws {
    let route = try Self.registry().route(for: "https://menu.example.com/1", rules: Self.rules)
    #expect(route.rule?.asks == false && route.handler?.desktopID == "menu.desktop" && route.handsOverMessage)
    #expect(route.steps.first == Route.Step("rule", "“menu” (/r.conf:1) matches"))
  }

  @Test(arguments: ["https://shop.example.com/", "tel:1", "javascript:1"])
  func `other links do not`(link: String) throws {
    let route = try Self.registry().route(for: link, rules: Self.rules)
    #expect(route.rule == nil)
    #expect(route.steps.first?.finding == "“menu” (/r.conf:1) does not match: Handler= differs")
  }

  @Test func `a question is still asked`() throws {
    let unconfirmed = try Self.registry(.user).route(for: "https://menu.example.com/1", rules: Self.rules)
    #expect(unconfirmed.rule == nil && unconfirmed.question == .whetherAllowed)
    let several = try Self.registry(others: ["diner"]).route(for: "https://menu.example.com/1", rules: Self.rules)
    #expect(several.rule == nil && several.question == .which)
  }

  @Test func `a default application is no handler`() throws {
    let rules = RuleSet([
      TapRule(
        name: "web", origin: .user, file: "/r.conf", line: 1, conditions: [.handler("web.desktop")],
        action: .openDefault, asks: false)
    ])
    let route = try Self.registry().route(for: "https://shop.example.com/", rules: rules)
    #expect(route.rule == nil && route.handler?.desktopID == "web.desktop")
  }

  @Test func `a blocked handler does not open it`() throws {
    var policy = RoutingPolicy()
    let isBlocked = policy.choices.apply(.block(desktopID: "menu.desktop", claim: nil))
    #expect(isBlocked)
    #expect(try Self.registry().route(for: "https://menu.example.com/1", rules: Self.rules, policy: policy).rule == nil)
  }
}
