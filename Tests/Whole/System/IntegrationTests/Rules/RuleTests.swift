import EventLoop
import Glibc
import NDEF
import TestKit
import Testing

/// Rules with the real daemon and the real agent.
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

  /// A desktop with a program that records.
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

    /// What the program has written until it ended.
    func recorded() async throws -> [UInt8] {
      try await desktop.within("a program of a rule") { [pipe] in
        try await DedicatedThread.run { Result { try readFile(pipe) } }.get()
      }
    }

    func taps() async throws -> [[String: Any]] {
      try #require(try await desktop.installation.json("inbox") as? [[String: Any]])
    }
  }

  /// The UID of the tag with this number.
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
    #expect(card.contains("rule: “lamp”") && card.contains("matches") && !card.contains("quiet"))
    #expect(card.hasSuffix("runs \(stage.program)\n"))
    let link = try await installation.output("resolve", "--explain", "--uid", Self.uid(1), "https://\(Tag.text(1))")
    #expect(link.contains("does not match: MimeType= differs"))
    #expect(link.contains("rule: the rule “quiet”"))
    let file = stage.desktop.installation.directory.file("message")
    try stage.desktop.installation.directory.write(try Tag(1).message, to: "message")
    let other = try await installation.output("resolve", "--uid", Self.uid(2), "--message", file)
    #expect(other.hasPrefix("\(HandlerStandIn.desktopID): "))
    #expect(try await installation.output("rules").hasPrefix("lamp: run \(stage.program) on\n"))
    _ = try await installation.output("rules", "remove", "quiet")
    try await stage.desktop.agent.line(containing: "rules for taps in force: 1")
    #expect(try await !installation.output("rules").contains("quiet"))
    #expect(try await installation.output("rules", "--check").isEmpty)
  }
}
