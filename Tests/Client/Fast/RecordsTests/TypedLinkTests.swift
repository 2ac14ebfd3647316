import Foundation
import NDEF
import Records
import Rig
import Routing
import Testing
import UniversalLinks

/// A link on a tag is the one that `resolve`, and so a tap, offers. Each row of `typed-links.jsonl` has what a person
/// types, and the link on the tag; null if it is refused.
@Suite struct TypedLinkTests {
  private static func rows() throws -> [[String?]] {
    let path = "\(repositoryRoot)/Tests/Client/Fast/RecordsTests/typed-links.jsonl"
    return try readFile(path).split(separator: 0x0A).map { try JSONDecoder().decode([String?].self, from: Data($0)) }
  }

  private static func message(_ draft: RecordDraft) -> NDEFMessage? {
    (try? draft.record()).map { NDEFMessage(records: [$0]) }
  }

  @Test func `a link that is written is the link that a tap offers`() throws {
    let rows = try Self.rows()
    #expect(rows.count >= 300)
    var wrong: [String] = []
    for row in rows {
      let typed: String = try #require(row.first ?? nil)
      let expected: String? = row.last ?? nil
      let message = Self.message(.link(typed))
      let offered = message.flatMap { Registry().route(for: $0).uri?.string }
      let poster = Self.message(.smartPoster(link: typed, title: nil, language: "en"))
      let posters = poster.flatMap { Registry().route(for: $0).uri?.string }
      let resolved = Registry().route(for: NDEFMessage.uri(typed)).uri?.string
      // The tag has the link in one spelling, and `resolve` agrees, unless a host was completed.
      let isSame = message == expected.map { NDEFMessage.uri($0) } && offered == expected
      let isCompleted = !typed.contains(/^\s*[A-Za-z][A-Za-z0-9+.\-]*:/)
      let agrees = resolved == expected || (resolved == nil && isCompleted) || Self.isHostWithPort(typed)
      if !isSame || posters != expected || !agrees {
        wrong.append("\(typed.debugDescription): \(offered ?? "refused")")
      }
    }
    #expect(wrong.isEmpty, "\(wrong.joined(separator: "\n"))")
  }

  /// `resolve` takes the host for a scheme.
  private static func isHostWithPort(_ text: String) -> Bool {
    text.contains(/^\s*([a-z0-9\-]+\.[a-z0-9.\-]+|localhost):[0-9]/)
  }
}
