import TestKit
import Testing

/// Tags that no handler claims: the default application of the scheme opens the link, or the agent shows and copies the
/// content.
@Suite(.timeLimit(.minutes(2)), StopsAtEnd()) struct UnclaimedTagTests {
  /// Stores its arguments and its input in a file. Prints the name of the file to the agent's log.
  private static let recorder = """
    #!/bin/sh
    file=$(mktemp "$0.XXXXXX") && { printf '%s|' "$@"; cat; } > "$file" && echo "recorded $file" >&2
    """

  private func recorded(_ desktop: Desktop, by program: String = "/") async throws -> String {
    let line = try await desktop.agent.line { $0.hasPrefix("recorded /") && $0.contains(program) }
    return String(decoding: try readFile(String(line.dropFirst("recorded ".count))), as: UTF8.self)
  }

  @Test func `a link that no app opens is shown and copied`() async throws {
    let programs = try TemporaryDirectory()
    try programs.write(Self.recorder, to: "wl-copy", mode: 0o755)
    let desktop = try await Desktop(
      environment: ["PATH": "\(programs.path):/usr/bin:/bin", "WAYLAND_DISPLAY": "none"])
    let server = try await desktop.startWithServer()
    let link = "https://elsewhere.example.net/a?b=c"
    try await desktop.place(try Tag(1, uri: link))
    let shown = try await desktop.notification(on: server)
    #expect(shown.summary == "No app opens this link" && shown.body == "elsewhere.example.net/a?…")
    #expect(shown.actions == ["default", "Copy", "copy", "Copy", "dismiss", "Dismiss"])
    try await server.click(shown, action: "copy")
    #expect(try await recorded(desktop) == "--type|text/plain|" + link)
    try await desktop.agent.line(containing: "was handed to the clipboard")
  }

  @Test func `the browser receives only the link`() async throws {
    let desktop = try await Desktop(isSystems: false)
    let program = try desktop.installation.directory.write(Self.recorder, to: "browser", mode: 0o755)
    try desktop.installation.directory.write(
      "[Desktop Entry]\nType=Application\nName=Web\nExec=\(program) %u\nMimeType=x-scheme-handler/https;\n",
      to: "share/applications/web.desktop")
    try desktop.installation.directory.write(
      "[Default Applications]\nx-scheme-handler/https=web.desktop\n", to: "config/mimeapps.list")
    let server = try await desktop.startWithServer()
    // The browser is the alternative to a handler that is not trusted.
    try await desktop.place(try Tag(1))
    let question = try await desktop.notification(on: server)
    #expect(question.actions.suffix(4) == ["alternative", "Open in Web", "dismiss", "Dismiss"])
    try await server.click(question, action: "alternative")
    #expect(try await recorded(desktop) == "https://\(Tag.text(1))|")
    #expect(await desktop.app.count == 0)
    // No handler claims this link.
    try await desktop.place(try Tag(2, uri: "https://elsewhere.example.net/a"))
    let shown = try await desktop.notification(on: server)
    #expect(shown.summary == "Open in Web")
    // Opening the link in the browser did not answer the question.
    try await desktop.place(try Tag(3))
    #expect(try await desktop.notification(on: server).summary.hasSuffix("allow “Menu” to open them?"))
  }
}
