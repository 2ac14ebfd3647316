import Bus
import NDEF
import TestKit
import Testing

@testable import AgentTests

@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct LanguageTests {
  /// An agent in that language, even if the machine has no locale for it.
  private func rig(_ language: String, starter: String = #function) async throws -> AgentRig {
    try await AgentRig(environment: ["LC_ALL": "C.UTF-8", "LANGUAGE": language], starter: starter)
  }

  @Test func `a tap is offered in the user's language, and its buttons work`() async throws {
    let rig = try await rig("de")
    try await Catalogues.build(in: rig.catalogues)
    let server = try await rig.startServerAndAgent()
    await rig.handler.set(.refuses)
    try await rig.daemon.give(tapValues(1, message: try uriMessage("https://menu.example.com/a")))
    let shown = try await server.next()
    #expect(shown.summary == "Mit Menu öffnen")
    #expect(shown.actions == ["default", "Öffnen", "open", "Öffnen", "more", "Mehr …", "dismiss", "Verwerfen"])
    try await server.click(shown, action: "open")
    let failed = try await server.next()
    #expect(failed.summary == "Öffnen mit Menu fehlgeschlagen")
    #expect(
      failed.actions == ["default", "Erneut versuchen", "retry", "Erneut versuchen", "dismiss", "Verwerfen"])
    #expect(
      failed.body == "menu.example.com/a · Die Anwendung hat es nicht angenommen: „the kitchen is closed“")
    await rig.handler.set(.takes)
    let signals = try await rig.signals()
    try await server.click(failed, action: "retry")
    #expect(await signals.closed(1) == "delivered")
    try await rig.daemon.showSession(["app": .string("transit")])
    let sheet = try await server.next()
    #expect(sheet.summary == "NFC-Tag an das Lesegerät halten")
    #expect(sheet.actions.suffix(2) == ["cancel", "Abbrechen"])
    // The log stays in English, so that it can be read in a bug report.
    let agent = try await rig.agent
    let log = await agent.log()
    #expect(log.allSatisfy { line in line.unicodeScalars.allSatisfy(\.isASCII) }, "\(log)")
  }

  @Test func `a tag with several languages is shown in the user's language, and the last button dismisses it`()
    async throws
  {
    let rig = try await rig("de_AT:ko")
    try await Catalogues.build(in: rig.catalogues)
    let server = try await rig.startServerAndAgent()
    let titles = ["en", "de", "ja", "ko"].map { TextRecord("Table in \($0)", language: $0) }
    let poster = try SmartPosterRecord(uri: "https://menu.example.com/a", titles: titles).record()
    try await rig.daemon.give(tapValues(1, message: try NDEFMessage(records: [poster]).encoded()))
    let shown = try await server.next()
    #expect(shown.body == "menu.example.com/a · Table in de")
    let signals = try await rig.signals()
    try await server.click(shown, action: shown.actions[shown.actions.count - 2])
    #expect(await signals.closed(1) == "dismissed")
    #expect(await rig.handler.count == 0)
  }

  @Test func `a truncated catalogue leaves the text in English`() async throws {
    let rig = try await rig("ja")
    try await Catalogues.build(in: rig.catalogues)
    let whole = try readFile("\(rig.catalogues)/ja/LC_MESSAGES/tagroute.mo")
    try rig.installation.directory.write(Array(whole.prefix(100)), to: "locale/ja/LC_MESSAGES/tagroute.mo")
    let server = try await rig.startServerAndAgent()
    try await rig.daemon.give(tapValues(1, message: try uriMessage("https://menu.example.com/a")))
    #expect(try await server.next().summary == "Open in Menu")
  }

  @Test func `a translation without its placeholder or with control characters is harmless`() async throws {
    let rig = try await rig("xx")
    try await Catalogues.build(
      [("Open in {app}", "Click %s %n {1}"), ("Open", "\u{202E}<b>O</b>\\n\u{1B}[31mk")], language: "xx",
      in: rig.installation.directory)
    let server = try await rig.startServerAndAgent()
    try await rig.daemon.give(tapValues(1, message: try uriMessage("https://menu.example.com/a")))
    let shown = try await server.next()
    #expect(shown.summary == "Open in Menu")
    #expect(
      shown.actions == [
        "default", "<b>O</b> [31mk", "open", "<b>O</b> [31mk", "more", "More…", "dismiss", "Dismiss",
      ])
  }
}

/// The catalogues of translations in their installed form.
enum Catalogues {
  /// Builds all catalogues from their sources, as `LANGUAGE/LC_MESSAGES/tagroute.mo`.
  static func build(in directory: String) async throws {
    let made = try await ChildProcess.run("\(repositoryRoot)/Packaging/build-catalogues", [directory])
    try #require(made.status == .exited(0), "\(made.log)")
  }

  /// Builds a catalogue with the test's own entries, in the folder `locale` of `directory`.
  static func build(_ entries: [(String, String)], language: String, in directory: TemporaryDirectory) async throws {
    let header = "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n\n"
    let source = try directory.write(
      header + entries.map { "msgid \"\($0)\"\nmsgstr \"\($1)\"\n\n" }.joined(), to: "\(language).po")
    let target = try directory.write("", to: "locale/\(language)/LC_MESSAGES/tagroute.mo")
    let program = try BuiltProducts.systemProgram("msgfmt", package: "gettext")
    let made = try await ChildProcess.run(program, ["--output-file", target, source])
    try #require(made.status == .exited(0), "\(made.log)")
  }
}
