import FoundationEssentials
import Handlers
import NDEF
import Rig
import Routing
import Settings
import Testing
import UniversalLinks

/// Decides each row of the table with the rules as files have them.
@Suite struct DecisionTableTests {
  @Test(arguments: DecisionRow.files) func `each row is decided and explained`(file: String) throws {
    for row in try DecisionRow.load(file) {
      let stage = try DecisionStage(row)
      #expect(stage.problems.count == row.mistakes ?? 0, "\(row): \(stage.problems)")
      let route = stage.route(explaining: true)
      #expect(route.outcome == row.expected, "\(row)")
      #expect(route.steps.contains { $0.finding.contains(row.because) }, "\(row): \(route.steps)")
      expectRules(stage, toExplain: route, row)
      expectReason(of: route, row)
      let silent = stage.route(explaining: false)
      #expect(silent.outcome == row.expected, "\(row), without an explanation")
      #expect(silent.steps.isEmpty && silent.reason == route.reason, "\(row)")
    }
  }

  /// The first steps name each rule that was tried, in its order, with its file and line, and no later rule.
  private func expectRules(_ stage: DecisionStage, toExplain route: Route, _ row: DecisionRow) {
    let places = stage.rules.rules.map(\.place)
    let winner = places.firstIndex { place in route.steps.contains { $0.finding == "\(place) matches" } }
    let tried = winner ?? places.count
    let explained = zip(route.steps, places).prefix(tried).allSatisfy { step, place in
      step.subject == "rule" && step.finding.hasPrefix("\(place) does not match: ")
        && step.finding.hasSuffix("= differs")
    }
    #expect(explained && route.steps.count >= tried, "\(row): \(route.steps)")
    let next = route.steps.dropFirst(tried).first?.finding
    guard let winner else {
      #expect(route.rule == nil, "\(row)")
      if !places.isEmpty { #expect(next == "no rule matches", "\(row)") }
      return
    }
    #expect(next == "\(places[winner]) matches", "\(row)")
    // The action of the rule takes the place of the decision without the rule.
    #expect(route.steps.count == winner + 2 && route.steps.last?.finding == route.reason, "\(row): \(route.steps)")
    guard let rule = route.rule else {
      #expect(route.kind == .refused, "\(row)")
      return
    }
    #expect(route.kind == .rule && route.trusted && route.question == .nothing, "\(row)")
    #expect(rule.place == places[winner] && route.reason.contains(rule.place), "\(row): \(route.reason)")
    if case .run(let arguments) = rule.action {
      #expect(route.reason.hasSuffix(" runs \(arguments[0])"), "\(row): \(route.reason)")
    }
  }

  /// The reason names the app that was chosen, and neither reason nor steps have the password of a Wi-Fi network.
  private func expectReason(of route: Route, _ row: DecisionRow) {
    #expect(!route.reason.isEmpty && !route.steps.isEmpty, "\(row)")
    if let handler = route.handler { #expect(route.reason.contains(handler.id), "\(row): \(route.reason)") }
    #expect((route.steps.map(\.finding) + [route.reason]).allSatisfy { !$0.contains("visitors") }, "\(row)")
  }

  @Test func `the table has each kind of decision, and no row twice`() throws {
    let names = try #require(fileNames(in: DecisionRow.folder))
    #expect(names.sorted() == DecisionRow.files.map { "\($0).jsonl" })
    let rows = try DecisionRow.files.flatMap { try DecisionRow.load($0) }
    #expect(rows.count >= 200)
    #expect(Set(rows.map(\.question)).count == rows.count)
    let words = Set(rows.compactMap { $0.expected.split(separator: " ").first.map(String.init) })
    #expect(words.isSuperset(of: Route.Kind.allCases.filter { $0 != .rule }.map(\.rawValue)))
    let actions = Set(rows.compactMap { $0.expected.split(separator: " ").dropFirst().first.map(String.init) })
    #expect(actions.isSuperset(of: ["ignore", "open", "run", "show"]))
  }
}

/// A tag, the rules and the settings, and the expected decision. Each line of the files in `Decisions` is a row in JSON.
struct DecisionRow: Decodable, Sendable, CustomStringConvertible {
  /// Why the row is there, if the rest does not say so.
  let note: String?
  /// `uid=04A2195A`, `tech=type-2`, `reader=PATH`, and the records in their order. A record is `uri=…`, `text=…`,
  /// `text16=…` (in UTF-16), `mime=TYPE`, `ext=TYPE`, `absolute=URI`, `empty` or `poster=…` (the link of a Smart
  /// Poster). It can also be `raw=FORMAT,TYPE,PAYLOAD`: the number of the type name format, and the payload in
  /// hexadecimal digits.
  let tag: [String]
  /// `NAME | KEY=VALUE | …`, with `!` before the name if the rule is the administrator's, and `FILE.conf: ` before that
  /// if the name of the file matters.
  let rules: [String]?
  /// `block ID`, `block ID CLAIM`, `prefer ID CLAIM`, `smart-posters off`, and `handler ID TYPE` for one more handler.
  let settings: [String]?
  /// How many mistakes the rules have; nil for none.
  let mistakes: Int?
  /// The decision, as `Route.outcome` writes it.
  let expected: String
  /// What the explanation has to say in one of its steps.
  let because: String

  var description: String { "\(note ?? "") \(tag) \(rules ?? []) \(settings ?? [])" }

  /// The bytes of all that the decision depends on. Swift treats some texts of different bytes as equal.
  var question: [[UInt8]] { [tag, rules ?? [], settings ?? []].map { Array($0.joined(separator: "\n").utf8) } }
}

extension DecisionRow {
  static let files = [
    "actions", "bare-tags", "combined-messages", "link-handlers", "links", "other-conditions", "patterns", "precedence",
    "records", "refused-links", "rule-types", "several-conditions", "uids", "wi-fi",
  ]

  static var folder: String { #filePath.split(separator: "/").dropLast().map { "/\($0)" }.joined() + "/Decisions" }

  static func load(_ file: String) throws -> [DecisionRow] {
    let decoder = JSONDecoder()
    return try readFile("\(folder)/\(file).jsonl").split(separator: UInt8(ascii: "\n")).map {
      try decoder.decode(DecisionRow.self, from: Data($0))
    }
  }
}

struct DecisionRowError: Error {
  let text: String
}

/// The apps, the rules and the tag of a row.
///
/// Handlers of the system for links are `menu` (menu.example.com), `wild` (*.wild.example.com), `left` and `right`
/// (both.example.com), and `dial` (tel:). Those for records are `cards` (text/vcard, example.com:coupon), `calendar`
/// (text/calendar), `tune` (audio/ogg), `sound` (audio/*), `reel` (video/*) and `page` (application/xhtml+xml). Handlers
/// of the user are `pin` (a.wild.example.com), `film` (video/mp4) and `mine`; `store` is one of a store. `web`, `mail`
/// and `maps` are the defaults of schemes, and `viewer` of types. Installed apps that are no handlers are `player`,
/// `link`, which takes no files, and `editor`, which takes no links. The user has blocked `blocked`.
struct DecisionStage {
  let registry: Registry
  let rules: RuleSet
  let problems: [KeyFileError]
  let policy: RoutingPolicy
  let read: TagRead
  /// The SHA-256 of the message, as rules name it.
  let digest: String

  init(_ row: DecisionRow) throws {
    var declarations = try Self.handlers()
    for words in (row.settings ?? []).map({ $0.split(separator: " ").map(String.init) })
    where words.first == "handler" && words.count == 3 {
      declarations.append(
        HandlerDeclaration(
          application: Self.application(words[1]), mimeTypes: words[2].contains("/") ? [words[2]] : [],
          externalTypes: words[2].contains("/") ? [] : [words[2]]))
    }
    var registry = Registry(
      declarations: declarations,
      defaults: [
        "https": Self.application("web.desktop"), "mailto": Self.application("mail.desktop"),
        "geo": Self.application("maps.desktop"),
      ], unusableDefaults: ["sms": "it has no Exec"])
    for type in ["image/png", "application/pdf", "text/html", "image/svg+xml", "application/vnd.wfa.wsc"] {
      registry.typeDefaults[type] = .application(Self.application("viewer.desktop"))
    }
    registry.typeDefaults["image/bmp"] = .unusable("it has no Exec")
    self.registry = registry
    policy = try Self.policy(row.settings ?? [], registry)
    (rules, problems) = Self.rules(row.rules ?? [])
    read = try Self.read(row.tag)
    // A message that cannot be encoded is on no tag, but another decision about it must not depend on that.
    digest = (try? read.message?.encoded()).map(MessageDigest.sha256) ?? ""
  }

  func route(explaining: Bool) -> Route {
    registry.route(for: read, digest: digest, rules: rules, policy: policy, explaining: explaining)
  }

  // MARK: Apps

  private static func application(_ id: String, _ origin: Application.Origin = .system) -> Application {
    Application(desktopID: id, name: id, file: "/usr/share/applications/\(id)", origin: origin)
  }

  private static func handlers() throws -> [HandlerDeclaration] {
    func handler(
      _ id: String, _ origin: Application.Origin = .system, domains: [String] = [], schemes: [String] = [],
      mimeTypes: [String] = [], externalTypes: [String] = []
    ) throws -> HandlerDeclaration {
      HandlerDeclaration(
        application: application("\(id).desktop", origin), domains: try domains.map { try DomainPattern($0) },
        schemes: schemes, mimeTypes: mimeTypes, externalTypes: externalTypes)
    }
    return [
      try handler("menu", domains: ["menu.example.com"]), try handler("wild", domains: ["*.wild.example.com"]),
      try handler("left", domains: ["both.example.com"]), try handler("right", domains: ["both.example.com"]),
      try handler("dial", schemes: ["tel"]), try handler("blocked", schemes: ["x-blocked"]),
      try handler("cards", mimeTypes: ["text/vcard"], externalTypes: ["example.com:coupon"]),
      try handler("calendar", mimeTypes: ["text/calendar"]), try handler("tune", mimeTypes: ["audio/ogg"]),
      try handler("sound", mimeTypes: ["audio/*"]), try handler("reel", mimeTypes: ["video/*"]),
      try handler("page", mimeTypes: ["application/xhtml+xml"]),
      try handler("pin", .user, domains: ["a.wild.example.com"]), try handler("film", .user, mimeTypes: ["video/mp4"]),
      try handler(
        "mine", .user, domains: ["mine.example.com"], schemes: ["x-mine"], mimeTypes: ["application/x-mine"],
        externalTypes: ["example.com:mine"]),
      try handler("store", .store, domains: ["store.example.com"]),
    ]
  }

  private static func policy(_ settings: [String], _ registry: Registry) throws -> RoutingPolicy {
    var policy = RoutingPolicy()
    for setting in ["block blocked.desktop"] + settings {
      let words = setting.split(separator: " ").map(String.init)
      let change: HandlerChoices.Change
      switch (words[0], words.count) {
      case ("smart-posters", 2):
        policy.smartPosters = words[1] != "off"
        continue
      case ("handler", 3): continue
      case ("block", 2): change = .block(desktopID: words[1], claim: nil)
      case ("block", 3): change = .block(desktopID: words[1], claim: words[2])
      case ("prefer", 3):
        guard let handler = registry.declarations.first(where: { $0.application.desktopID == words[1] }) else {
          throw DecisionRowError(text: setting)
        }
        change = .prefer(handler.application, claim: words[2])
      default: throw DecisionRowError(text: setting)
      }
      guard policy.choices.apply(change) else { throw DecisionRowError(text: setting) }
    }
    return policy
  }

  // MARK: Rules

  /// Reads the rules as files have them, so that their places are real.
  private static func rules(_ rows: [String]) -> (RuleSet, [KeyFileError]) {
    var texts: [String: String] = [:]
    for row in rows {
      var lines = row.split(separator: " | ").map(String.init)
      var name = lines.removeFirst()
      var file: String?
      if let mark = name.firstRange(of: ".conf: ") {
        file = "\(name[..<mark.lowerBound]).conf"
        name = String(name[mark.upperBound...])
      }
      let isSystems = name.hasPrefix("!")
      if isSystems { name.removeFirst() }
      let path = isSystems ? "etc/\(file ?? "system.conf")" : file ?? "user.conf"
      texts[path, default: ""] += (["[Rule \(name)]"] + lines).joined(separator: "\n") + "\n"
    }
    var rules: [TapRule] = []
    var problems: [KeyFileError] = []
    for (path, text) in texts.sorted(by: { $0.key < $1.key }) {
      let file = RuleFile(Array(text.utf8), file: path, origin: path.hasPrefix("etc/") ? .system : .user)
      rules += file.rules
      problems += file.problems
    }
    var set = RuleSet(rules)
    for (id, takesLinks, takesFiles) in [
      ("player", true, true), ("web", true, true), ("link", true, false), ("editor", false, true),
    ] {
      set.applications["\(id).desktop"] = RuleSet.NamedApplication(
        application("\(id).desktop"), takesLinks: takesLinks, takesFiles: takesFiles)
    }
    return (set, problems)
  }

  // MARK: Tags

  private static func read(_ tag: [String]) throws -> TagRead {
    var (uid, technology, reader): ([UInt8], String, String) = ([], "", "")
    var records: [NDEFRecord] = []
    for word in tag {
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      let value = parts.count == 2 ? parts[1] : ""
      switch parts[0] {
      case "uid": uid = bytes(value)
      case "tech": technology = value
      case "reader": reader = value
      default: records.append(try record(parts[0], value))
      }
    }
    return TagRead(
      uid: uid, technology: technology, reader: reader,
      message: records.isEmpty ? nil : NDEFMessage(records: records))
  }

  private static func record(_ kind: String, _ value: String) throws -> NDEFRecord {
    switch kind {
    case "uri": return URIRecord(value).record()
    case "poster": return try SmartPosterRecord(uri: value).record()
    case "text": return try TextRecord(value, language: "en").record()
    case "text16": return try TextRecord(value, language: "en", encoding: .utf16).record()
    case "mime": return NDEFRecord(typeNameFormat: .mediaType, type: Array(value.utf8))
    case "ext": return NDEFRecord(typeNameFormat: .external, type: Array(value.utf8))
    case "absolute": return NDEFRecord(typeNameFormat: .absoluteURI, type: Array(value.utf8))
    case "empty": return .empty
    case "raw":
      let fields = value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
      guard fields.count == 3, let format = UInt8(fields[0]).flatMap({ TypeNameFormat(rawValue: $0) }) else { break }
      return NDEFRecord(typeNameFormat: format, type: Array(fields[1].utf8), payload: bytes(fields[2]))
    default: break
    }
    throw DecisionRowError(text: "\(kind)=\(value)")
  }

  private static func bytes(_ hex: String) -> [UInt8] {
    let digits = hex.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }
}

extension Route {
  /// The decision in one line.
  ///
  /// - By a rule: its name, its action with the app or program and the data for it, and `at-once` if it does not ask.
  ///   The action after the removal follows `then`.
  /// - Otherwise: the kind, the app or the Wi-Fi network, and the question or why the network is not joined.
  var outcome: String {
    guard let rule else {
      let question = question == .nothing ? nil : question.rawValue
      return [kind.rawValue, handler?.desktopID, question, network?.name, network?.obstacle?.rawValue]
        .compactMap(\.self).joined(separator: " ")
    }
    var words = [rule.name]
    switch rule.action {
    case .ignore: words.append("ignore")
    case .show: words.append("show")
    case .run(let arguments): words += ["run"] + arguments
    case .open, .openDefault:
      let contents = handsOverMessage ? "message" : uri == nil ? "file" : "link"
      words += ["open"] + (handler.map { [$0.desktopID, contents] } ?? ["nothing"])
    }
    if !rule.asks { words.append("at-once") }
    if !rule.onRemove.isEmpty { words += ["then"] + rule.onRemove }
    return words.joined(separator: " ")
  }
}
