import NDEF
import TestRig
import Testing

/// The agent shows the text of a tag as plain text, followed by the target of the link.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct HostileTextTests {
  private static let link = "https://menu.example.com/a?b=1&c=%3Cd%3E"
  /// The end of each notification's body, independent of the title.
  private static let shownLink = " · menu.example.com/a?…"

  /// Places a Smart Poster with this title.
  ///
  /// - Returns: its notification.
  private func shown(
    _ title: String, _ desktop: Desktop, _ server: NotificationServerStandIn
  ) async throws -> NotificationServerStandIn.Shown {
    let poster = try SmartPosterRecord(uri: Self.link, titles: [TextRecord(title, language: "en")]).record()
    let file = try desktop.installation.directory.write(NDEFMessage(records: [poster]).encoded(), to: "poster.ndef")
    try await desktop.installation.simulate("tap --ndef \(file)")
    return try await desktop.notification(on: server)
  }

  @Test func `markup in a title is escaped, and control characters and schemes are removed`() async throws {
    let (desktop, server) = try await Desktop.started()
    for (title, expected) in [
      (
        "<b>Free</b> <img src=\"x\"> & <a href='https://evil.example'>",
        "&lt;b&gt;Free&lt;/b&gt; &lt;img src=&quot;x&quot;&gt; &amp; &lt;a href="
      ),
      ("one\ntwo\u{7}\u{1B}[31mthree\u{0}", "one two [31mthree"),
      ("\u{202E}moc.live\u{202C} \u{2066}a\u{2069}\u{200B}b\u{FEFF}", "moc.live ab"),
      ("go to https://evil.example/ or hthttps://tps://evil.example", "go to evil.example/ or "),
    ] {
      let shown = try await shown(title, desktop, server)
      #expect(shown.summary == "Open in Menu")
      #expect(shown.body.hasPrefix(expected) && shown.body.hasSuffix(Self.shownLink), "\(shown.body)")
      #expect(!shown.body.contains("://"))
      #expect(!shown.body.unicodeScalars.contains { "<>\"".unicodeScalars.contains($0) })
      #expect(Self.harmless(shown.body), "\(shown.body.debugDescription)")
      #expect(shown.actions.allSatisfy(Self.harmless))
    }
  }

  @Test func `a long title does not hide the link`() async throws {
    let desktop = try await Desktop()
    // A server without markup receives the text unescaped.
    let server = try await desktop.startWithServer(capabilities: ["actions", "body"])
    let shown = try await shown(String(repeating: "<long> ", count: 60), desktop, server)
    #expect(shown.body.hasPrefix("<long> <long>") && shown.body.hasSuffix(Self.shownLink))
    #expect(shown.body.count <= Self.shownLink.count + 60)
  }

  /// Whether the text has no control, format, separator or similar characters.
  private static func harmless(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate: false
      default: true
      }
    }
  }
}
