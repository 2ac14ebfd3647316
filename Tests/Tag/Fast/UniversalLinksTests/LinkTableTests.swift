import Rig
import Testing
import UniversalLinks

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
