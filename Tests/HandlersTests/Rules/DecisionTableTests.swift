import Handlers
import KeyFile
import NDEF
import Routing
import Testing
import UniversalLinks

/// Decides each row of the table with the rules as a file has them.
@Suite struct DecisionTableTests {
  private static func application(_ id: String) -> Application {
    Application(desktopID: "\(id).desktop", name: id, file: "/usr/share/applications/\(id).desktop", origin: .system)
  }

  private static func registry() throws -> Registry {
    var registry = Registry(
      declarations: [
        HandlerDeclaration(application: application("menu"), domains: [try DomainPattern("menu.example.com")]),
        HandlerDeclaration(application: application("dial"), schemes: ["tel"]),
        HandlerDeclaration(application: application("blocked"), schemes: ["x-blocked"]),
        HandlerDeclaration(
          application: application("cards"), mimeTypes: ["text/vcard"], externalTypes: ["example.com:coupon"]),
      ], defaults: ["https": application("web")])
    for type in ["image/png", "text/html"] { registry.typeDefaults[type] = .application(application("viewer")) }
    return registry
  }

  private static func rules(_ rows: [String]) -> RuleSet {
    var rules: [TapRule] = []
    for row in rows {
      let parts = row.split(separator: " | ").map(String.init)
      let isSystems = parts[0].hasPrefix("!")
      let name = isSystems ? String(parts[0].dropFirst()) : parts[0]
      let text = (["[Rule \(name)]"] + parts.dropFirst()).joined(separator: "\n") + "\n"
      rules += RuleFile(Array(text.utf8), file: "table", origin: isSystems ? .system : .user).rules
    }
    var set = RuleSet(rules)
    set.applications = ["player.desktop": application("player")]
    return set
  }

  private static func facts(_ tag: String) throws -> TapFacts {
    var facts = TapFacts()
    var records: [NDEFRecord] = []
    for word in tag.split(separator: " ") {
      let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
      switch parts[0] {
      case "uid":
        facts.uid = stride(from: 0, to: parts[1].utf8.count, by: 2).compactMap { start in
          UInt8(parts[1].dropFirst(start).prefix(2), radix: 16)
        }
      case "uri": records.append(URIRecord(parts[1]).record())
      case "text":
        records.append(try TextRecord(parts[1].split(separator: "_").joined(separator: " "), language: "en").record())
      case "mime": records.append(NDEFRecord(typeNameFormat: .mediaType, type: Array(parts[1].utf8)))
      case "ext": records.append(NDEFRecord(typeNameFormat: .external, type: Array(parts[1].utf8)))
      case "tech": facts.technology = parts[1]
      default: facts.reader = parts[1]
      }
    }
    facts.message = records.isEmpty ? nil : NDEFMessage(records: records)
    return facts
  }

  private static func outcome(_ route: Route) -> String {
    guard let rule = route.rule else {
      return [route.kind.rawValue, route.handler?.desktopID].compactMap(\.self).joined(separator: " ")
    }
    switch rule.action {
    case .ignore: return "\(rule.name) ignore"
    case .show: return "\(rule.name) show"
    case .run(let arguments): return "\(rule.name) run \(arguments.joined(separator: " "))"
    case .open, .openDefault:
      guard let handler = route.handler else { return "\(rule.name) open nothing" }
      return
        "\(rule.name) open \(handler.desktopID) \(route.handsOverMessage ? "message" : route.uri == nil ? "file" : "link")"
    }
  }

  @Test(arguments: decisionTable) func `each row is decided and explained`(row: DecisionRow) throws {
    let rules = Self.rules(row.rules)
    var policy = RoutingPolicy()
    let isBlocked = policy.choices.apply(.block(desktopID: "blocked.desktop", claim: nil))
    #expect(isBlocked)
    let route = try Self.registry().route(for: try Self.facts(row.tag), rules: rules, policy: policy)
    #expect(Self.outcome(route) == row.expected)
    let tried = route.steps.filter { $0.subject == "rule" && $0.finding.contains("match") }
    if let rule = route.rule {
      #expect(route.kind == .rule && route.trusted && route.question == .nothing)
      let index = try #require(rules.rules.firstIndex(of: rule))
      #expect(tried.count == index + 1)
      #expect(tried.last?.finding == "\(rule.place) matches")
      #expect(route.steps.last?.finding == route.reason)
    } else {
      #expect(!route.steps.isEmpty)
    }
    let silent = try Self.registry().route(
      for: try Self.facts(row.tag), rules: rules, policy: policy, explaining: false)
    #expect(Self.outcome(silent) == row.expected)
    #expect(silent.steps.isEmpty)
  }
}
