import Rig
import Testing

/// The pages' example is code that compiles, and prints what they say.
@Suite struct DocumentationExampleTests {
  private static let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")

  private static func lines(of path: String) throws -> [String] {
    String(decoding: try readFile("\(root)/\(path)"), as: UTF8.self).split(
      separator: "\n", omittingEmptySubsequences: false
    ).map { String($0) }
  }

  /// The body of `documentationExample`, as it stands in its file.
  private static func example() throws -> [String] {
    try lines(of: "Tests/UniversalLinksTests/DocumentationExample.swift").drop { !$0.hasPrefix("func ") }.dropFirst()
      .prefix { $0 != "}" }.map { String($0.dropFirst(2)) }
  }

  @Test(arguments: ["docs/universal-links.md", "Sources/UniversalLinks/UniversalLinks.docc/UniversalLinks.md"])
  func thePageHasTheExample(page: String) throws {
    let block = try Self.lines(of: page).drop { $0 != "```swift" }.dropFirst().prefix { $0 != "```" }
    #expect(Array(block) == ["import UniversalLinks", ""] + (try Self.example()))
  }

  @Test func itPrintsWhatItSays() throws {
    var printed: [String] = []
    try documentationExample { printed.append("\($0)") }
    // What it prints stands behind the call, or in lines of comment below the loop or the choice.
    let promised = try Self.example().enumerated().flatMap { index, line -> [String] in
      if line.hasPrefix("print(") { return line.split(separator: "  // ").suffix(1).map { String($0) } }
      guard line.hasPrefix("// "), index > 0 else { return [] }
      return try Self.example()[..<index].last { !$0.hasPrefix("// ") } == "}" ? [String(line.dropFirst(3))] : []
    }
    #expect(printed == promised)
  }
}
