import Bus
import Glibc
import Rig
import Testing

@testable import CommandLineTool
@testable import TagrouteClient

@Suite struct InboxArgumentsTests {
  private func action(_ words: [String]) throws -> InboxAction { try InboxAction(Command.inbox.parse(words)) }

  @Test func `each form is parsed`() throws {
    #expect(try action([]) == .list(state: nil, limit: 100, before: nil))
    #expect(
      try action(["--state=failed", "--limit", "5", "--before", "01"]) == .list(state: "failed", limit: 5, before: "01")
    )
    #expect(try action(["show", "01"]) == .show("01"))
    #expect(try action(["open", "01", "--handler", "a"]) == .open("01", handler: "a"))
    #expect(try action(["dismiss", "01", "--json"]) == .dismiss("01"))
    #expect(try action(["export", "01", "f"]) == .export("01", record: nil, OutputFile(path: "f", overwrites: false)))
    #expect(
      try action(["export", "01", "f", "--record", "2"])
        == .export("01", record: 2, OutputFile(path: "f", overwrites: false)))
    #expect(
      try action(["export", "--all", "f", "--force"])
        == .export(nil, record: nil, OutputFile(path: "f", overwrites: true)))
    guard case .clear(let clear) = try action(["clear", "01", "02", "--yes"]) else {
      throw RigError("the clear form was not parsed")
    }
    #expect(clear.ids == ["01", "02"] && clear.days == nil && !clear.fromScreen)
  }

  @Test(arguments: [
    ["look"], ["show"], ["show", "01", "02"], ["show", "01", "--all"], ["show", ""], ["open"], ["open", "01", "--yes"],
    ["open", "01", "--handler="], ["dismiss"], ["export", "01"], ["export", "f", "--all", "g"], ["export", "01", ""],
    ["export", "01", "f", "--yes"], ["export", "01", "f", "--record=0"], ["export", "--all", "f", "--record=1"],
    ["clear", "01", "--all"], ["clear", "--all", "--older-than", "3"],
    ["clear", "--older-than", "soon"], ["clear", "--force"], ["--yes"], ["--all"], ["--limit", "0"],
    ["--limit", "100001"], ["--handler", "a"], ["clear", "01", "--older-than", "1"],
  ])
  func `a contradictory or incomplete command exits with 64`(words: [String]) {
    let failure = #expect(throws: Failure.self) { try action(words) }
    #expect(failure?.exitCode == 64, "\(words)")
  }

  private static func tap(
    _ id: String, state: String, handler: String?, title: String, more: [String: Value] = [:]
  ) -> TapDescription {
    var values: [String: Value] = [
      "id": .string(id), "time": .uint64(1_795_000_000_000_000), "state": .string(state), "title": .string(title),
    ]
    values["handler"] = handler.map(Value.string)
    return TapDescription(values.merging(more) { $1 })
  }

  private static let taps = [
    tap("01234567-89ab", state: "delivered", handler: "org.example.Menu.desktop", title: "menu.example.com/table/7"),
    tap("fedcba98-7654", state: "failed", handler: nil, title: "晩ご飯のメニュー 🍽🍽🍽 \u{1B}[31m e\u{301}"),
  ]

  @Test func `a list fits the width for any title`() {
    let whole = InboxList.lines(Self.taps, width: nil)
    #expect(whole[0] == "ID        READ              STATE      APP OR RULE       ON THE TAG")
    #expect(whole[1].hasSuffix("  delivered  org.example.Menu  menu.example.com/table/7"))
    #expect(whole[2].hasSuffix("  failed     -                 晩ご飯のメニュー 🍽🍽🍽 \\u{1b}[31m e\u{301}"))
    for width in 1...120 {
      for line in InboxList.lines(Self.taps, width: width) {
        #expect(TerminalText.cells(of: line) <= width, "\(width): \(line)")
      }
    }
    #expect(InboxList.lines([], width: 80).isEmpty)
  }

  private static let lamp: [String: Value] = [
    "rule": .string("lamp"), "program": .string("/bin/false"), "message": .bytes([0xD1, 1, 2, 0x55, 4, 0x61]),
    "uri": .string("https://a"), "technology": .string("type-2"), "uid": .bytes([4, 0xA2, 0x19, 0x5A]),
    "reader": .string("/org/tagroute/Tagroute/readers/0"), "state-time": .uint64(1_795_000_001_000_000),
  ]

  @Test func `a list and the details name the rule, its program and its status`() throws {
    let reason: [String: Value] = [
      "state-reason": .string("/bin/false ended with status 1"),
      "state-reason-code": .string("command-failed"),
    ]
    let failed = Self.tap(
      "01234567-89ab", state: "failed", handler: nil, title: "a", more: Self.lamp.merging(reason) { $1 })
    #expect(
      InboxList.lines([failed], width: nil)[1].hasSuffix(
        "  failed  rule lamp    a (/bin/false ended with status 1)"))
    let lines = StoredTapReport(failed).lines.map {
      $0.replacing(/[-0-9]{10} [:0-9]{8}/, with: "TIME")
    }
    #expect(
      lines == [
        "tap 01234567-89ab", "TIME: read type-2, UID 04A2195A, by reader 0", "on the tag: 6 bytes",
        "  link: https://a", "TIME: the rule “lamp” failed: /bin/false ended with status 1",
      ])
    let delivered = Self.tap("01234567-89ab", state: "delivered", handler: nil, title: "a", more: Self.lamp)
    #expect(StoredTapReport(delivered).lines.last?.hasSuffix(": the rule “lamp” started /bin/false") == true)
    #expect(StoredTapReport(delivered).lines[1].hasSuffix(", by reader 0"))
  }

  @Test func `details name the app once, and say why`() {
    var menu = Self.lamp.merging([
      "handler": .string("org.example.Menu.desktop"),
      "reason": .string("org.example.Menu.desktop is the only one that claims a"),
    ]) { $1 }
    (menu["rule"], menu["program"]) = (nil, nil)
    let shown = StoredTapReport(Self.tap("01", state: "shown", handler: nil, title: "a", more: menu)).lines
    #expect(shown.suffix(2).first == "org.example.Menu.desktop is the only one that claims a")
    #expect(shown.last?.hasSuffix(": shown in a notification") == true)
    menu["reason"] = nil
    let delivered = StoredTapReport(Self.tap("01", state: "delivered", handler: nil, title: "a", more: menu)).lines
    #expect(delivered.last?.hasSuffix(": handed to org.example.Menu") == true)
    #expect(delivered.filter { $0.contains("org.example.Menu") }.count == 1)
  }

  @Test func `an explanation has each sentence once`() {
    var resolution = Resolution()
    resolution.handler = "a.desktop"
    resolution.reason = "a.desktop is the only one that claims a"
    resolution.steps = ["uri: https://a", "handler: a.desktop is the only one that claims a"]
    var claimants = (ClaimantDescription(), ClaimantDescription())
    (claimants.0.reason, claimants.1.reason) = (resolution.reason, "b.desktop is blocked by the user")
    resolution.claimants = [claimants.0, claimants.1]
    #expect(
      Command.verdict(of: resolution) == "a.desktop is the only one that claims a"
        && resolution.explanation == ["uri: https://a", "claimant: b.desktop is blocked by the user"])
  }

  @Test func `an explanation and monitor name the claim of the app once`() {
    var (resolution, claimant) = (Resolution(), ClaimantDescription())
    (claimant.id, claimant.reason) = ("a.desktop", "a is the only one that claims b.example, and allowed by the user")
    (resolution.kind, resolution.handler, resolution.reason) = ("universal-link", "a.desktop", "a claims b.example")
    resolution.claimants = [claimant]
    resolution.steps = ["domain: b.example matches b.example, claimed by a", "choice: \(claimant.reason)"]
    #expect(resolution.explanation == resolution.steps)
    #expect(Command.verdict(of: resolution, isExplained: true) == "universal-link: a")
    #expect(Command.verdict(of: resolution) == "a claims b.example")
    let tap = Self.tap(
      "01", state: "shown", handler: "a.desktop", title: "b",
      more: ["uri": .string("https://b.example"), "reason": .string(resolution.reason)])
    #expect(MonitorEvent.tap("01", tap, resolution).text == "tap 01: https://b.example for a; \(claimant.reason)")
    #expect(MonitorEvent.tap("01", tap, nil).text == "tap 01: https://b.example for a; a claims b.example")
  }

  @Test(arguments: [
    ("abc", 3), ("", 0), ("é", 1), ("e\u{301}", 1), ("東京", 4), ("🍽", 1), ("🍕", 2), ("한", 2), ("ｆ", 2), ("…", 1),
  ])
  func `wide characters count as two cells, as in terminals`(text: String, cells: Int) {
    #expect(TerminalText.cells(of: text) == cells)
  }

  @Test func `cut text ends in an ellipsis and keeps whole characters`() {
    #expect(TerminalText.cut("abcdef", to: 6) == "abcdef")
    #expect(TerminalText.cut("abcdef", to: 5) == "abcd…")
    #expect(TerminalText.cut("東京都", to: 4) == "東…")
    #expect(TerminalText.cut("abc", to: 0) == "")
    #expect(TerminalText.padded("東", to: 4) == "東  ")
  }

  @Test func `a file is written completely or left as it was`() async throws {
    let folder = try TemporaryDirectory()
    let path = folder.file("a")
    try await OutputFile(path: path, overwrites: false).write { write throws(Failure) in
      try write([1, 2])
      try write([3])
    }
    #expect(try readFile(path) == [1, 2, 3])
    await #expect(throws: Failure.self) { try await OutputFile(path: path, overwrites: false).write { _ in } }
    // A failure during the write leaves the old content.
    await #expect(throws: Failure.self) {
      try await OutputFile(path: path, overwrites: true).write { write throws(Failure) in
        try write([9])
        throw Failure(message: "the agent is gone", exitCode: 69)
      }
    }
    #expect(try readFile(path) == [1, 2, 3])
    await #expect(throws: Failure.self) {
      try await OutputFile(path: folder.file("b"), overwrites: false).write { _ throws(Failure) in
        throw Failure(message: "the agent is gone", exitCode: 69)
      }
    }
    #expect(access(folder.file("b"), F_OK) != 0)
    try await OutputFile(path: path, overwrites: true).write { write throws(Failure) in try write([4]) }
    #expect(try readFile(path) == [4])
    let link = folder.file("link")
    #expect(symlink(path, link) == 0)
    let failure = #expect(throws: Failure.self) {
      try OutputFile(path: link, overwrites: true).check(isText: true, Console(json: false))
    }
    #expect(failure?.exitCode == 73)
  }
}
