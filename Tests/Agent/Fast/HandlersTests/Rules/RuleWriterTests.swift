import EventLoop
import Glibc
import Rig
import Routing
import Settings
import Testing
import UniversalLinks

@testable import Handlers

@Suite(.timeLimit(.minutes(5))) struct RuleWriterTests {
  private static let uid: [UInt8] = [0x04, 0xA2, 0x19, 0x5A]
  private let directory: TemporaryDirectory
  private let files: RuleFiles
  private let writer: RuleWriter
  private let always: AlwaysRules

  init() throws {
    directory = try TemporaryDirectory()
    files = RuleFiles(environment: ["XDG_CONFIG_HOME": directory.file("config")], system: directory.file("etc"))
    writer = RuleWriter(files, file: RuleWriter.added)
    always = AlwaysRules(files)
  }

  private func path(_ name: String) -> String { directory.file("config/tagroute/rules.d/\(name)") }

  private func text(_ name: String) throws -> String { String(decoding: try readFile(path(name)), as: UTF8.self) }

  private func draft(_ name: String, _ action: TapRule.Action = .show) -> RuleDraft {
    RuleDraft(name: name, conditions: [.uid(Self.uid)], action: action)
  }

  @Test func `a new file and its directory are for the user only`() throws {
    let rule = try writer.add(draft("a", .openDefault))
    #expect(rule.file == path("added.conf") && rule.line == 1)
    #expect(try text("added.conf") == "[Rule a]\nUID=04A2195A\nOpen=default\n")
    var information = stat()
    #expect(stat(rule.file, &information) == 0 && information.st_mode & 0o777 == 0o600)
    #expect(stat(path(""), &information) == 0 && information.st_mode & 0o777 == 0o700)
    #expect(files.read().rules == [rule])
  }

  @Test func `arguments are read as they were given`() throws {
    let arguments = [
      "/bin/p", "", ";", "\\", "\\;", " a ", "a\nb", "\t", "$(id)", "`id`", "'\"", "%u", "#", "[x]", "=", "é",
      ";\u{301}",
    ]
    let rule = try writer.add(
      RuleDraft(
        name: "$(id) `id`", conditions: [.uid(Self.uid)], action: .run(arguments), asks: false, onRemove: arguments))
    #expect(rule.action == .run(arguments) && rule.onRemove == arguments && !rule.asks)
    #expect(files.read().rules == [rule])
  }

  @Test func `each condition is read as it was given`() throws {
    let conditions: [TapRule.Condition] = [
      .uid(Self.uid), .link(try LinkCondition(#"https://*.example.com/a\;b/*?c=\d"#)), .mimeType("image/*"),
      .externalType("example.com:a;b"), .text(" a\n;\\;"), .technology("type-2"), .reader(" ACS; 1"),
      .handler("org.example.Menu.desktop"),
    ]
    let draft = RuleDraft(name: "a", conditions: conditions, action: .show)
    #expect(draft.mistake == nil)
    let rule = try writer.add(draft)
    #expect(rule.conditions == conditions)
  }

  @Test func `a mistake names its line`() throws {
    let link = try LinkCondition("https://example.com")
    let drafts: [(RuleDraft, key: String?)] = [
      (draft("a\nb"), nil), (draft(""), nil), (draft("a", .run(["a b"])), "Run"), (draft("a", .open("a/b")), "Open"),
      (draft("a", .open("default.desktop")), nil),
      (RuleDraft(name: "a", conditions: [.link(link), .mimeType("text")], action: .ignore), "MimeType"),
      (RuleDraft(name: "a", conditions: [.link(link), .link(link)], action: .ignore), "Link"),
    ]
    for (draft, key) in drafts { #expect(try #require(draft.mistake).key == key, "\(draft)") }
  }

  @Test(arguments: [
    "", "a\nb", "a]\nUID=04-A2-19-5B\nIgnore=yes\n[Rule b", "\u{1B}[31m", String(repeating: "x", count: 200),
  ])
  func `a name that would be another rule is refused`(_ name: String) throws {
    try writer.add(draft("first"))
    let before = try text("added.conf")
    #expect(throws: KeyFileError.self) { try writer.add(draft(name)) }
    #expect(try text("added.conf") == before)
  }

  @Test(
    arguments: [
      .open(""), .open("a/b.desktop"), .open("a.desktop\nAsk=no"), .run([]), .run(["../p"]), .run(["a b"]),
      .run(["/p", String(repeating: "x", count: 5000)]),
    ] as [TapRule.Action])
  func `an action that a reader refuses is not written`(_ action: TapRule.Action) throws {
    #expect(throws: KeyFileError.self) { try writer.add(draft("a", action)) }
    #expect(access(path("added.conf"), F_OK) != 0)
  }

  @Test func `other rules, mistakes and comments stay as they are`() throws {
    let text = "# mine\r\n\n[Rule a]\nText = a\nShow=yes\n# on b\n\n[Rule b]\nText=b\nIgnore=maybe"
    try directory.write(text, to: "config/tagroute/rules.d/added.conf", mode: 0o644)
    let rule = try writer.add(draft("c"))
    #expect(try self.text("added.conf") == text + "\n\n[Rule c]\nUID=04A2195A\nShow=yes\n")
    #expect(try writer.remove(rule))
    #expect(try self.text("added.conf") == text + "\n")
    #expect(try !writer.remove(rule))
  }

  @Test func `a name is used once`() throws {
    try directory.write("[Rule a]\nText=a\nShow=yes\n", to: "config/tagroute/rules.d/mine.conf")
    let error = #expect(throws: KeyFileError.self) { try writer.add(draft("a")) }
    #expect(error?.file == path("mine.conf") && error?.line == 1)
  }

  @Test func `a link is not followed, and no file that others can change is written`() throws {
    let target = try directory.write("[Rule a]\nText=a\nShow=yes\n", to: "target", mode: 0o600)
    try directory.write("", to: "config/tagroute/rules.d/.keep")
    try #require(symlink(target, path("added.conf")) == 0)
    #expect(throws: KeyFileError.self) { try writer.add(draft("b")) }
    #expect(try readFile(target).count == 25)
    try #require(unlink(path("added.conf")) == 0 && symlink("/dev/zero", path("added.conf")) == 0)
    #expect(throws: KeyFileError.self) { try writer.add(draft("b")) }
    try #require(unlink(path("added.conf")) == 0 && mkfifo(path("added.conf"), 0o600) == 0)
    #expect(throws: KeyFileError.self) { try writer.add(draft("b")) }
    try #require(unlink(path("added.conf")) == 0)
    try directory.write("", to: "config/tagroute/rules.d/added.conf")
    try #require(chmod(path("added.conf"), 0o666) == 0)
    #expect(throws: KeyFileError.self) { try writer.add(draft("b")) }
    try #require(chmod(path("added.conf"), 0o600) == 0 && chmod(path(""), 0o777) == 0)
    #expect(throws: KeyFileError.self) { try writer.add(draft("b")) }
  }

  @Test func `a directory that is a link is refused`() throws {
    try directory.write("", to: "elsewhere/.keep")
    try directory.write("", to: "config/tagroute/.keep")
    try #require(symlink(directory.file("elsewhere"), directory.file("config/tagroute/rules.d")) == 0)
    #expect(throws: KeyFileError.self) { try writer.add(draft("b")) }
    #expect(access(directory.file("elsewhere/added.conf"), F_OK) != 0)
  }

  @Test func `there are at most a thousand rules`() throws {
    for file in 0..<4 {
      let rules = (0..<250).map { "[Rule \(file)-\($0)]\nText=\($0)\nShow=yes\n" }.joined()
      try directory.write(rules, to: "config/tagroute/rules.d/\(file).conf")
    }
    #expect(throws: KeyFileError.self) { try writer.add(draft("more")) }
    #expect(try files.remove("0-0") != nil)
    #expect(throws: Never.self) { try writer.add(draft("more")) }
  }

  // MARK: Order

  @Test func `a rule that an earlier one hides is not written, but can be put in front`() throws {
    let first = try files.add(draft("menu"))
    let narrow = RuleDraft(
      name: "lamp's", conditions: [.message(String(repeating: "a", count: 64)), .uid(Self.uid)],
      action: .run(["/bin/true"]))
    let error = #expect(throws: KeyFileError.self) { try files.add(narrow) }
    #expect(error?.problem == "the rule \(first.place) is tried first and takes each tag that this rule is for")
    #expect(error?.remedy == "add --before menu, or remove that rule")
    #expect(files.read().rules == [first])

    let rule = try files.add(narrow, before: "menu")
    #expect(files.read().rules.map(\.name) == ["lamp's", "menu"])
    #expect(files.read().rules.first == rule)
    // Each of them has tags of its own now.
    #expect(files.read().warnings(environment: [:]).isEmpty)
    let same = #expect(throws: KeyFileError.self) {
      try files.add(RuleDraft(name: "more", conditions: narrow.conditions, action: .show))
    }
    #expect(same?.remedy == #"add --before 'lamp'\''s', or remove that rule"#)
    #expect(throws: KeyFileError.self) { try files.add(draft("other"), before: "nobody") }
    // A rule for other tags is written last.
    _ = try files.add(RuleDraft(name: "other", conditions: [.uid([4, 0, 0, 1])], action: .show))
    #expect(files.read().rules.map(\.name) == ["lamp's", "menu", "other"])
  }

  @Test func `a rule is put above the comments of the next one, in its file`() throws {
    let mine = "[Rule a]\nText=a\nShow=yes\n\n# on b\n# twice\n[Rule b]\nUID=04-A2-19-5A\nIgnore=yes\n"
    try directory.write(mine, to: "config/tagroute/rules.d/mine.conf")
    let rule = try files.add(draft("c"), before: "b")
    #expect(rule.file == path("mine.conf") && rule.line == 5)
    let text = "[Rule c]\nUID=04A2195A\nShow=yes\n\n# on b\n"
    #expect(try self.text("mine.conf") == mine.replacing("# on b\n", with: text))
    // Files are read in the order of their names.
    let late = #expect(throws: KeyFileError.self) {
      try files.add(RuleDraft(name: "d", conditions: [.uid(Self.uid)], action: .show), before: "b")
    }
    #expect(late?.problem.contains("“c”") == true)
    #expect(throws: Never.self) { try files.add(draft("e")) }
  }

  @Test func `a missing program and a rule that never acts are warnings`() throws {
    let plain = try directory.write("", to: "plain", mode: 0o600)
    try directory.write(
      """
      [Rule a]
      UID=04-A2-19-5A
      Run=/nonexistent/p;
      OnRemove=nonexistent-p;
      [Rule b]
      UID=04-A2-19-5A
      Run=\(plain);
      [Rule c]
      Text=c
      Run=/bin/true;

      """, to: "config/tagroute/rules.d/mine.conf", mode: 0o600)
    let content = files.read()
    let file = path("mine.conf")
    #expect(content.problems.isEmpty && content.rules.count == 3, "\(content.problems)")
    #expect(
      content.warnings(environment: ["PATH": "/usr/bin:/bin"]).map(\.description) == [
        "\(file):1: there is no program /nonexistent/p, which Run= of the rule “a” starts: install it, or name its path",
        "\(file):1: no directory in PATH has the program nonexistent-p, which OnRemove= of the rule “a” starts: "
          + "install it, or name its path",
        "\(file):5: the rule “b” never acts: the rule “a” (\(file):1) is tried first and takes each tag that this rule "
          + "is for: move it above that rule, or remove one of them",
        "\(file):5: \(plain) is not an executable file, which Run= of the rule “b” starts: install it, or name its path",
      ])
  }

  @Test func `an app that is not there is a warning`() throws {
    for name in ["a.desktop", "vendor/b.desktop"] {
      try directory.write("[Desktop Entry]\n", to: "data/applications/\(name)")
    }
    try directory.write(
      "[Rule a]\nText=a\nHandler=a\nOpen=vendor-b\n[Rule c]\nText=b\nHandler=vendor-b\nOpen=Menu\n"
        + "[Rule d]\nHandler=c\nShow=yes\n[Rule e]\nText=e\nOpen=default\n",
      to: "config/tagroute/rules.d/mine.conf", mode: 0o600)
    let content = files.read()
    #expect(content.problems.isEmpty && content.rules.count == 4, "\(content.problems)")
    #expect(
      content.warnings(environment: ["XDG_DATA_HOME": directory.file("data"), "XDG_DATA_DIRS": "/nonexistent"])
        .map(\.problem) == [
          "there is no app Menu, which Open= of the rule “c” names",
          "there is no app c, which Handler= of the rule “d” names",
        ])
  }

  // MARK: Always

  @Test func `a rule that always opens is for the UID and the message, and asks no more`() throws {
    try always.add(uid: Self.uid, message: [1, 2], action: .open("a.desktop"))
    let rule = try #require(files.read().rules.first)
    #expect(rule.name == "Always: 04A2195A" && !rule.asks && rule.action == .open("a.desktop"))
    #expect(rule.conditions == [.uid(Self.uid), .message(MessageDigest.sha256([1, 2]))])
    #expect(always.owns(rule))
    // The same again has no effect, and another message replaces it.
    try always.add(uid: Self.uid, message: [1, 2], action: .open("a.desktop"))
    #expect(files.read().rules == [rule])
    try always.add(uid: Self.uid, message: [3], action: .run(["/bin/true"]), onRemove: ["/bin/false"])
    let next = try #require(files.read().rules.first)
    #expect(files.read().rules.count == 1 && next.action == .run(["/bin/true"]) && next.onRemove == ["/bin/false"])
    #expect(try !always.remove(rule))
    #expect(try always.remove(next))
    #expect(files.read().rules.isEmpty)
  }

  @Test func `a rule that always opens keeps the type and the handler, and no other condition`() throws {
    let kept: [TapRule.Condition] = [.mimeType("application/x-foo"), .handler("a.desktop")]
    let others: [TapRule.Condition] = [.reader("0"), .technology("type-2"), .text("a"), .externalType("a.b:c")]
    for conditions in [[kept[0]], [kept[1]], kept, kept + others] {
      try always.add(uid: Self.uid, message: [1], conditions: conditions, action: .open("a.desktop"))
      let rule = try #require(files.read().rules.first)
      #expect(files.read().rules.count == 1 && always.owns(rule))
      #expect(
        rule.conditions == [.uid(Self.uid), .message(MessageDigest.sha256([1]))] + conditions.filter(kept.contains))
    }
    #expect(
      try text("always.conf").hasSuffix(
        "\nMimeType=application/x-foo\nHandler=a\nOpen=a\nAsk=no\n"))
    #expect(try always.remove(try #require(files.read().rules.first)))
    #expect(files.read().rules.isEmpty)
  }

  @Test func `a rule with another condition was not written by a notification`() throws {
    try directory.write(
      """
      [Rule Always: mine]
      UID=04-A2-19-5A
      Message=sha256:\(MessageDigest.sha256([1]))
      MimeType=application/x-foo
      Reader=0
      Open=a.desktop
      Ask=no

      """, to: "config/tagroute/rules.d/always.conf")
    #expect(!always.owns(try #require(files.read().rules.first)))
  }

  @Test func `a rule that a person wrote stays`() throws {
    let text = "# mine\n[Rule Always: 04A2195A]\nUID=04A2195A\nIgnore=yes\n"
    try directory.write(text, to: "config/tagroute/rules.d/always.conf")
    let mine = try #require(files.read().rules.first)
    #expect(!always.owns(mine))
    #expect(try !always.remove(mine))
    try always.add(uid: Self.uid, message: [1], action: .openDefault)
    let rules = files.read().rules
    #expect(rules.map(\.name) == ["Always: 04A2195A", "Always: 04A2195A (2)"])
    #expect(try always.remove(try #require(rules.last)))
    #expect(try self.text("always.conf") == text)
  }

  @Test(arguments: [[], [0x08, 1, 2, 3], [1, 2, 3], Array(repeating: 4, count: 11)] as [[UInt8]])
  func `a UID that is random, or of another length, is refused`(_ uid: [UInt8]) throws {
    #expect(throws: KeyFileError.self) { try always.add(uid: uid, message: [1], action: .openDefault) }
    #expect(throws: KeyFileError.self) { try writer.add(RuleDraft(name: "a", conditions: [.uid(uid)], action: .show)) }
    #expect(throws: KeyFileError.self) { try always.add(uid: Self.uid, message: [], action: .openDefault) }
  }

  @Test func `only rules behind always.conf are overtaken by it`() {
    func rule(_ file: String, _ origin: TapRule.Origin = .user) -> TapRule {
      TapRule(name: "a", origin: origin, file: file, line: 1, conditions: [.uid(Self.uid)], action: .show)
    }
    #expect(AlwaysRules.precede(rule("/etc/a.conf", .system)) && AlwaysRules.precede(rule("/x/lamp.conf")))
    #expect(!AlwaysRules.precede(rule("/x/added.conf")) && !AlwaysRules.precede(rule("/x/always.conf")))
  }
}
