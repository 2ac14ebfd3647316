import Bus
import Names
import TestKit
import Testing

/// The texts that the real program puts on the sheet of its session, in the user's language.
@Suite(.timeLimit(.minutes(5))) struct SheetLanguageTests {
  private struct Words: Sendable, CustomTestStringConvertible {
    let language: String
    let lock: String
    let readOnly: String

    var testDescription: String { language }
  }

  private static let words = [
    Words(
      language: "en", lock: "Hold the tag that is to be made read-only near the reader.",
      readOnly: "The tag is read-only."),
    Words(
      language: "de", lock: "Das NFC-Tag, das schreibgeschützt werden soll, an das Lesegerät halten.",
      readOnly: "Das NFC-Tag ist schreibgeschützt."),
    Words(language: "ja", lock: "読み取り専用にする NFC タグをリーダーにかざしてください。", readOnly: "NFC タグは読み取り専用です。"),
    Words(language: "ko", lock: "읽기 전용으로 만들 NFC 태그를 리더에 가까이 대십시오.", readOnly: "NFC 태그가 읽기 전용입니다."),
  ]

  @Test(arguments: words)
  private func `the sheet uses the language of the user and the terminal uses English`(words: Words) async throws {
    let place = try await Place(
      starter: "`the sheet uses the language of the user and the terminal uses English`_\(words.language)")
    let catalogues = try TemporaryDirectory()
    let made = try await ChildProcess.run("\(repositoryRoot)/Packaging/build-catalogues", [catalogues.file("locale")])
    try #require(made.status == .exited(0), "\(made.log)")
    var card = SessionCard()
    card.status = "read-only"
    try await place.daemon.place(card)
    let process = try place.start(
      ["lock", "--yes"],
      environment: [
        "LC_ALL": "C.UTF-8", "LANGUAGE": words.language, "TAGROUTE_LOCALE": catalogues.file("locale"),
      ])
    #expect(try await process.exit() == .exited(Names.ExitCode.notAllowed))
    #expect(await process.log() == ["tagroute: the tag is read-only"])
    let (options, requests) = try await place.session(of: 3)
    #expect(options["message"] == .string(words.lock))
    #expect(requests[2] == .invalidate(words.readOnly))
  }

  /// The daemon accepts at most 256 bytes and no invisible characters, even if a language needs them.
  @Test(arguments: [("uk", String(repeating: "ї", count: 130)), ("fa", "نگه\u{200C}دارید")])
  func `English replaces a translation that the daemon would reject`(language: String, translation: String) async throws
  {
    let english = "Hold the tag that is to be read near the reader."
    let place = try await Place(starter: "`English replaces a translation that the daemon would reject`_\(language)")
    let directory = try TemporaryDirectory()
    let source = try directory.write(
      "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n\nmsgid \"\(english)\"\nmsgstr \"\(translation)\"\n\n"
        + "msgid \"The tag holds no message.\"\nmsgstr \"…\"\n",
      to: "catalogue.po")
    let target = try directory.write("", to: "locale/\(language)/LC_MESSAGES/tagroute.mo")
    let program = try BuiltProducts.systemProgram("msgfmt", package: "gettext")
    let made = try await ChildProcess.run(program, ["--output-file", target, source])
    try #require(made.status == .exited(0), "\(made.log)")
    try await place.daemon.place(SessionCard.transit(blocks: []))
    let process = try place.start(
      ["read"],
      environment: [
        "LC_ALL": "C.UTF-8", "LANGUAGE": language, "TAGROUTE_LOCALE": directory.file("locale"),
      ])
    try await process.exit()
    let (options, requests) = try await place.session(of: 3)
    #expect(options["message"] == .string(english))
    // This text proves that the program found the catalogue.
    #expect(requests[2] == .invalidate("…"))
  }
}
