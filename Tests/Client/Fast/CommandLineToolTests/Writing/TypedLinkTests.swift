import Foundation
import NDEF
import Rig
import Routing
import Testing
import UniversalLinks

@testable import CommandLineTool

/// `write` writes what `resolve`, and so a tap, offers. Each row of `typed-links.jsonl` has what a person types, and the
/// link on the tag; null if it is refused.
@Suite struct TypedLinkTests {
  private static func rows() throws -> [[String?]] {
    let path = "\(repositoryRoot)/Tests/Client/Fast/CommandLineToolTests/Writing/typed-links.jsonl"
    return try readFile(path).split(separator: 0x0A).map { try JSONDecoder().decode([String?].self, from: Data($0)) }
  }

  private static func written(_ option: String, _ text: String) async throws -> [UInt8]? {
    try? await MessageToWrite.build(Command.write.parse(["\(option)=\(text)"])).bytes
  }

  @Test func `a link that is written is the link that a tap offers`() async throws {
    let rows = try Self.rows()
    #expect(rows.count >= 300)
    var wrong: [String] = []
    for row in rows {
      let typed: String = try #require(row.first ?? nil)
      let expected: String? = row.last ?? nil
      let bytes = try await Self.written("--uri", typed)
      let offered = try bytes.flatMap { try Registry().route(for: NDEFMessage(decoding: $0)).uri?.string }
      let poster = try await Self.written("--smart-poster", typed)
      let posters = try poster.flatMap { try Registry().route(for: NDEFMessage(decoding: $0)).uri?.string }
      let resolved = Registry().route(for: NDEFMessage.uri(typed)).uri?.string
      // The tag has the link in one spelling, and `resolve` agrees, unless a host was completed.
      let isSame = try bytes == expected.map { try NDEFMessage.uri($0).encoded() } && offered == expected
      let isCompleted = !typed.contains(/^\s*[A-Za-z][A-Za-z0-9+.\-]*:/)
      let agrees = resolved == expected || (resolved == nil && isCompleted) || TypedLinkTests.isHostWithPort(typed)
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

  @Test(arguments: [
    ["--text", ""], ["--text", " \n"], ["--text", "\u{200B}"], ["--text", "\u{2060}\u{FEFF} \u{3164}\u{2800}"],
    ["--smart-poster", "tel:1", "--title", "\u{200B}"], ["--mime", "inode/directory", "/dev/null"],
    ["--mime", "x-scheme-handler/https", "/dev/null"], ["--mime", "text/a#b", "/dev/null"],
    ["--external-text", "example.com:a:b", "x"], ["--external-text", "example.com:a=b", "x"],
  ])
  func `what no tap would offer is refused`(words: [String]) async {
    await #expect(throws: Failure.self) { try await MessageToWrite.build(Command.write.parse(words)) }
  }

  @Test func `the output names links that differ from what was typed`() async throws {
    let words = ["--uri", "example.com/a b", "--uri", "tel:1", "--smart-poster", " tel:2"]
    #expect(
      try await MessageToWrite.build(Command.write.parse(words)).respelled == ["https://example.com/a%20b", "tel:2"])
  }

  @Test func `the implied prefix of external types is not written`() async throws {
    let words = ["--external-text", "urn:nfc:ext:Example.com:a", "x"]
    let expected = try NDEFMessage(records: [.external("example.com:a", payload: [0x78])]).encoded()
    #expect(try await MessageToWrite.build(Command.write.parse(words)).bytes == expected)
  }
}
