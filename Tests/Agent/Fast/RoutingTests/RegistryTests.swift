import Rig
import Routing
import Testing
import UniversalLinks

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
