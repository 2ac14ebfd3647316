import Rig
import Testing

@testable import UniversalLinks

/// Apple, "Supporting associated domains" and "applinks.Details.Components": `*`, `?` and `?*`. There is no escape
/// character.
@Suite struct LinkPatternTests {
  @Test(arguments: [
    ("/buy/*", "/buy/", true), ("/buy/*", "/buy/shoes/9", true), ("/buy/*", "/buy", false),
    ("/buy/*", "/rebuy/x", false), ("*", "", true), ("*", "/anything", true), ("?", "", false), ("?", "a", true),
    ("?", "ab", false), ("?*", "", false), ("?*", "a", true), ("?*", "abc", true), ("????", "1234", true),
    ("????", "123", false), ("????", "12345", false), ("", "", true), ("", "a", false), ("a*b*c", "aXXbYYc", true),
    ("a*b*c", "aXXbYY", false), ("*a", "aaa", true), ("a", "A", false), ("/a**b", "/ab", true),
    ("$5", "$5", true), ("/x)", "/x)", true),
    // WWDC20-10098: built-in variables.
    ("/$(lang)_CA/*", "/fr_CA/x", true), ("/$(lang)_CA/*", "/xx_CA/x", false), ("/$(lang)/", "/haw/", true),
    ("/$(region)", "/JP", true), ("/$(region)", "/ZZ", false), ("/$(region)", "/jp", false),
    ("$(digit)$(digit)", "42", true), ("$(digit)", "x", false), ("$(digit)", "٤", false),
    ("$(alpha)", "Q", true), ("$(upper)", "q", false), ("$(lower)", "q", true), ("$(alnum)", "7", true),
    ("$(xdigit)", "f", true), ("$(xdigit)", "g", false),
  ])
  func `wildcards and built-in variables match as documented`(pattern: String, text: String, expected: Bool) throws {
    #expect(try LinkPattern(pattern).matches(text) == expected)
  }

  @Test func `a defined variable matches each of its values`() throws {
    var variables = SubstitutionVariables()
    try variables.define("food", as: ["burrito", "pizza", "sushi*", "?eef"])
    let pattern = try LinkPattern("/$(food)/$(food)", variables: variables)
    #expect(pattern.matches("/pizza/burrito"))
    #expect(pattern.matches("/sushi-roll/beef"))
    #expect(!pattern.matches("/pizza/steak"))
    #expect(!pattern.matches("/Pizza/burrito"))
  }

  @Test func `a definition replaces a built-in variable, and without values it never matches`() throws {
    var variables = SubstitutionVariables()
    try variables.define("lang", as: ["tlh"])
    #expect(try LinkPattern("$(lang)", variables: variables).matches("tlh"))
    #expect(try !LinkPattern("$(lang)", variables: variables).matches("en"))
    try variables.define("none", as: [])
    #expect(try !LinkPattern("*$(none)*", variables: variables).matches(""))
  }

  @Test(arguments: ["$(unknown)", "$(Lang)", "$(lang", "$()"])
  func `an unknown or unclosed variable is rejected`(pattern: String) {
    #expect(throws: AssociationError.self) { try LinkPattern(pattern) }
  }

  @Test(arguments: [("a$(b)c", ["x"]), ("b", ["$(digit)"]), ("", ["x"])])
  func `an invalid variable name or value is rejected`(name: String, values: [String]) {
    var variables = SubstitutionVariables()
    #expect(throws: AssociationError.self) { try variables.define(name, as: values) }
  }

  @Test func `a case-insensitive pattern ignores case`() throws {
    let comparison = LinkPattern.Comparison(isCaseSensitive: false)
    for (pattern, text) in [("/BUY/*", "/buy/X"), ("$(upper)", "q"), ("$(region)", "jp"), ("/%c3%A9", "/%C3%a9")] {
      #expect(try LinkPattern(pattern, comparison: comparison).matches(text))
    }
    var variables = SubstitutionVariables()
    try variables.define("food", as: ["Pizza"])
    #expect(try LinkPattern("$(food)", comparison: comparison, variables: variables).matches("pIZZA"))
  }

  @Test func `the percent-encoding setting decides how escapes are compared`() throws {
    #expect(try LinkPattern("/caf%c3%a9").matches("/caf%C3%A9"))
    #expect(try !LinkPattern("/café").matches("/caf%C3%A9"))
    let decoded = LinkPattern.Comparison(isPercentEncoded: false)
    #expect(try LinkPattern("/café", comparison: decoded).matches("/caf%C3%A9"))
    #expect(try LinkPattern("/caf%C3%A9", comparison: decoded).matches("/caf%C3%A9"))
    #expect(try LinkPattern("/caf?", comparison: decoded).matches("/caf%C3%A9"))
    // The character of an escape is not a wildcard.
    #expect(try LinkPattern("/%2A", comparison: decoded).matches("/%2A"))
    #expect(try !LinkPattern("/%2A", comparison: decoded).matches("/abc"))
    // Escapes that are not UTF-8 stay encoded.
    #expect(try LinkPattern("/%FF", comparison: decoded).matches("/%ff"))
  }

  /// A second implementation by backtracking, for short texts only.
  private func slow(_ pattern: Substring, _ text: Substring) -> Bool {
    guard let first = pattern.first else { return text.isEmpty }
    if first == "*" { return slow(pattern.dropFirst(), text) || !text.isEmpty && slow(pattern, text.dropFirst()) }
    guard let character = text.first, first == "?" || first == character else { return false }
    return slow(pattern.dropFirst(), text.dropFirst())
  }

  @Test func `matching agrees with backtracking on short texts`() throws {
    var random = SeededGenerator(seed: 7)
    for _ in 0..<5_000 {
      let pattern = String(
        (0..<Int.random(in: 0...8, using: &random)).map { _ in "ab*?".randomElement(using: &random) ?? "a" })
      let text = String(
        (0..<Int.random(in: 0...10, using: &random)).map { _ in "ab".randomElement(using: &random) ?? "a" })
      #expect(try LinkPattern(pattern).matches(text) == slow(pattern[...], text[...]), "\(pattern) on \(text)")
    }
  }

  /// Backtracking would not finish within the age of the universe.
  @Test func `a pattern that defeats backtracking is matched quickly or rejected`() throws {
    let pattern = try LinkPattern(String(repeating: "*a", count: 1_000) + "b")
    #expect(!pattern.matches(String(repeating: "a", count: 2_000)))
    var variables = SubstitutionVariables()
    try variables.define("v", as: (0..<40).map { _ in "*a*a*" })
    #expect(throws: AssociationError.self) {
      try LinkPattern(String(repeating: "$(v)", count: 200), variables: variables)
    }
  }

  @Test func `texts longer than a machine word are matched`() throws {
    for length in [62, 63, 64, 65, 127, 128, 129, 500] {
      let text = String(repeating: "x", count: length)
      #expect(try LinkPattern(text).matches(text))
      #expect(try LinkPattern("*" + text).matches(text))
      #expect(try LinkPattern("?*x").matches(text))
      #expect(try !LinkPattern(text + "?").matches(text))
      #expect(try !LinkPattern(text).matches(text + "x"))
    }
  }
}

/// `docs/links.md` lists the result for each link. These tests compare the page with the code.
@Suite struct LinkTableTests {
  private static func rows(under heading: String) throws -> [[String]] {
    let page = String(decoding: try readFile("\(repositoryRoot)/docs/links.md"), as: UTF8.self)
    var isInSection = false
    return page.split(separator: "\n").compactMap { line in
      if line.hasPrefix("## ") { isInSection = line == "## " + heading }
      guard isInSection, line.hasPrefix("| `") else { return nil }
      return line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast().map {
        String($0).replacing(/^ +| +$/, with: "")
      }
    }
  }

  /// The link without its backticks, with each `{U+202E}` replaced by its character.
  private static func link(_ cell: String) -> String {
    String(cell.dropFirst().dropLast()).replacing(/\{U\+([0-9A-F]+)\}/) { match in
      UInt32(match.1, radix: 16).flatMap(Unicode.Scalar.init).map { String($0) } ?? ""
    }
  }

  @Test func `misleading links are handled as the page says`() throws {
    let rows = try Self.rows(under: "Links that mislead")
    #expect(rows.count > 80)
    for row in rows {
      try #require(row.count == 3, "\(row)")
      let text = Self.link(row[0])
      do throws(URIError) {
        let uri = try URI(text)
        #expect(uri.linkDomain ?? "none" == row[1], "\(row)")
        #expect(uri.display() == row[2], "\(row)")
      } catch {
        #expect("refused: \(error.code.rawValue)" == row[1], "\(row): \(error)")
        #expect(row[2].isEmpty, "\(row)")
      }
    }
  }

  @Test func `links that browsers read differently are handled as the page says`() throws {
    let rows = try Self.rows(under: "Where browsers read a link differently")
    #expect(rows.count > 20)
    for row in rows {
      try #require(row.count == 3, "\(row)")
      #expect((try? URI(Self.link(row[0])))?.string ?? "refused" == row[2], "\(row)")
    }
  }
}

@Suite struct LinkPropertyTests {
  /// A component as JSON. It has few different characters, so that it often covers a link.
  private func component(_ random: inout SeededGenerator, exclude: Bool = false) -> String {
    func pattern() -> String {
      (0..<Int.random(in: 0...4, using: &random)).map { _ in
        ["a", "b", "/", "*", "?", "$(lower)"].randomElement(using: &random) ?? ""
      }
      .joined()
    }
    var members = [#""/": "/\#(pattern())""#]
    if Bool.random(using: &random) { members.append(##""#": "\##(pattern())""##) }
    if Bool.random(using: &random) { members.append(#""?": {"a": "\#(pattern())"}"#) }
    if Bool.random(using: &random) { members.append(#""caseSensitive": false"#) }
    if exclude { members.append(#""exclude": true"#) }
    return "{" + members.shuffled(using: &random).joined(separator: ", ") + "}"
  }

  private func link(_ random: inout SeededGenerator, path: String? = nil) throws -> URI {
    func text(_ most: Int) -> String {
      (0..<Int.random(in: 0...most, using: &random)).map { _ in
        ["a", "b", "A", "/"].randomElement(using: &random) ?? ""
      }.joined()
    }
    return try URI("https://example.com/\(path ?? text(4))?a=\(text(2))#\(text(2))")
  }

  private func isMatched(_ uri: URI, _ components: [String]) throws -> Bool {
    try appLinks(components.joined(separator: ",")).opens(uri)
  }

  @Test func `an excluded link never matches, whatever components follow`() throws {
    var random = SeededGenerator(seed: 5)
    var covered = 0
    for _ in 0..<1_500 {
      let exclusion = component(&random)
      let uri = try link(&random)
      // Without `exclude`, the same component says whether it covers the link.
      guard try isMatched(uri, [exclusion]) else { continue }
      covered += 1
      let excluding = exclusion.dropLast() + #", "exclude": true}"#
      let others = (0..<3).map { _ in component(&random) } + ["{}"]
      #expect(try !isMatched(uri, [String(excluding)] + others), "\(uri) by \(exclusion)")
    }
    #expect(covered > 50)
  }

  /// The path that browsers ask a server for, without its first slash (WHATWG URL, "path state").
  private func resolved(_ segments: [String]) -> String {
    var path: [String] = []
    for (place, segment) in segments.enumerated() {
      let dots = segment.lowercased().replacing("%2e", with: ".")
      if dots == ".." { _ = path.popLast() } else if dots != "." { path.append(segment) }
      if place == segments.count - 1, dots == "." || dots == ".." { path.append("") }
    }
    return path.joined(separator: "/")
  }

  @Test func `dot segments never bypass an exclusion`() throws {
    var random = SeededGenerator(seed: 9)
    var covered = 0
    for _ in 0..<3_000 {
      let segments = (0..<Int.random(in: 1...4, using: &random)).map { _ in
        ["a", "b", "A", "..", ".", "%2e", "%2E%2e", ".%2e"].randomElement(using: &random) ?? ""
      }
      let path = resolved(segments)
      guard path != segments.joined(separator: "/") else { continue }
      let seed = random.next()
      var (one, other) = (SeededGenerator(seed: seed), SeededGenerator(seed: seed))
      let (uri, straight) = try (link(&one, path: segments.joined(separator: "/")), link(&other, path: path))
      let exclusion = component(&random)
      guard try isMatched(straight, [exclusion]) else { continue }
      covered += 1
      let excluding = exclusion.dropLast() + #", "exclude": true}"#
      #expect(try !isMatched(uri, [String(excluding), "{}"]), "\(uri) by \(exclusion)")
    }
    #expect(covered > 50)
  }

  @Test func `exclusions alone match no link, and adding one never adds a match`() throws {
    var random = SeededGenerator(seed: 6)
    for _ in 0..<150 {
      let exclusions = (0..<3).map { _ in component(&random, exclude: true) }
      let rules = (0..<3).map { _ in component(&random) }
      let uri = try link(&random)
      #expect(try !isMatched(uri, exclusions))
      for place in 0...rules.count {
        var more = rules
        more.insert(exclusions[0], at: place)
        #expect(try !isMatched(uri, more) || isMatched(uri, rules), "\(uri) by \(more)")
      }
    }
  }

  @Test func `rules for other applications change no verdict, wherever they are in the file`() throws {
    var random = SeededGenerator(seed: 7)
    for _ in 0..<100 {
      let uri = try link(&random)
      func detail(_ id: String) -> String {
        let components = (0..<3).map { _ in component(&random, exclude: Bool.random(using: &random)) }
        return #"{"appIDs": ["\#(id)"], "components": [\#(components.joined(separator: ","))]}"#
      }
      func verdict(_ details: [String]) throws -> Bool {
        let json = #"{"applinks": {"details": [\#(details.joined(separator: ","))]}}"#
        return try AppSiteAssociation(json: Array(json.utf8)).opens(uri)
      }
      let own = [detail("org.example.Menu"), detail("org.example.Menu")]
      let alone = try verdict(own)
      for place in 0...2 {
        var details = own
        details.insert(detail("org.example.Other"), at: place)
        #expect(try verdict(details) == alone)
      }
    }
  }

  @Test func `the order in which patterns are added to a table does not matter`() throws {
    var random = SeededGenerator(seed: 8)
    let names = [
      "*.example.com", "example.com", "a.example.com", "*.a.example.com", "*.b.example.com", "b.example.com",
    ]
    let patterns = try names.map { try DomainPattern($0) }
    let hosts = [
      "example.com", "a.example.com", "x.a.example.com", "b.example.com", "x.y.b.example.com", "c.example.com",
    ]
    func answers(_ order: [Int]) -> [[String]] {
      var table = DomainTable<Int>()
      for index in order { table.insert(index, for: patterns[index]) }
      return hosts.map { table.matches(for: $0).map { "\($0.pattern) \($0.values)" } }
    }
    let expected = answers(Array(patterns.indices))
    for _ in 0..<100 { #expect(answers(patterns.indices.shuffled(using: &random)) == expected) }
  }
}
