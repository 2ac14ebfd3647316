import Foundation
import Names
import TagrouteClient
import TestKit
import Testing

@testable import IntegrationTests

/// The table of links that people type (`TypedLinkTests`), on the real commands, daemon, agent and libnfc.
@Suite(.timeLimit(.minutes(60)), StopsAtEnd()) struct TypedLinkCommandTests {
  @Test func `write writes what resolve and a tap offer`() async throws {
    let path = "\(repositoryRoot)/Tests/Client/Fast/RecordsTests/typed-links.jsonl"
    let lines = try readFile(path).split(separator: 0x0A)
    let rows = try lines.map { try JSONDecoder().decode([String?].self, from: Data($0)) }
    let (desktop, polkit) = try await Desktop.scanning()
    defer { withExtendedLifetime(polkit) {} }
    try await desktop.place(try Tag(1, type: 4))
    var links: [String] = []
    for row in rows {
      let typed = try #require(row.first ?? nil)
      // No argument of a program has such a character.
      if typed.contains("\0") { continue }
      let resolution = try await desktop.installation.tagroute(["resolve", "--json", "--", typed])
      let offered = try? resolution.json() as? [String: Any]
      let isOffered = offered != nil && offered?["kind"] as? String != "refused"
      guard let expected = row.last ?? nil else {
        let refused = try await desktop.installation.tagroute(["write", "--uri=\(typed)"])
        #expect(refused.status == .exited(Names.ExitCode.usage), "\(typed): \(refused.log)")
        #expect(!isOffered || Self.isHostWithPort(typed), "\(typed): \(resolution.log)")
        continue
      }
      // `resolve` completes no host.
      let isCompleted = !typed.contains(/^\s*[A-Za-z][A-Za-z0-9+.\-]*:/)
      let uri = isOffered ? offered?["uri"] as? String : nil
      #expect(
        uri == expected || (uri == nil && isCompleted) || Self.isHostWithPort(typed), "\(typed): \(resolution.log)")
      links.append(typed)
      // The tag has room for 254 bytes.
      guard links.joined().utf8.count > 100 || row == rows.last else { continue }
      try await expectWritten(links, rows, on: desktop)
      links = []
    }
    try await desktop.status(\.scanning)
  }

  /// `resolve` takes the host for a scheme.
  private static func isHostWithPort(_ text: String) -> Bool {
    text.contains(/^\s*([a-z0-9\-]+\.[a-z0-9.\-]+|localhost):[0-9]/)
  }

  private func expectWritten(_ links: [String], _ rows: [[String?]], on desktop: Desktop) async throws {
    let written = try await desktop.installation.tagroute(["write"] + links.map { "--uri=\($0)" })
    #expect(written.status == .exited(0), "\(links): \(written.log)")
    let records = try await desktop.installation.object("read")["records"] as? [[String: Any]]
    for (link, record) in zip(links, try #require(records)) {
      let expected = rows.first { $0.first == link }?.last ?? nil
      let uri = try #require(record["uri"] as? String)
      #expect(uri == expected, "\(link)")
      let resolution = try await desktop.installation.object("resolve", uri)
      #expect(resolution["uri"] as? String == uri && resolution["kind"] as? String != "refused", "\(link)")
    }
    #expect(records?.count == links.count)
  }
}
