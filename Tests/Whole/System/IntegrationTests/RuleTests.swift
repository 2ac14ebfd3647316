import Bus
import EventLoop
import Foundation
import Glibc
import NDEF
import TagrouteClient
import TestKit
import Testing

@Suite(.timeLimit(.minutes(3)), StopsAtEnd()) struct RuleTests {
  /// Writes its arguments, its variables and its input into a pipe.
  private static func recorder(_ pipe: String) -> String {
    """
    #!/bin/sh
    {
      for argument in "$@"; do printf '<%s>\\n' "$argument"; done
      printf 'URI %s\\nUID %s\\nTAP %s\\n' "$TAGROUTE_URI" "$TAGROUTE_UID" "$TAGROUTE_TAP_ID"
      exec cat
    } > '\(pipe)'
    """
  }

  private struct Stage {
    let desktop: Desktop
    let server: NotificationServerStandIn
    let program: String
    private let pipe: String

    init(_ rules: (_ program: String) -> String, starter: String = #function) async throws {
      desktop = try await Desktop(starter: starter)
      let directory = desktop.installation.directory
      pipe = directory.file("recorded")
      try #require(mkfifo(pipe, 0o600) == 0)
      program = try directory.write(RuleTests.recorder(pipe), to: "recorder", mode: 0o755)
      try directory.write(rules(program), to: "config/tagroute/rules.d/test.conf")
      server = try await desktop.startWithServer()
    }

    func recorded() async throws -> [UInt8] {
      try await desktop.within("a program of a rule") { [pipe] in
        try await DedicatedThread.run { Result { try readFile(pipe) } }.get()
      }
    }

    func taps() async throws -> [[String: Any]] {
      try #require(try await desktop.installation.json("inbox") as? [[String: Any]])
    }
  }

  private static func uid(_ number: Int) -> String { "04-00-00-00-00-00-0\(number)" }

  @Test func `a rule runs a program without a click, and no shell sees what is in the rule or on the tag`() async throws
  {
    let mark = try TemporaryDirectory()
    let file = mark.file("mark")
    let arguments = [
      "$(touch \(file))", "`touch \(file)`", "; touch \(file)", "&& touch \(file)", "| touch \(file)", "> \(file)",
      "$HOME", "*", "~", "'", "\"", "%u", "", "-x", "a b",
    ]
    let escaped = arguments.map { $0.replacing(";", with: "\\;") }.joined(separator: ";")
    let stage = try await Stage { program in
      "[Rule $(id); `id`]\nUID=\(Self.uid(1))\nRun=\(program);\(escaped);\nAsk=no\n"
    }
    let link = "https://menu.example.com/$(touch%20\(file));'&*?a=$HOME"
    let text = TextRecord("$(touch \(file)) `touch \(file)` '; touch \(file)", language: "en")
    let tag = try Tag(1, uri: link, others: [text.record()])
    try await stage.desktop.place(tag)

    let recorded = try await stage.recorded()
    #expect(recorded.suffix(tag.message.count) == tag.message[...])
    let lines = String(decoding: recorded.dropLast(tag.message.count), as: UTF8.self).split(separator: "\n")
    #expect(lines.prefix(arguments.count).map(String.init) == arguments.map { "<\($0)>" })
    let variables = lines.dropFirst(arguments.count).map(String.init)
    #expect(variables.prefix(2) == ["URI \(link)", "UID \(Self.uid(1))"])
    let shown = try await stage.desktop.notification(on: stage.server)
    #expect(shown.summary == "Started “$(id); `id`”")
    let tap = try #require(try await stage.taps().first)
    #expect(tap["state"] as? String == "delivered")
    #expect(variables.last == "TAP \(tap["id"] as? String ?? "")")
    #expect(access(file, F_OK) != 0, "a shell has run")
    withExtendedLifetime(mark) {}
  }

  /// The first record does not begin a message.
  @Test func `a damaged tag runs the rule for its UID, and the inbox has its bytes`() async throws {
    let stage = try await Stage { program in "[Rule lamp]\nUID=\(Self.uid(1))\nRun=\(program);on;\nAsk=no\n" }
    let message: [UInt8] = [0x51, 0x01, 0x01, 0x54, 0x41]
    func place(_ number: UInt8) async throws {
      let head: [UInt8] = [0x04, 0, 0, 0x8C, 0, 0, 0, number, number, 0x48, 0, 0, 0xE1, 0x10, 0x12, 0]
      let bytes = head + [0x03, UInt8(message.count)] + message + [0xFE]
      let memory = try stage.desktop.installation.directory.write(
        bytes + [UInt8](repeating: 0, count: 180 - bytes.count), to: "tags/damaged")
      try await stage.desktop.installation.simulate("tap --type 2 --model ntag213 --memory \(memory)")
    }
    try await place(1)
    let recorded = String(decoding: try await stage.recorded(), as: UTF8.self)
    #expect(recorded.contains("UID \(Self.uid(1))\n") && Array(recorded.utf8.suffix(message.count)) == message)
    #expect(try await stage.desktop.notification(on: stage.server).summary == "Started “lamp”")
    // No rule is for this one.
    try await place(2)
    #expect(try await stage.desktop.notification(on: stage.server).summary == "This tag is damaged")
    let taps = try await stage.taps()
    #expect(taps.map { $0["title"] as? String } == ["This tag is damaged", "This tag is damaged"])
    let failed = try #require(taps.first { $0["state"] as? String == "failed" }?["id"] as? String)
    let details = try await stage.desktop.installation.object("inbox", "show", failed)
    #expect(details["stateReasonCode"] as? String == "damaged" && details["message"] as? String == "5101015441")
    let ruled = try #require(taps.first { $0["state"] as? String == "delivered" }?["id"] as? String)
    let others = try await stage.desktop.installation.object("inbox", "show", ruled)
    #expect(others["stateReasonCode"] as? String == "damaged")
  }

  @Test func `resolve explains each rule, and rules lists and removes them`() async throws {
    let stage = try await Stage { program in
      "[Rule lamp]\nUID=\(Self.uid(1))\nMimeType=text/*\nRun=\(program);on;\n[Rule quiet]\nUID=\(Self.uid(1))\nIgnore=yes\n"
    }
    let installation = stage.desktop.installation
    let card = try await installation.output("resolve", "--explain", "--uid", Self.uid(1), "--type", "text/vcard")
    #expect(card.hasPrefix("rule: the rule “lamp”") && !card.contains("quiet"))
    #expect(card.hasSuffix("runs \(stage.program)\n"))
    let link = try await installation.output("resolve", "--explain", "--uid", Self.uid(1), "https://\(Tag.text(1))")
    #expect(link.contains("does not match: MimeType= differs"))
    #expect(link.contains("rule: the rule “quiet”"))
    let file = stage.desktop.installation.directory.file("message")
    try stage.desktop.installation.directory.write(try Tag(1).message, to: "message")
    let other = try await installation.output("resolve", "--uid", Self.uid(2), "--message", file)
    #expect(other.hasPrefix("org.example.Menu claims "))
    #expect(try await installation.output("rules").hasPrefix("lamp: run \(stage.program) on\n"))
    _ = try await installation.output("rules", "remove", "quiet")
    try await stage.desktop.agent.line(containing: "rules for taps in force: 1")
    #expect(try await !installation.output("rules").contains("quiet"))
    #expect(try await installation.output("rules", "--check").isEmpty)
    try installation.directory.write(
      "[Rule gone]\nUID=\(Self.uid(3))\nRun=/nonexistent/p;\n", to: "config/tagroute/rules.d/z.conf", mode: 0o600)
    #expect(
      try await installation.output("rules").hasSuffix(
        "  warning: there is no program /nonexistent/p, which Run= of the rule “gone” starts\n"))
  }

  @Test func `a rule and a command name a reader by its number, name, device or path`() async throws {
    let desktop = try await Desktop()
    _ = try await desktop.startWithServer()
    let reader = try #require(
      try await desktop.status { $0.scanning && $0.readers.first?.name.isEmpty == false }.readers.first)
    let (agent, installation) = (try await desktop.agent, desktop.installation)
    let names = [reader.name, reader.device, reader.path, "0", "0: \(reader.name)"]
    for (number, written) in names.dropLast().enumerated() {
      try installation.directory.write(
        "[Rule other]\nReader=\(written)x\nShow=yes\n[Rule here \(number)]\nReader=\(written)\nIgnore=yes\n",
        to: "config/tagroute/rules.d/\(9 - number).conf")
      try await agent.line(containing: "rules for taps in force: \(2 * number + 2)")
      for name in names {
        let decision = try await installation.object("resolve", "--reader", name, "https://\(Tag.text(1))")
        #expect(decision["rule"] as? String == "here \(number)", "\(written), \(name)")
      }
      let tag = try Tag(number)
      try await desktop.place(tag)
      try await agent.line(containing: "“here \(number)”")
      try await desktop.remove()
    }
    #expect(try await installation.object("resolve", "--reader", "1", "https://\(Tag.text(1))")["rule"] is NSNull)
  }

  @Test func `an app is named by its id, its file or its name`() async throws {
    let (desktop, _) = try await Desktop.started()
    let installation = desktop.installation
    for app in ["org.example.Menu", HandlerStandIn.desktopID, "Menu", "menu"] {
      _ = try await installation.output("handlers", "prefer", app, "menu.example.com")
      #expect(try await installation.output("handlers").contains("\n  preferred for menu.example.com"), "\(app)")
      _ = try await installation.output("handlers", "forget", app)
      #expect(try await !installation.output("handlers").contains("preferred"), "\(app)")
      _ = try await installation.output("rules", "add", app, "--handler", app, "--open", app, "--no-ask")
      let rules = try await installation.output("rules")
      #expect(
        rules.contains("\(app): open org.example.Menu, without a click\n  if Handler=org.example.Menu\n"), "\(rules)")
      _ = try await installation.output("rules", "remove", app)
    }
    #expect(try await installation.output("handlers").contains("Menu (org.example.Menu): "))
    let unknown = try await installation.tagroute(["handlers", "block", "No such app"])
    #expect(unknown.status == .exited(64), "\(unknown.log)")
  }
}

/// Tags that open without a click, with the real daemon and the real agent.
@Suite(.timeLimit(.minutes(3)), StopsAtEnd()) struct AlwaysTests {
  private static let file = "config/tagroute/rules.d/always.conf"

  @Test func `a tag opens at once until it is rewritten, or until the user takes that back`() async throws {
    let (desktop, server) = try await Desktop.started()
    let agent = try await desktop.agent
    let path = desktop.installation.directory.file(Self.file)
    let tag = try Tag(1)
    try await desktop.place(tag)
    try await server.clickMore(desktop.notification(on: server), action: "always")
    #expect(try await desktop.handed().message == tag.message)
    try await agent.line(containing: "opens without a click from now on")
    let text = String(decoding: try readFile(path), as: UTF8.self)
    #expect(text.hasPrefix("[Rule Always: 04000000000001]\nUID=04000000000001\nMessage=sha256:"))
    #expect(text.contains("\nHandler=org.example.Menu\n"))
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
    try await server.clickMore(desktop.notification(on: server), action: "always")
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
        == "lamp: added to \(added):1\n")
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
    #expect(text.contains("[Rule menu]\nUID=04000000000002\nMessage=sha256:"))
    for wrong in [["x"], ["x", "--uid", "04-A2-19-5A"], ["x", "--uid", "04-A2-19-5A", "--show", "--no-ask"]] {
      #expect(try await desktop.installation.tagroute(["rules", "add"] + wrong).status == .exited(64))
    }
  }
}

/// What follows the removal of a tag, with the real daemon and the real agent.
@Suite(.timeLimit(.minutes(3)), StopsAtEnd()) struct HoldModeTests {
  @Test func `a lamp is on while the card rests`() async throws {
    let desktop = try await Desktop()
    let directory = desktop.installation.directory
    let pipe = directory.file("recorded")
    try #require(mkfifo(pipe, 0o600) == 0)
    let script = """
      #!/bin/sh
      { printf '%s %s %s\\n' "$1" "$TAGROUTE_UID" "$TAGROUTE_TAP_ID"; exec cat > /dev/null; } > '\(pipe)'
      """
    let program = try directory.write(script, to: "lamp", mode: 0o755)
    try directory.write(
      "[Rule lamp]\nUID=04-A2-19-5A\nRun=\(program);on;\nOnRemove=\(program);$(off)\\;;\nAsk=no\n",
      to: "config/tagroute/rules.d/lamp.conf")
    let server = try await desktop.startWithServer()
    let monitor = try await desktop.installation.start("tagroute", ["monitor", "--json"])
    try await monitor.line(containing: #""event":"status""#)
    func recorded() async throws -> [String] {
      let bytes = try await desktop.within("the program of the rule") {
        try await DedicatedThread.run { Result { try readFile(pipe) } }.get()
      }
      return String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace).map(String.init)
    }

    try await desktop.installation.simulate("tap --type payment --uid 04A2195A")
    let on = try await recorded()
    #expect(on.prefix(2) == ["on", "04-A2-19-5A"] && on.count == 3)
    #expect(try await desktop.notification(on: server).summary == "Started “lamp”")
    try await desktop.installation.simulate("remove")
    // No shell has seen the arguments.
    #expect(try await recorded() == ["$(off);"] + on.dropFirst())
    let removal = try await monitor.line(containing: #""event":"tag-removed""#)
    #expect(removal.contains(on.last ?? "?") && !removal.contains("04-A2"))
  }

  /// The removal is due long after the test.
  @Test(arguments: [Installation.Reader.serial, .pcsc])
  func `a tag that drops out and comes back is not tapped again`(reader: Installation.Reader) async throws {
    let desktop = try await Desktop(
      reader, scan: ["Sessions=any", "RemovalDelay=10000"],
      starter: "`a tag that drops out and comes back is not tapped again`_\(reader)")
    let server = try await desktop.startWithServer()
    let daemon = try await desktop.daemon
    try await desktop.tap(1, isShownOn: server)
    for _ in 1...3 {
      let seen = await daemon.log().count
      try await desktop.installation.simulate("remove")
      try await daemon.line(containing: "its tag may have dropped out", after: seen)
      try await desktop.place(try Tag(1))
      try await daemon.line(containing: "its tag had only dropped out", after: seen)
    }
    try await desktop.installation.simulate("remove")
    try await desktop.tap(2, isShownOn: server)
    #expect(await server.all.count == 2)
    #expect(await !daemon.log().contains { $0.contains(Desktop.tagAway) })
  }

  @Test func `an app that has got a tap over D-Bus is told that its tag was removed`() async throws {
    let (desktop, server) = try await Desktop.started()
    // The tag is removed before the click, so the app is not notified.
    try await desktop.place(try Tag(1))
    let early = try await desktop.notification(on: server)
    try await desktop.remove()
    try await server.click(early)
    _ = try await desktop.handed()

    try await desktop.place(try Tag(2))
    try await server.click(desktop.notification(on: server))
    let handed = try await desktop.handed()
    try await desktop.remove()
    let arguments = try await desktop.within("a call of TagRemoved") { [app = desktop.app] in
      try await app.nextRemoval()
    }
    #expect(arguments.first == handed.platformData["tap-id"])
    let tag = try #require(arguments.last?.asDictionary)
    #expect(tag["uid"] == .bytes([4, 0, 0, 0, 0, 0, 2]) && tag.count == 4)
  }
}
