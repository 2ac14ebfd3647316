import Rig
import Testing

@testable import UniversalLinks

/// Matching takes at most the pattern's length times the text's length. These tests count steps instead of time.
@Suite struct MatchingStepsTests {
  /// The limit of position set words that one atom of a pattern examines, including both ends.
  private static let stepsPerWord = 6

  private func steps(_ pattern: LinkPattern, on text: String) -> Int {
    var steps = MatchingSteps()
    _ = LinkPatternSubject(text, pattern.comparison).isCovered(by: pattern, steps: &steps)
    return steps.count
  }

  /// The number of characters that a pattern's atoms examine for each character of a text with more than 64 different
  /// characters.
  private static func lookedAt(_ pattern: LinkPattern) -> Int {
    func count(_ atom: LinkPattern.Atom) -> Int {
      switch atom {
      case .scalar(let scalar): scalar.value < 0x80 ? 0 : 1
      case .oneOf: 1
      case .code: 5
      case .anyOne, .anyMany: 0
      case .alternatives(let alternatives): alternatives.joined().reduce(0) { $0 + count($1) }
      }
    }
    return pattern.atoms.reduce(0) { $0 + count($1) }
  }

  private func expectLinear(_ pattern: LinkPattern, on text: String, _ location: SourceLocation = #_sourceLocation) {
    let words = (text.utf8.count + 64) / 64
    // A code is searched at each character of the text. So is each character that is not one of the first 64 different
    // characters.
    let bound = Self.stepsPerWord * (pattern.cost + 1) * words + Self.lookedAt(pattern) * (text.utf8.count + 1)
    let steps = steps(pattern, on: text)
    #expect(steps <= bound, "\(steps) of \(bound)", sourceLocation: location)
  }

  /// Patterns and texts that take backtracking matchers exponential or cubic time.
  private static let hostile: [(pattern: String, text: String)] = [
    (String(repeating: "*a", count: 150) + "b", String(repeating: "a", count: 300)),
    (String(repeating: "a*", count: 150) + "b", String(repeating: "a", count: 300)),
    (String(repeating: "*?", count: 150) + "b", String(repeating: "a", count: 300)),
    (String(repeating: "*", count: 150) + "b", String(repeating: "a", count: 300)),
    (String(repeating: "?*", count: 150), String(repeating: "a", count: 499)),
    (String(repeating: "*$(alnum)", count: 100) + "-", String(repeating: "a", count: 300)),
    (String(repeating: "*$(lang)", count: 100) + "-", String(repeating: "en", count: 200)),
    (String(repeating: "*$(region)*$(lang)", count: 100) + "-", String(repeating: "DEde", count: 250)),
    (String(repeating: "$(v)", count: 100) + "b", String(repeating: "a", count: 300)),
    (String(repeating: "*$(v)*", count: 100) + "b", String(repeating: "a", count: 300)),
    (String(repeating: "$(empty)", count: 50) + "b", String(repeating: "a", count: 300)),
    // The text has more different characters than there are position sets.
    (
      String(repeating: "*$(all)", count: 4),
      String(String.UnicodeScalarView((0x400..<0x800).compactMap(Unicode.Scalar.init)))
    ),
  ]

  @Test(arguments: hostile.indices) func `hostile patterns take linear steps`(index: Int) throws {
    let (pattern, text) = Self.hostile[index]
    var variables = SubstitutionVariables()
    try variables.define("v", as: ["a", "aa", "*", "a*a", "?", "", "*a*"])
    try variables.define("empty", as: Array(repeating: "", count: 300))
    try variables.define("all", as: (0x500..<0x600).compactMap(Unicode.Scalar.init).map { String($0) })
    for comparison in [
      LinkPattern.Comparison(), LinkPattern.Comparison(isCaseSensitive: false, isPercentEncoded: false),
    ] {
      expectLinear(try LinkPattern(pattern, comparison: comparison, variables: variables), on: text)
    }
  }

  @Test func `random patterns take linear steps`() throws {
    var random = SeededGenerator(seed: 23)
    var variables = SubstitutionVariables()
    try variables.define("v", as: ["ab*", "?b", "", "*"])
    let pieces = ["a", "b", "*", "?", "$(v)", "$(alpha)", "$(lang)", "%41", "é"]
    for _ in 0..<500 {
      func text(_ pieces: [String], _ most: Int) -> String {
        (0..<Int.random(in: 0...most, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
      }
      expectLinear(
        try LinkPattern(text(pieces, 12), variables: variables), on: text(["a", "b", "en", "%41", "é"], 200))
    }
  }

  /// Twice the pattern, or twice the text, takes at most twice the steps and a constant.
  @Test func `doubling the pattern or the text at most doubles the steps`() throws {
    func pattern(_ count: Int) throws -> LinkPattern { try LinkPattern(String(repeating: "*a", count: count) + "b") }
    let text = String(repeating: "a", count: 4_000)
    let once = try steps(pattern(100), on: text)
    #expect(try steps(pattern(200), on: text) <= 2 * once + 1_000)
    #expect(try steps(pattern(100), on: text + text) <= 2 * once + 1_000)
    #expect(once > 100 * 4_000 / 64, "the steps are not counted")
  }

  private static let hostileComponent =
    #"{"/": "\#(String(repeating: "*a", count: 60))b", "?": {"a": "*a*a*a*b", "b": "*$(lang)*c"}}"#

  private static func file(_ components: [String]) throws -> AppSiteAssociation {
    try appLinks(components.joined(separator: ","), for: "x")
  }

  private static func longLink() throws -> URI {
    try URI(
      "https://example.com/" + String(repeating: "a", count: 3_000) + "?a=" + String(repeating: "a", count: 2_000)
        + "&b=" + String(repeating: "en", count: 300))
  }

  @Test func `a whole file takes a bounded number of steps`() throws {
    let association = try Self.file(Array(repeating: Self.hostileComponent, count: 40))
    #expect(association.cost <= AppSiteAssociation.maximumCost + 2)
    let uri = try Self.longLink()
    var matching = LinkMatching(uri, maximumSteps: .max)
    #expect(matching.verdict(of: association) { $0 == "x" } == .unmatched)
    // The path alone takes 40 rules of 120 atoms, each over sets of 47 words. No atom can be skipped.
    #expect(matching.steps >= 40 * 120 * 47, "the steps are not counted")
    #expect(matching.steps <= 8 * association.cost * (uri.string.utf8.count / 64 + 1) + 8 * uri.string.utf8.count)
  }

  @Test func `a verdict that takes too many steps is undecided, and never a match`() throws {
    let uri = try Self.longLink()
    for end in [#"{}"#, #"{"exclude": true}"#] {
      let association = try Self.file(Array(repeating: Self.hostileComponent, count: 40) + [end])
      var free = LinkMatching(uri, maximumSteps: .max)
      let verdict = free.verdict(of: association) { $0 == "x" }
      #expect(
        verdict
          == (end == "{}" ? .matched(association.details[0].rules[40]) : .excluded(association.details[0].rules[40])))
      for part in [1, 20, 39] {
        var matching = LinkMatching(uri, maximumSteps: free.steps / 40 * part)
        #expect(matching.verdict(of: association) { $0 == "x" } == .undecided)
        #expect(matching.steps <= free.steps)
      }
      var enough = LinkMatching(uri, maximumSteps: 4 * free.steps)
      #expect(enough.verdict(of: association) { $0 == "x" } == verdict)
    }
  }

  @Test func `a file that takes too many steps leaves some for later files`() throws {
    let hostile = try Self.file(Array(repeating: Self.hostileComponent, count: 40))
    let plain = try Self.file([#"{"/": "/a*"}"#])
    let uri = try Self.longLink()
    var matching = LinkMatching(uri, maximumSteps: 100_000)
    for _ in 0..<3 { #expect(matching.verdict(of: hostile) { $0 == "x" } == .undecided) }
    #expect(matching.verdict(of: plain) { $0 == "x" } == .matched(plain.details[0].rules[0]))
    for _ in 0..<100 { #expect(matching.verdict(of: hostile) { $0 == "x" } == .undecided) }
    #expect(matching.verdict(of: plain) { $0 == "x" } == .undecided)
    #expect(matching.steps < 110_000, "matching continued after the steps ran out")
  }
}
