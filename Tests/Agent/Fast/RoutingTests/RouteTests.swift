import NDEF
import Rig
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
        "org.example.Menu claims menu.example.com"
      ),
      (
        "HTTP://MENU.example.com", .universalLink, "org.example.Menu", true,
        "org.example.Menu claims menu.example.com"
      ),
      (
        "https://other.example.com/", .universalLink, "org.example.Wide", true,
        "org.example.Wide claims *.example.com"
      ),
      (
        "https://a.example.org/", .universalLink, "org.example.Menu", true,
        "org.example.Menu claims *.example.org"
      ),
      (
        "https://a.shop.example.org/", .universalLink, "org.example.Wide", true,
        "org.example.Wide claims *.shop.example.org"
      ),
      (
        "https://mine.example/", .universalLink, "org.example.Mine", false,
        "org.example.Mine claims mine.example"
      ),
      (
        "https://example.org/", .default, "browser", true,
        "no handler claims the link; browser is the default application for https"
      ),
      (
        "https://menu.example.com:8443/", .default, "browser", true,
        "no handler claims the link; browser is the default application for https"
      ),
      (
        "https://menu.example.com.evil.example/", .default, "browser", true,
        "no handler claims the link; browser is the default application for https"
      ),
      (
        "https://192.0.2.1/", .default, "browser", true,
        "no handler claims the link; browser is the default application for https"
      ),
      (
        "mailto:a@menu.example.com", .default, "mail", true,
        "no handler claims the link; mail is the default application for mailto"
      ),
      (
        "otpauth://totp/x", .scheme, "org.example.Codes", true,
        "org.example.Codes claims otpauth links from tags"
      ),
      ("tel:+1", .scheme, "org.example.Codes", true, "org.example.Codes claims tel links from tags"),
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
        "domain: menu.example.com matches menu.example.com, claimed by org.example.Menu, org.example.Mine",
        "domain: *.example.com is less exact, claimed by org.example.Wide",
        "choice: org.example.Menu is one of several to choose from, by its claim to menu.example.com, and installed by the system",
        "choice: org.example.Mine is one of several to choose from, by its claim to menu.example.com, and not allowed yet by the user",
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

@Suite struct MessageRouteTests {
  private let registry: Registry

  init() throws {
    registry = Registry(declarations: [
      try handler("first", ["first.example"]), try handler("second", ["second.example"]),
      try handler("script", schemes: ["javascript"]),
    ])
  }

  private func uri(_ text: String) -> NDEFRecord { URIRecord(text).record() }

  private func poster(_ records: NDEFRecord...) throws -> NDEFRecord {
    .wellKnown("Sp", payload: try NDEFMessage(records: records).encoded())
  }

  private let text = NDEFRecord.wellKnown("T", payload: [2] + Array("enhttps://second.example/".utf8))

  @Test func `the first URI record decides, wherever it is in the message`() throws {
    let message = NDEFMessage(records: [text, uri("https://first.example/"), uri("https://second.example/")])
    let route = registry.route(for: message)
    #expect(route.handler?.desktopID == "first.desktop")
    #expect(route.steps.first?.description == "record: record 2 of 3 is the first URI record")
  }

  @Test func `a refused first URI record is not replaced by a later one`() throws {
    let message = NDEFMessage(records: [uri("javascript:alert(1)"), uri("https://second.example/")])
    #expect(registry.route(for: message).kind == .refused)
    let broken = NDEFMessage(records: [.wellKnown("U", payload: [4, 0xFF]), uri("https://second.example/")])
    let route = registry.route(for: broken)
    #expect(route.kind == .refused)
    #expect(route.reason.hasPrefix("the URI record cannot be decoded"))
  }

  @Test func `a Smart Poster is ignored if the message has a URI record`() throws {
    let message = NDEFMessage(records: [try poster(uri("https://second.example/")), uri("https://first.example/")])
    #expect(registry.route(for: message).handler?.desktopID == "first.desktop")
  }

  @Test func `the first Smart Poster is used, unless Smart Posters are disabled`() throws {
    let message = NDEFMessage(records: [
      text, try poster(text, uri("https://first.example/")), try poster(uri("https://second.example/")),
    ])
    #expect(registry.route(for: message).handler?.desktopID == "first.desktop")
    let strict = registry.route(for: message, policy: RoutingPolicy(smartPosters: false))
    #expect(strict.kind == .none)
    #expect(strict.reason == "the message has no URI record, and Smart Posters are switched off")
  }

  @Test func `a Smart Poster that is broken or has no URI gives no route`() throws {
    let broken = NDEFMessage(records: [.wellKnown("Sp", payload: [0xD1])])
    #expect(registry.route(for: broken).reason == "the Smart Poster cannot be decoded")
    let textOnly = NDEFMessage(records: [try poster(text)])
    #expect(registry.route(for: textOnly).reason == "the Smart Poster has no URI record")
  }

  private func absolute(_ text: String) -> NDEFRecord {
    NDEFRecord(typeNameFormat: .absoluteURI, type: Array(text.utf8), payload: [1])
  }

  @Test func `the type of an absolute URI record is the link, if no other record has one`() throws {
    func route(_ records: NDEFRecord...) -> Route { registry.route(for: NDEFMessage(records: records)) }
    let (first, second) = (absolute("https://first.example/"), uri("https://second.example/"))
    #expect(route(text, first, absolute("https://second.example/")).handler?.desktopID == "first.desktop")
    #expect(route(first, second).handler?.desktopID == "second.desktop")
    #expect(route(first, try poster(second)).handler?.desktopID == "second.desktop")
    #expect(route(try poster(text), first).handler?.desktopID == "first.desktop")
    #expect(route(absolute("javascript:a"), first).refusal == .forbiddenScheme)
    #expect(route(absolute("windows.com/LaunchApp"), first).handler?.desktopID == "first.desktop")
    #expect(route(absolute("windows.com/LaunchApp")).reason == "the message has no URI record")
  }

  @Test func `text, media and empty records are ignored`() {
    let records = [
      text, .empty,
      NDEFRecord(typeNameFormat: .mediaType, type: Array("U".utf8), payload: [4] + Array("first.example".utf8)),
      NDEFRecord(
        typeNameFormat: .external, type: Array("example.com:U".utf8), payload: [4] + Array("first.example".utf8)),
    ]
    let route = registry.route(for: NDEFMessage(records: records))
    #expect(route.kind == .none)
    #expect(route.uri == nil)
    #expect(route.reason == "the message has no URI record, and the type of record 3 is malformed")
    #expect(registry.route(for: NDEFMessage(records: [])).kind == .none)
  }
}

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

@Suite struct RegistryTests {
  private static let hosts = [
    "a.example", "b.a.example", "c.b.a.example", "d.example", "x.d.example", "elsewhere.example",
  ]
  private static let claims = ["a.example", "*.a.example", "b.a.example", "*.b.a.example", "d.example", "*.d.example"]

  private func declarations(_ count: Int, using random: inout SeededGenerator) throws -> [HandlerDeclaration] {
    try (0..<count).map { index in
      let domains = Self.claims.shuffled(using: &random).prefix(Int.random(in: 0...3, using: &random))
      return try handler(
        "org.example.App\(index)", Array(domains), schemes: Bool.random(using: &random) ? ["tel"] : [],
        origin: Bool.random(using: &random) ? .system : .user)
    }
  }

  private func decisions(_ registry: Registry) -> [Route] {
    (Self.hosts.map { "https://\($0)/" } + ["tel:1", "sms:1"]).map { registry.route(for: $0) }
  }

  @Test(arguments: 1...50 as ClosedRange<UInt64>)
  func `the order of declarations does not matter`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let declarations = try declarations(8, using: &random)
    let registry = Registry(declarations: declarations)
    let shuffled = Registry(declarations: declarations.shuffled(using: &random))
    #expect(decisions(registry) == decisions(shuffled))
    #expect(registry == shuffled)
  }

  @Test(arguments: 1...50 as ClosedRange<UInt64>) func `an unrelated handler changes no decision`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let declarations = try declarations(8, using: &random)
    let unrelated = try handler("a.first", ["unrelated.example", "*.unrelated.example"], schemes: ["unrelated"])
    #expect(
      decisions(Registry(declarations: declarations)) == decisions(Registry(declarations: declarations + [unrelated])))
  }

  @Test func `if two entries have the same id, the user's entry applies`() throws {
    let system = try handler("app", ["a.example"])
    let user = try handler("app", ["d.example"], origin: .user)
    for declarations in [[system, user], [user, system]] {
      let registry = Registry(declarations: declarations)
      #expect(registry.declarations == [user])
      #expect(registry.route(for: "https://a.example/").kind == .none)
    }
  }

  @Test func `a repeated claim counts once`() throws {
    let registry = Registry(declarations: [try handler("app", ["a.example", "A.example."], schemes: ["tel", "TEL"])])
    #expect(registry.route(for: "https://a.example/").candidates.count == 1)
    #expect(registry.route(for: "tel:1").candidates.count == 1)
  }

  @Test func `http, https and forbidden schemes cannot be claimed`() {
    for scheme in ["http", "https", "javascript", "file"] { #expect(!Registry.isClaimable(scheme)) }
    for scheme in ["tel", "otpauth", "x-hm"] { #expect(Registry.isClaimable(scheme)) }
  }

  @Test func `a registry holds a hundred thousand domains`() throws {
    let domains = try (0..<100_000).map { try DomainPattern(($0 % 2 == 0 ? "*." : "") + "host\($0).example") }
    let declarations = stride(from: 0, to: 100_000, by: 100).map { start in
      HandlerDeclaration(application: application("app\(start)"), domains: Array(domains[start..<start + 100]))
    }
    let registry = Registry(declarations: declarations)
    #expect(registry.route(for: "https://host99999.example/").handler?.desktopID == "app99900.desktop")
    #expect(registry.route(for: "https://a.host99998.example/").handler?.desktopID == "app99900.desktop")
    #expect(registry.route(for: "https://host99998.example/").kind == .none)
  }
}

func application(_ id: String, origin: Application.Origin = .system) -> Application {
  let directory = origin == .system ? "/usr/share" : "/home/somebody/.local/share"
  return Application(
    desktopID: "\(id).desktop", name: id, file: "\(directory)/applications/\(id).desktop", origin: origin)
}

func handler(
  _ id: String, _ domains: [String] = [], schemes: [String] = [], origin: Application.Origin = .system
) throws -> HandlerDeclaration {
  HandlerDeclaration(
    application: application(id, origin: origin), domains: try domains.map { try DomainPattern($0) }, schemes: schemes)
}

/// Applies a change, and checks whether it is possible.
func expect(
  _ isPossible: Bool, _ choices: inout HandlerChoices, _ change: HandlerChoices.Change,
  at location: SourceLocation = #_sourceLocation
) {
  let wasPossible = choices.apply(change)
  #expect(wasPossible == isPossible, sourceLocation: location)
}
