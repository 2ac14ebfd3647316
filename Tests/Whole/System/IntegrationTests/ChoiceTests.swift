import Foundation
import TestKit
import Testing

/// How the user chooses the app for a link if no app is trusted or several claim it. All programs are real, from the
/// tag to the app.
@Suite(.timeLimit(.minutes(2)), StopsAtEnd()) struct ChoiceTests {
  private static let question = "menu.example.com links: allow “Menu” to open them?"

  private func resolve(_ desktop: Desktop) async throws -> [String: Any] {
    try await desktop.installation.object("resolve", "https://menu.example.com/table/1")
  }

  private func handler(_ desktop: Desktop, _ id: String = HandlerStandIn.desktopID) async throws -> [String: Any] {
    let handlers = try #require(try await desktop.installation.json("handlers") as? [[String: Any]])
    return try #require(handlers.first { $0["id"] as? String == id })
  }

  private func restart(_ desktop: Desktop) async throws {
    try await desktop.agent.exit(after: SIGTERM)
    try await desktop.installation.startAgent()
    try await desktop.agent.line(containing: Desktop.registered)
  }

  /// Installs another app for the same domain, among the user's own apps.
  private func installOther(_ desktop: Desktop) throws {
    try desktop.installation.directory.write(
      "[Desktop Entry]\nType=Application\nName=Other\nExec=/bin/true %u\nImplements=org.tagroute.Handler1;\n"
        + "[org.tagroute.Handler1]\nDomains=menu.example.com;\n", to: "home/share/applications/a.Other.desktop")
  }

  @Test func `the first tap asks for permission and the next one offers the app directly`() async throws {
    let (desktop, server) = try await Desktop.started(isSystems: false)
    try await desktop.place(try Tag(1))
    let first = try await desktop.notification(on: server)
    #expect(first.summary == Self.question)
    #expect(first.body == Tag.text(1))
    #expect(first.actions == ["default", "Ask again", "allow", "Allow and Open", "dismiss", "Dismiss"])
    #expect(await desktop.app.count == 0)
    try await server.click(first, action: "allow")
    #expect(try await desktop.handed().message == (try Tag(1).message))

    try await desktop.place(try Tag(2))
    let second = try await desktop.notification(on: server)
    #expect(second.summary == "Open in Menu")
    try await server.click(second)
    _ = try await desktop.handed()
    #expect(try await handler(desktop)["allowed"] as? [String] == ["menu.example.com"])
    #expect(try await handler(desktop)["origin"] as? String == "user")

    try await restart(desktop)
    try await desktop.place(try Tag(3))
    #expect(try await desktop.notification(on: server).summary == "Open in Menu")
    // An app that is installed later does not take over the links.
    try installOther(desktop)
    _ = try await desktop.installation.tagroute("handlers", "--check")
    #expect(try await resolve(desktop)["handler"] as? String == HandlerStandIn.desktopID)
    #expect(try await resolve(desktop)["candidates"] as? [String] == [HandlerStandIn.desktopID])
    // A desktop entry that starts a different program is a different app, and needs a new permission.
    try desktop.installation.directory.write(
      HandlerStandIn.desktopEntry.replacingOccurrences(of: "/bin/true", with: "/bin/false"),
      to: "home/share/applications/\(HandlerStandIn.desktopID)")
    _ = try await desktop.installation.tagroute("handlers", "--check")
    #expect(try await resolve(desktop)["trusted"] as? Bool == false)
    try await desktop.place(try Tag(4))
    #expect(try await desktop.notification(on: server).summary == Self.question)
  }

  @Test func `a choice among several apps is remembered and can be changed, blocked and forgotten`() async throws {
    let desktop = try await Desktop()
    try installOther(desktop)
    let server = try await desktop.startWithServer()
    try await desktop.place(try Tag(1))
    let shown = try await desktop.notification(on: server)
    #expect(shown.summary == "menu.example.com links: which app opens them?")
    _ = try await desktop.installation.output("handlers", "forget", "a.Other")
    let menu = try #require(shown.actions.firstIndex(of: "Menu"))
    try await server.click(shown, action: shown.actions[menu - 1])
    _ = try await desktop.handed()
    try await desktop.place(try Tag(2))
    #expect(try await desktop.notification(on: server).summary == "Open in Menu")

    _ = try await desktop.installation.output("handlers", "prefer", "a.Other", "menu.example.com")
    try await desktop.place(try Tag(3))
    #expect(try await desktop.notification(on: server).summary == "Open in Other")
    #expect(try await handler(desktop, "a.Other.desktop")["preferred"] as? [String] == ["menu.example.com"])
    _ = try await desktop.installation.output("handlers", "block", "a.Other")
    try await desktop.place(try Tag(4))
    #expect(try await resolve(desktop)["candidates"] as? [String] == [HandlerStandIn.desktopID])
    #expect(try await desktop.notification(on: server).actions.contains("Other") == false)
    #expect(try await handler(desktop, "a.Other.desktop")["blocked"] as? [String] == ["*"])
    _ = try await desktop.installation.output("handlers", "forget", "--all")
    #expect((try await resolve(desktop)["candidates"] as? [String])?.count == 2)
  }
}
