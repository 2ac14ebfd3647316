import Foundation
import TestKit
import Testing

/// The commands of README.md and of the pages for users, pasted as they are printed, with the real daemon and the real
/// agent.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct PageTests {
  /// The pages and sections with a test of their own, which also checks what the commands do.
  private static let others: [String: (test: String, sections: Set<String>?)] = [
    "docs/handlers.md": ("HandlerPageTests", ["In Python", "In C", "In Swift", "Install and tap the app"]),
    "docs/privacy.md": ("PrivacyPageTests", ["Deleting it all"]),
    "docs/recipes.md": ("RecipeTests", nil),
  ]

  /// The blocks of a page that a test can paste and no other test pastes.
  fileprivate static func blocks(of page: DocumentationPage) -> [DocumentationPage.Block] {
    page.blocks.filter { block in
      if case .text = block.contents { return false }
      guard block.reason == nil else { return false }
      guard let other = others[page.name] else { return true }
      return other.sections.map { !$0.contains(block.section) } ?? false
    }
  }

  @Test(arguments: [
    "    tagroute rules", "```bash\ntagroute rules\n```", "```sh not run:\ntagroute rules\n```",
    "```sh skipped\ntagroute rules\n```", "```sh\ntagroute rules", "1. ```sh\n   tagroute rules\n   ```",
    "1. Run\n\n       tagroute rules", "## A jukebox\n## A jukebox",
  ]) func `a block that no test would paste is an error`(text: String) {
    #expect(throws: RigError.self) { try DocumentationPage("page", "# Page\n\n\(text)\n") }
  }

  @Test func `a block has a section, a path and a reason`() throws {
    let page = try DocumentationPage(
      "page",
      "## A\n\n1. Run\n\n   ```sh not run: needs root\n   a\n\n     b\n   ```\n\nWrite `~/x.conf`:\n```ini\n[C]\n```\n")
    #expect(
      page.blocks == [
        .init(section: "A", kind: "sh", contents: .commands("a\n\n  b\n"), reason: "needs root"),
        .init(section: "A", kind: "ini", contents: .file("[C]\n", path: "x.conf"), reason: nil),
      ])
  }

  @Test func `every block of commands is pasted, or says why not`() throws {
    let blocks = try pageNames().flatMap { name in
      try DocumentationPage(name).blocks.filter { $0.kind == "sh" }.map { (name, $0) }
    }
    let reasons = blocks.compactMap { name, block in block.reason.map { "\(name), “\(block.section)”: \($0)" } }
    for reason in reasons { print("not run: \(reason)") }
    print("pages: \(blocks.count - reasons.count) blocks of commands pasted, \(reasons.count) not run")
    #expect(reasons.count < blocks.count / 2)
  }

  @Test(arguments: try pageNames().filter { try !PageTests.blocks(of: DocumentationPage($0)).isEmpty })
  func `the commands of a page work as they are printed`(name: String) async throws {
    let page = try DocumentationPage(name)
    let starter = "`the commands of a page work as they are printed`_\(name.replacing("/", with: "-"))"
    let stage = try await PageStage(page, starter: starter)
    try await stage.paste(Self.blocks(of: page))
  }
}

/// README.md and the pages for users.
private func pageNames() throws -> [String] {
  let names = try FileManager.default.contentsOfDirectory(atPath: "\(repositoryRoot)/docs").sorted()
  return names.filter { $0.hasSuffix(".md") }.map { "docs/\($0)" } + ["README.md"]
}
