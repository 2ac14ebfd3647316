import Bus
import NDEF
import Names
import TestRig
import Testing
@testable import AgentTests

/// The real agent in the user's language.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct LanguageTests {
  private struct Words: Sendable, CustomTestStringConvertible {
    let language: String
    let title: String
    let open: String
    let couldNot: String
    let retry: String
    let always: String
    let dismiss: String
    let why: String
    let sheet: String
    let cancel: String

    var testDescription: String { language }
  }

  private static let words = [
    Words(
      language: "en", title: "Open in Menu", open: "Open", couldNot: "Could not open in Menu", retry: "Try again",
      always: "Always open this tag at once", dismiss: "Dismiss",
      why: "The app did not take it: “the kitchen is closed”",
      sheet: "Hold a tag near the reader", cancel: "Cancel"),
    Words(
      language: "de", title: "Mit Menu öffnen", open: "Öffnen", couldNot: "Öffnen mit Menu fehlgeschlagen",
      retry: "Erneut versuchen", always: "Dieses Tag immer sofort öffnen", dismiss: "Verwerfen",
      why: "Die Anwendung hat es nicht angenommen: „the kitchen is closed“", sheet: "NFC-Tag an das Lesegerät halten",
      cancel: "Abbrechen"),
    Words(
      language: "ja", title: "Menu で開く", open: "開く", couldNot: "Menu で開けませんでした", retry: "再試行",
      always: "このタグを常にすぐ開く", dismiss: "閉じる", why: "アプリが受け取りませんでした:「the kitchen is closed」",
      sheet: "NFC タグをリーダーにかざしてください", cancel: "キャンセル"),
    Words(
      language: "ko", title: "Menu에서 열기", open: "열기", couldNot: "Menu에서 열 수 없습니다", retry: "다시 시도",
      always: "이 태그를 항상 바로 열기", dismiss: "무시", why: "앱이 받지 않았습니다: “the kitchen is closed”",
      sheet: "NFC 태그를 리더에 가까이 대십시오", cancel: "취소"),
  ]

  /// An agent in that language, even if the machine has no locale for it.
  private func rig(_ language: String, starter: String = #function) async throws -> AgentRig {
    try await AgentRig(environment: ["LC_ALL": "C.UTF-8", "LANGUAGE": language], starter: starter)
  }

  @Test(arguments: words) private func `a tap is offered in the user's language, and its buttons work`(words: Words)
    async throws
  {
    let rig = try await rig(words.language)
    try await Catalogues.build(in: rig.catalogues)
    let server = try await rig.startServerAndAgent()
    await rig.handler.set(.refuses)
    try await rig.daemon.give(tapValues(1, message: try uriMessage("https://menu.example.com/a")))
    let shown = try await server.next()
    #expect(shown.summary == words.title)
    #expect(
      shown.actions == [
        "default", words.open, "open", words.open, "always", words.always, "dismiss", words.dismiss,
      ])
    try await server.click(shown, action: "open")
    let failed = try await server.next()
    #expect(failed.summary == words.couldNot)
    #expect(failed.actions == ["default", words.retry, "retry", words.retry, "dismiss", words.dismiss])
    #expect(failed.body == "menu.example.com/a · \(words.why)")
    await rig.handler.set(.takes)
    let signals = try await rig.signals()
    try await server.click(failed, action: "retry")
    #expect(await signals.closed(1) == "delivered")
    try await rig.daemon.showSession(["app": .string("transit")])
    let sheet = try await server.next()
    #expect(sheet.summary == words.sheet)
    #expect(sheet.actions.suffix(2) == ["cancel", words.cancel])
    // The log stays in English, so that it can be read in a bug report.
    let agent = try await rig.agent
    let log = await agent.log()
    #expect(log.allSatisfy { line in line.unicodeScalars.allSatisfy(\.isASCII) }, "\(log)")
  }

  @Test(arguments: ["ja", "ko:ja", "de_AT:ko", "fr"])
  func `a tag with several languages is shown in the user's language, and the last button dismisses it`(
    languages: String
  ) async throws {
    let rig = try await rig(languages)
    try await Catalogues.build(in: rig.catalogues)
    let server = try await rig.startServerAndAgent()
    let titles = ["en", "de", "ja", "ko"].map { TextRecord("Table in \($0)", language: $0) }
    let poster = try SmartPosterRecord(uri: "https://menu.example.com/a", titles: titles).record()
    try await rig.daemon.give(tapValues(1, message: try NDEFMessage(records: [poster]).encoded()))
    let shown = try await server.next()
    let first = languages == "fr" ? "en" : String(languages.prefix(2))
    #expect(shown.body == "Table in \(first) · menu.example.com/a")
    let signals = try await rig.signals()
    try await server.click(shown, action: shown.actions[shown.actions.count - 2])
    #expect(await signals.closed(1) == "dismissed")
    #expect(await rig.handler.count == 0)
  }

  @Test(arguments: [0, 4, 100, 1000]) func `a truncated catalogue leaves the text in English`(length: Int) async throws
  {
    let rig = try await rig("ja")
    try await Catalogues.build(in: rig.catalogues)
    let whole = try readFile("\(rig.catalogues)/ja/LC_MESSAGES/tagroute.mo")
    try rig.installation.directory.write(Array(whole.prefix(length)), to: "locale/ja/LC_MESSAGES/tagroute.mo")
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
        "default", "<b>O</b> [31mk", "open", "<b>O</b> [31mk", "always", "Always open this tag at once", "dismiss",
        "Dismiss",
      ])
  }

  @Test func `without a catalogue the text is English`() async throws {
    let rig = try await rig("ja")
    let server = try await rig.startServerAndAgent()
    try await rig.daemon.give(tapValues(1, message: try uriMessage("https://menu.example.com/a")))
    #expect(try await server.next().summary == "Open in Menu")
  }
}
