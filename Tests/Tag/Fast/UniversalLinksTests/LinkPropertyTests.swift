import Rig
import Testing
import UniversalLinks

/// Properties that hold for every file and every link.
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
