import Foundation
import Names
import TestKit
import Testing

/// How the user chooses the app for a link if no app is trusted or several claim it. All programs are real, from the
/// tag to the app.
@Suite(.timeLimit(.minutes(2)), StopsAtEnd()) struct ChoiceTests {
  private static let question = "Allow “Menu” to open links?"

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
    #expect(first.body == "Links to menu.example.com, from now on\n\(Tag.text(1))")
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
    #expect(shown.summary == "Which app opens these links?")
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

  @Test func `without a program for the clipboard, a click on “Copy” says which one to install`() async throws {
    let desktop = try await Desktop(environment: ["PATH": "/nonexistent", "WAYLAND_DISPLAY": "none"])
    let server = try await desktop.startWithServer()
    try await desktop.place(try Tag(1, uri: "https://elsewhere.example.net/a"))
    try await server.click(try await desktop.notification(on: server), action: "copy")
    let failed = try await desktop.notification(on: server)
    #expect(failed.summary == "Could not copy")
    #expect(failed.body.hasSuffix("To copy, one of these must be installed: wl-copy, xclip, xsel"))
    #expect(failed.actions.suffix(4) == ["retry", "Try again", "dismiss", "Dismiss"])
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
    #expect(question.actions.suffix(4) == ["more", "More…", "dismiss", "Dismiss"])
    try await server.clickMore(question, action: "alternative")
    #expect(try await recorded(desktop) == "https://\(Tag.text(1))|")
    #expect(await desktop.app.count == 0)
    // No handler claims this link.
    try await desktop.place(try Tag(2, uri: "https://elsewhere.example.net/a"))
    let shown = try await desktop.notification(on: server)
    #expect(shown.summary == "Open in Web")
    // Opening the link in the browser did not answer the question.
    try await desktop.place(try Tag(3))
    #expect(try await desktop.notification(on: server).summary == "Allow “Menu” to open links?")
  }
}

/// Domain associations, from the stored file to the answer of the real agent.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct DomainAssociationTests {
  /// Starts the buses, with a handler that Flatpak has exported. Such a handler is not trusted by default.
  private func installation(
    claiming domain: String, settings: [String: [String]] = [:], starter: String = #function
  ) async throws -> Installation {
    var options = Installation.Options()
    options.agentSettings = settings
    let installation = try await Installation(options, starter: starter)
    atEndOfTest { await installation.stop() }
    let entry = HandlerStandIn.desktopEntry.replacingOccurrences(of: "menu.example.com", with: domain)
    let exported = try installation.directory.write(
      entry, to: "flatpak/exports/share/applications/\(HandlerStandIn.desktopID)")
    mkdir(installation.directory.file("share/applications"), 0o755)
    #expect(symlink(exported, installation.directory.file("share/applications/\(HandlerStandIn.desktopID)")) == 0)
    return installation
  }

  /// Starts the agent and waits for a line of its log.
  private func startAgent(
    _ installation: Installation, until line: String = "the daemon is not on the system bus"
  ) async throws {
    try await installation.startAgent()
    try await #require(await installation.agent).line(containing: line)
  }

  private func isTrusted(_ uri: String, _ installation: Installation) async throws -> Bool? {
    try await installation.object("resolve", uri)["trusted"] as? Bool
  }

  @Test(.enabled(if: getuid() == 0, "only root can create an entry that no other user can write"))
  func `an agent trusts a stored domain association after its start`() async throws {
    let installation = try await installation(claiming: "menu.example.com")
    let now = Int(Date.now.timeIntervalSince1970)
    try installation.directory.write(
      """
      tagroute association 1
      attempted \(now)
      due \(now + 3600)
      failures 0
      file \(now)

      {"applinks": {"details": [{"appIDs": ["org.example.Menu"], "components": [{"/": "/table/*"}]}]}}
      """, to: "state/tagroute/associations/apple-app-site-association/menu.example.com")
    try await startAgent(installation)
    #expect(try await isTrusted("https://menu.example.com/table/7", installation) == true)
    #expect(try await isTrusted("https://menu.example.com/else", installation) == false)
  }

  @Test(.enabled(if: getuid() == 0, "only root can create an entry that no other user can write"))
  func `the agent verifies domains if the user turns that on`() async throws {
    // This name is never looked up, so no request leaves the machine.
    let installation = try await installation(claiming: "menu.test", settings: ["Links": ["Verify=on"]])
    try await startAgent(installation, until: "domains were verified")
    for document in ["apple-app-site-association", "assetlinks.json"] {
      let path = installation.directory.file("state/tagroute/associations/\(document)/menu.test")
      #expect(try String(contentsOfFile: path, encoding: .utf8).contains("\nfailure refused "))
    }
    #expect(try await isTrusted("https://menu.test/table/7", installation) == false)
  }

  @Test func `the agent verifies no domain by default, and a failed verification by command is stored`() async throws {
    let installation = try await installation(claiming: "menu.test")
    try await startAgent(installation)
    #expect(try await isTrusted("https://menu.test/table/7", installation) == false)
    #expect(!FileManager.default.fileExists(atPath: installation.directory.file("state/tagroute/associations")))
    let verified = try await installation.tagroute("handlers", "verify", "org.example.Menu", "--json")
    #expect(verified.status == .exited(Names.ExitCode.tryAgain))
    let report = try verified.json() as? [String: Any]
    let domain = try #require((report?["domains"] as? [[String: Any]])?.first)
    #expect(report?["kept"] as? Bool == true)
    #expect(domain["state"] as? String == "failed" && domain["trusted"] as? Bool == false)
    #expect((domain["documents"] as? [[String: Any]])?.allSatisfy { $0["code"] as? String == "refused" } == true)
    #expect(FileManager.default.fileExists(atPath: installation.directory.file("state/tagroute/associations")))
  }
}
