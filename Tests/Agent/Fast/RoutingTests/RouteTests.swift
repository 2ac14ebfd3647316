import Routing
import Testing
import UniversalLinks

@Suite struct RouteTests {
  private let registry: Registry

  init() throws {
    registry = Registry(
      declarations: [
        try handler("org.example.Menu", ["menu.example.com", "*.example.org"]),
        try handler("org.example.Wide", ["*.example.com", "*.shop.example.org"]),
        try handler("org.example.Mine", ["menu.example.com", "mine.example"], origin: .user),
        try handler("org.example.Codes", schemes: ["OTPAuth", "https", "javascript", "tel"]),
      ],
      defaults: ["https": application("browser"), "http": application("browser"), "mailto": application("mail")])
  }

  @Test(
    arguments: [
      (
        "https://menu.example.com/7", .universalLink, "org.example.Menu", true,
        "org.example.Menu.desktop claims menu.example.com"
      ),
      (
        "HTTP://MENU.example.com", .universalLink, "org.example.Menu", true,
        "org.example.Menu.desktop claims menu.example.com"
      ),
      (
        "https://other.example.com/", .universalLink, "org.example.Wide", true,
        "org.example.Wide.desktop claims *.example.com"
      ),
      (
        "https://a.example.org/", .universalLink, "org.example.Menu", true,
        "org.example.Menu.desktop claims *.example.org"
      ),
      (
        "https://a.shop.example.org/", .universalLink, "org.example.Wide", true,
        "org.example.Wide.desktop claims *.shop.example.org"
      ),
      (
        "https://mine.example/", .universalLink, "org.example.Mine", false,
        "org.example.Mine.desktop claims mine.example"
      ),
      (
        "https://example.org/", .default, "browser", true,
        "no handler claims the link; browser.desktop is the default application for https"
      ),
      (
        "https://menu.example.com:8443/", .default, "browser", true,
        "no handler claims the link; browser.desktop is the default application for https"
      ),
      (
        "https://menu.example.com.evil.example/", .default, "browser", true,
        "no handler claims the link; browser.desktop is the default application for https"
      ),
      (
        "https://192.0.2.1/", .default, "browser", true,
        "no handler claims the link; browser.desktop is the default application for https"
      ),
      (
        "mailto:a@menu.example.com", .default, "mail", true,
        "no handler claims the link; mail.desktop is the default application for mailto"
      ),
      (
        "otpauth://totp/x", .scheme, "org.example.Codes", true,
        "org.example.Codes.desktop claims otpauth links from tags"
      ),
      ("tel:+1", .scheme, "org.example.Codes", true, "org.example.Codes.desktop claims tel links from tags"),
      ("sms:+1", .none, nil, false, "no handler claims the link, and sms has no default application"),
      (
        "steam://run/1", .none, nil, false,
        "no handler claims steam links, and they are not among the schemes that default applications get"
      ),
      ("javascript:alert(1)", .refused, nil, false, "javascript links are never opened from a tag"),
      ("https://menu.example.com@evil.example/", .refused, nil, false, "the URI has user information before its host"),
      ("menu.example.com", .refused, nil, false, "the URI has no scheme"),
    ] as [(String, Route.Kind, String?, Bool, String)])
  func `each link gets the expected route and reason`(
    text: String, kind: Route.Kind, id: String?, trusted: Bool, reason: String
  ) {
    let route = registry.route(for: text)
    #expect(route.kind == kind)
    #expect(route.handler?.desktopID == id.map { "\($0).desktop" })
    #expect(route.trusted == trusted)
    #expect(route.reason == reason)
    #expect(route.candidates.first == route.handler)
    #expect((route.uri == nil) == (kind == .refused))
    #expect(route.handsOverMessage == (kind == .universalLink || kind == .scheme))
    #expect(!route.steps.isEmpty)
  }

  @Test func `all handlers of the best pattern are offered, trusted ones first`() {
    let route = registry.route(for: "https://menu.example.com/")
    #expect(route.candidates.map(\.desktopID) == ["org.example.Menu.desktop", "org.example.Mine.desktop"])
    #expect(
      route.steps.map(\.description) == [
        "uri: it is well-formed",
        "domain: menu.example.com matches menu.example.com, claimed by org.example.Menu.desktop, org.example.Mine.desktop",
        "domain: *.example.com is less exact, claimed by org.example.Wide.desktop",
        "choice: org.example.Menu.desktop is one of several to choose from, by its claim to menu.example.com, and installed by the system",
        "choice: org.example.Mine.desktop is one of several to choose from, by its claim to menu.example.com, and not allowed yet by the user",
      ])
  }

  @Test(
    arguments: [
      ("https://menu.example.com/", .which), ("https://mine.example/", .whetherAllowed),
      ("https://a.example.org/", .nothing), ("tel:+1", .nothing), ("mailto:a@example.com", .nothing),
      ("https://example.net/", .nothing), ("sms:+1", .nothing),
    ] as [(String, Route.Question)])
  func `the user is asked if there are several handlers, or one that is not allowed`(
    uri: String, question: Route.Question
  ) {
    #expect(registry.route(for: uri).question == question)
  }

  @Test func `a question offers the browser as the alternative, if policy allows its scheme`() {
    #expect(registry.route(for: "https://mine.example/").alternative == application("browser"))
    #expect(registry.route(for: "https://mine.example/", policy: RoutingPolicy(schemes: [])).alternative == nil)
    #expect(registry.route(for: "https://example.net/").alternative == nil)
    #expect(registry.route(for: "tel:+1").alternative == nil)
  }

  @Test func `a scheme missing from the allow-list loses its default application, not its handlers`() {
    let policy = RoutingPolicy(schemes: ["mailto"])
    #expect(registry.route(for: "https://example.org/", policy: policy).kind == .none)
    #expect(registry.route(for: "https://menu.example.com/", policy: policy).kind == .universalLink)
    #expect(registry.route(for: "mailto:a@example.com", policy: policy).kind == .default)
  }

  @Test func `an empty registry refuses no well-formed link`() {
    #expect(Registry().route(for: "https://example.com/").kind == .none)
  }

  @Test func `the explanation of a thousand claims on one domain stays short`() throws {
    let declarations = try (0..<1000).map { try handler("org.example.App\($0)", ["example.com"]) }
    let route = Registry(declarations: declarations).route(for: "https://example.com/")
    #expect(route.candidates.count == 1000)
    #expect(route.steps.allSatisfy { $0.finding.utf8.count < 512 })
    #expect(route.steps.contains { $0.finding.hasSuffix("and 992 more") })
  }
}
