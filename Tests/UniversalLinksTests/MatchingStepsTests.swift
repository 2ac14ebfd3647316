import SeededRandom
import Testing

@testable import UniversalLinks

/// That matching takes no more than the pattern's length times the text's, in steps rather than in time.
@Suite struct MatchingStepsTests {
  /// Words of sets that one atom of a pattern looks at for one character of the text, and the two ends.
  private static let stepsPerCharacter = 6

  private func steps(_ pattern: LinkPattern, on text: String) -> Int {
    var steps = 0
    _ = LinkPatternSubject(text, pattern.comparison).isCovered(by: pattern, steps: &steps)
    return steps
  }

  private func expectLinear(_ pattern: LinkPattern, on text: String, _ location: SourceLocation = #_sourceLocation) {
    let bound = Self.stepsPerCharacter * (pattern.cost + 1) * (text.utf8.count + 1)
    let steps = steps(pattern, on: text)
    #expect(steps <= bound, "\(steps) of \(bound)", sourceLocation: location)
  }

  /// What takes backtracking matchers exponential or cubic time.
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
    // More different characters than there are sets for.
    (
      String(repeating: "*$(all)", count: 4),
      String(String.UnicodeScalarView((0x400..<0x800).compactMap(Unicode.Scalar.init)))
    ),
  ]

  @Test(arguments: hostile.indices)
  func hostilePatterns(index: Int) throws {
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

  @Test func anyPattern() throws {
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

  /// Twice the pattern, or twice the text, is at most twice the steps and a constant.
  @Test func stepsGrowWithEachSideAlone() throws {
    func pattern(_ count: Int) throws -> LinkPattern { try LinkPattern(String(repeating: "*a", count: count) + "b") }
    let text = String(repeating: "a", count: 4_000)
    let once = try steps(pattern(100), on: text)
    #expect(try steps(pattern(200), on: text) <= 2 * once + 1_000)
    #expect(try steps(pattern(100), on: text + text) <= 2 * once + 1_000)
    #expect(once > 100 * 4_000 / 64, "the steps are not counted")
  }

  @Test func aWholeFile() throws {
    let component = #"{"/": "\#(String(repeating: "*a", count: 60))b", "?": {"a": "*a*a*a*b", "b": "*$(lang)*c"}}"#
    let json =
      #"{"applinks": {"details": [{"appIDs": ["x"], "components": ["#
      + Array(repeating: component, count: 40).joined(separator: ",") + "]}]}}"
    let association = try AppSiteAssociation(json: Array(json.utf8))
    let cost = association.details.flatMap(\.rules).reduce(0) { $0 + $1.cost }
    #expect(cost <= AppSiteAssociation.maximumCost)
    let uri = try URI(
      "https://example.com/" + String(repeating: "a", count: 3_000) + "?a=" + String(repeating: "a", count: 2_000)
        + "&b="
        + String(repeating: "en", count: 300))
    var steps = 0
    #expect(association.verdict(on: uri, steps: &steps) { $0 == "x" } == .unmatched)
    #expect(steps <= Self.stepsPerCharacter * cost * uri.string.utf8.count)
    #expect(steps > 0)
  }
}
