import Glibc
import TestKit
import Testing

/// Tags that open without a click, with the real daemon and the real agent.
@Suite(.timeLimit(.minutes(3)), StopsAtEnd()) struct AlwaysTests {
  private static let file = "config/tagroute/rules.d/always.conf"

  @Test func `a tag opens at once until it is rewritten, or until the user takes that back`() async throws {
    let (desktop, server) = try await Desktop.started()
    let agent = try await desktop.agent
    let path = desktop.installation.directory.file(Self.file)
    let tag = try Tag(1)
    try await desktop.place(tag)
    try await server.click(desktop.notification(on: server), action: "always")
    #expect(try await desktop.handed().message == tag.message)
    try await agent.line(containing: "opens without a click from now on")
    let text = String(decoding: try readFile(path), as: UTF8.self)
    #expect(text.hasPrefix("[Rule Always: 04-00-00-00-00-00-01]\nUID=04-00-00-00-00-00-01\nMessage=sha256:"))
    #expect(text.contains("\nHandler=\(HandlerStandIn.desktopID)\n"))
    var information = stat()
    #expect(stat(path, &information) == 0 && information.st_mode & 0o777 == 0o600)

    try await desktop.remove()
    try await desktop.place(tag)
    #expect(try await desktop.handed().message == tag.message)
    let opened = try await desktop.notification(on: server)
    #expect(opened.summary == "Opened in Menu")

    try await desktop.remove()
    try await desktop.place(Tag(tag, message: try Tag(2).message))
    let asked = try await desktop.notification(on: server)
    #expect(asked.summary == "Open in Menu" && asked.body == Tag.text(2))

    try await server.click(opened, action: "ask-next-time")
    try await agent.line(containing: "asks from now on")
    #expect(try readFile(path).isEmpty)
    try await desktop.remove()
    try await desktop.place(tag)
    #expect(try await desktop.notification(on: server).summary == "Open in Menu")
  }

  @Test func `another entry with the id of the app gets nothing without a click`() async throws {
    let (desktop, server) = try await Desktop.started()
    let tag = try Tag(1)
    try await desktop.place(tag)
    try await server.click(desktop.notification(on: server), action: "always")
    _ = try await desktop.handed()
    try await desktop.agent.line(containing: "opens without a click from now on")
    try await desktop.remove()
    // A program of the user has written it, and the agent reads it when it starts.
    try desktop.installation.directory.write(
      HandlerStandIn.desktopEntry, to: "home/share/applications/\(HandlerStandIn.desktopID)")
    _ = try await desktop.agent.exit(after: SIGTERM)
    try await desktop.installation.startAgent()
    try await desktop.agent.line(containing: Desktop.registered)
    try await desktop.place(tag)
    let asked = try await desktop.notification(on: server)
    #expect(asked.body.contains(Tag.text(1)) && !asked.summary.hasPrefix("Opened"), "\(asked.summary)")
    #expect(await desktop.app.count == 1)
  }

  @Test func `rules add writes a rule for a UID, and for the tag on the reader`() async throws {
    let desktop = try await Desktop()
    _ = try await desktop.startPolkit()
    let server = try await desktop.startWithServer()
    let added = desktop.installation.directory.file("config/tagroute/rules.d/added.conf")
    #expect(
      try await desktop.installation.output(
        "rules", "add", "lamp", "--uid", "04-00-00-00-00-00-01", "--no-ask", "--run", "/bin/true", "--", "-x", "a;b")
        == "lamp: \(added):1\n")
    try await desktop.agent.line(containing: "rules for taps in force: 1")
    try await desktop.place(try Tag(1))
    #expect(try await desktop.notification(on: server).summary == "Started “lamp”")
    try await desktop.remove()
    let waiting = try await desktop.installation.start(
      "tagroute", ["rules", "add", "menu", "--wait", "--contents", "--open", "default"])
    // The sheet of the session.
    _ = try await desktop.notification(on: server)
    try await desktop.place(try Tag(2))
    #expect(try await waiting.exit() == .exited(0))
    let text = String(decoding: try readFile(added), as: UTF8.self)
    #expect(text.contains("Run=/bin/true;-x;a\\;b;\nAsk=no\n"))
    #expect(text.contains("[Rule menu]\nUID=04-00-00-00-00-00-02\nMessage=sha256:"))
    for wrong in [["x"], ["x", "--uid", "04-A2-19-5A"], ["x", "--uid", "04-A2-19-5A", "--show", "--no-ask"]] {
      #expect(try await desktop.installation.tagroute(["rules", "add"] + wrong).status == .exited(64))
    }
  }
}
