import Handlers
import Names
import Routing
import Settings
import Testing

@Suite struct RuleFileTests {
  private static func read(_ text: String) -> RuleFile { RuleFile(Array(text.utf8), file: "f", origin: .user) }

  /// A rule before and after the mistake holds.
  private static func around(_ lines: String) -> RuleFile {
    read("[Rule first]\nUID=04-A2-19-5A\nShow=yes\n\(lines)\n[Rule last]\nUID=04-A2-19-5B\nShow=yes\n")
  }

  @Test(arguments: [
    ("[Rule x]\nUID=04-A2\nShow=yes", 5, "is no UID"), ("[Rule x]\nUID=08-A2-19-5A\nShow=yes", 5, "is random"),
    ("[Rule x]\nUID=04-A2-19-5A-\nShow=yes", 5, "is no UID"),
    ("[Rule x]\nUID=04-A2-19-5A-04-A2-19-5A-04-A2-19\nShow=yes", 5, "is no UID"),
    ("[Rule x]\nLink=nonsense\nShow=yes", 5, "is no link"),
    ("[Rule x]\nLink=https://*.com/*\nShow=yes", 5, "is no link"),
    ("[Rule x]\nLink=https://exa*mple.com/\nShow=yes", 5, "is no link"),
    ("[Rule x]\nLink=*\nShow=yes", 5, "is no link"),
    ("[Rule x]\nLink=https://example.com/$(nonsense)\nShow=yes", 5, "is no link"),
    ("[Rule x]\nMimeType=*/*\nShow=yes", 5, "is no media type"),
    ("[Rule x]\nMimeType=text\nShow=yes", 5, "is no media type"),
    ("[Rule x]\nMimeType=text/a\u{1}\nShow=yes", 5, "is no media type"),
    ("[Rule x]\nExternalType=ticket\nShow=yes", 5, "is no external type"),
    ("[Rule x]\nMessage=sha256:12\nShow=yes", 5, "is no hash"),
    ("[Rule x]\nTechnology=type-9\nShow=yes", 5, "is not known"), ("[Rule x]\nText=\nShow=yes", 5, "is empty"),
    ("[Rule x]\nText=a\nShow=no", 6, "is no action"), ("[Rule x]\nText=a\nShow=perhaps", 6, "neither yes nor no"),
    ("[Rule x]\nText=a\nShow=yes\nAsk=no", 7, "has no meaning"),
    ("[Rule x]\nText=a\nRun=mpc\nAsk=never", 7, "neither yes nor no"),
    ("[Rule x]\nText=a\nRun=", 6, "names no program"), ("[Rule x]\nText=a\nRun=bin/x", 6, "relative path"),
    ("[Rule x]\nText=a\nRun=mpc play", 6, "space in its name"),
    ("[Rule x]\nText=a\nOpen=/usr/bin/x", 6, "is no desktop id"), ("[Rule x]\nText=a\nOpen=", 6, "is no desktop id"),
    ("[Rule x]\nText=a\nShow=yes\nIgnore=yes", 4, "has the actions Show, Ignore"),
    ("[Rule x]\nText=a", 4, "has no action"), ("[Rule x]\nShow=yes", 4, "has no condition"),
    ("[Rule x]\nText=a\nText=b\nShow=yes", 6, "the key Text is repeated"),
    ("[Rule x]\nText=a\nShow=yes\n[Rule x]\nText=b", 7, "is repeated"),
    ("[Rule x]\nText=a\nOnRemove=mpc;stop\nShow=yes", 6, "OnRemove= has no meaning with Show="),
    ("[Rule x]\nText=a\nIgnore=yes\nOnRemove=mpc;stop", 7, "OnRemove= has no meaning with Ignore="),
    ("[Rule x]\nText=a\nRun=mpc\nOnRemove=", 7, "OnRemove= names no program"),
    ("[Rule x]\nText=a\nRun=mpc\nOnRemove=bin/x", 7, "relative path"),
    ("[Rule x]\nText=a\nOnRemove=mpc;stop", 4, "has no action"),
    ("[Rule x]\nText=a\nSound=bell\nIgnore=yes", 6, "Sound= has no meaning with Ignore="),
    ("[Rule x]\nText=a\nSound=../bell\nShow=yes", 6, "no name of a sound"),
    ("[Rule x]\nHandler=a/b\nShow=yes", 5, "no desktop id"),
    ("[Rule x]\nText=a\nWhen=now\nShow=yes", 6, "has no key When"), ("[Rule x]\nTxt=a\nShow=yes", 5, "has no key Txt"),
    ("[Rules]\nText=a\nShow=yes", 4, "there is no group [Rules]"), ("[Rule ]\nText=a\nShow=yes", 4, "name is empty"),
    // Without the line that is not understood, the rule would match more tags.
    ("[Rule x]\nText=a\nnonsense\nRun=mpc", 6, ""), ("[Rule x\nText=a\nRun=mpc", 4, ""),
  ]) func `a mistake disables its own rule and is named`(lines: String, line: Int, problem: String) throws {
    let file = Self.around(lines)
    #expect(file.rules.map(\.name) == ["first", "last"])
    let first = try #require(file.problems.first)
    #expect(first.line == line)
    #expect(first.problem.contains(problem), "\(first)")
    #expect(!first.remedy.isEmpty)
  }

  @Test func `values are read with their escapes`() throws {
    let digest = String(repeating: "aB", count: 32)
    let file = Self.read(
      "# A comment\n[Rule all of it]\nUID=04-A2-19-5A\nLink=https://a.example/*\nMimeType=Text/*\n"
        + "ExternalType=A.example:B\nText=a\\sb\nMessage=sha256:\(digest)\nTechnology=type-2\nReader=0\n"
        + "Run=/bin/x;a\\;b;;\\$HOME c;\nAsk=no\n")
    #expect(file.rules.isEmpty)
    #expect(file.problems.first?.problem.contains("a backslash that escapes nothing") == true)
    let plain = Self.read(
      "[Rule all of it]\nMessage=sha256:\(digest)\nText=a\\sb\nRun=/bin/x;a\\;b;;$HOME c;\nAsk=no\n")
    let rule = try #require(plain.rules.first)
    #expect(rule.action == .run(["/bin/x", "a;b", "", "$HOME c"]))
    #expect(rule.conditions == [.message(digest.lowercased()), .text("a b")])
    #expect(!rule.asks)
    #expect(rule.line == 1)
  }

  @Test func `a file that is too large has no rules`() {
    let rule = "[Rule x]\nText=a\nShow=yes\n"
    let file = Self.read(rule + String(repeating: "#", count: RuleFile.maximumSize))
    #expect(file.rules.isEmpty)
    #expect(file.problems.count == 1)
  }

  @Test(arguments: [(20, ["last"]), (21, [])] as [(Int, [String])])
  func `up to 20 wrong lines disable only their own rule`(count: Int, rules: [String]) {
    let file = Self.around(String(repeating: "nonsense\n", count: count))
    #expect(file.rules.map(\.name) == rules)
    #expect(file.problems.count { $0.line != nil } == 20)
    let whole = file.problems.filter { $0.line == nil }.map(\.problem)
    #expect(whole == (rules.isEmpty ? ["has more than 20 wrong lines, so none of its rules holds"] : []))
  }

  @Test func `a file of headers is read in time`() {
    let file = Self.read(String(repeating: "[Rule x]\n", count: 7000))
    #expect(file.rules.isEmpty && !file.problems.isEmpty)
  }
}

@Suite struct UIDTextTests {
  @Test(
    arguments: [
      ([0x04, 0xA2, 0x19, 0x5A], "04A2195A"), ([UInt8](0...9), "00010203040506070809"),
    ] as [([UInt8], String)])
  func `a UID is written in uppercase digits, and read in any form`(uid: [UInt8], text: String) {
    #expect(UIDText.text(uid) == text)
    let dashed = UIDText.dashed(uid)
    #expect(dashed.replacing("-", with: "") == text && dashed.count == 3 * uid.count - 1)
    for other in [
      text, text.lowercased(), dashed, dashed.lowercased(), dashed.replacing("-", with: ":"),
      dashed.replacing("-", with: " "),
    ] {
      #expect(UIDText.bytes(other) == uid, "\(other)")
    }
  }

  @Test func `a tag without a UID has an empty text`() { #expect(UIDText.text([]).isEmpty) }

  @Test(arguments: [
    "", "-", "4", "04-A2-19", "04-A2-19-5A-", "-04-A2-19-5A", "04--A2-19-5A", " 04A2195A", "04 A2  19 5A", "0-4A2195A",
    "0x04A2195A", "04-A2-19-5G",
    "04-A2-19-5４", "04-A2-19-5A0", "00-01-02-03-04-05-06-07-08-09-0A",
  ])
  func `any other text names no UID`(text: String) { #expect(UIDText.bytes(text) == nil) }
}
