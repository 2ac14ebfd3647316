import Rig
import Testing

/// The example on the pages compiles, and prints the output that the pages show.
@Suite struct DocumentationExampleTests {
  private static func lines(of path: String) throws -> [String] {
    String(decoding: try readFile("\(repositoryRoot)/\(path)"), as: UTF8.self).split(
      separator: "\n", omittingEmptySubsequences: false
    ).map { String($0) }
  }

  /// The body of `documentationExample`, read from its file.
  private static func example() throws -> [String] {
    try lines(of: "Tests/Tag/Fast/UniversalLinksTests/DocumentationExample.swift").drop { !$0.hasPrefix("func ") }
      .dropFirst()
      .prefix { $0 != "}" }.map { String($0.dropFirst(2)) }
  }

  @Test(arguments: ["docs/universal-links.md", "Sources/Tag/UniversalLinks/UniversalLinks.docc/UniversalLinks.md"])
  func `the page contains the example`(page: String) throws {
    let block = try Self.lines(of: page).drop { $0 != "```swift" }.dropFirst().prefix { $0 != "```" }
    #expect(Array(block) == ["import UniversalLinks", ""] + (try Self.example()))
  }

  @Test func `the example prints what its comments promise`() throws {
    var printed: [String] = []
    try documentationExample { printed.append("\($0)") }
    // The page shows the output in a comment after the call, or in comment lines below the loop or the switch.
    let promised = try Self.example().enumerated().flatMap { index, line -> [String] in
      if line.hasPrefix("print(") { return line.split(separator: "  // ").suffix(1).map { String($0) } }
      guard line.hasPrefix("// "), index > 0 else { return [] }
      return try Self.example()[..<index].last { !$0.hasPrefix("// ") } == "}" ? [String(line.dropFirst(3))] : []
    }
    #expect(printed == promised)
  }
}
