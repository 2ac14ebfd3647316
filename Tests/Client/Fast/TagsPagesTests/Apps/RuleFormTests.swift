import Handlers
import Names
import Routing
import TagsPages
import Testing
import UniversalLinks

struct RuleFormTests {
  private static let uid: [UInt8] = [0x04, 0xA2, 0x19, 0x5A]
  private var form = RuleForm()

  init() { (form.name, form.uid) = ("menu", "04A2195A") }

  private static func rule(
    _ name: String, _ conditions: [TapRule.Condition], file: String = "/h/rules.d/added.conf", line: Int = 1
  ) -> TapRule {
    TapRule(name: name, origin: .user, file: file, line: line, conditions: conditions, action: .show)
  }

  private func mistakes(_ rules: [TapRule] = []) -> [RuleForm.Field: String] {
    if case .failure(let mistakes) = form.rule(RuleFiles.Content(rules: rules)) { mistakes.texts } else { [:] }
  }

  private func draft(_ rules: [TapRule] = []) throws -> RuleDraft {
    try form.rule(RuleFiles.Content(rules: rules)).get()
  }

  @Test mutating func aRuleForATag() throws {
    form.name = "  my menu "
    let draft = try draft()
    #expect(
      draft.name == "my menu" && draft.conditions == [.uid(Self.uid)] && draft.action == .openDefault && draft.asks)
  }

  @Test mutating func aTagThatWasShownFillsTheFormIn() throws {
    form.subject = .link
    form.take(PickedTag(uid: [4, 1, 2, 3], technology: "type-2", message: [0xD0, 0, 0]))
    #expect(form.subject == .tag && form.uid == "04010203" && form.knownMessage == [0xD0, 0, 0])
    form.isForMessage = true
    let digest = MessageDigest.sha256([0xD0, 0, 0])
    #expect(try draft().conditions == [.uid([4, 1, 2, 3]), .message(digest)])
    // Another UID is that of another tag.
    form.uid = "04A2195A"
    #expect(form.knownMessage == nil)
    #expect(try draft().conditions == [.uid(Self.uid)])
  }

  @Test mutating func eachConditionCanBeWritten() throws {
    form.subject = .link
    for (typed, text) in [
      ("https://example.com/menu", "https://example.com/menu"), (" example.com/menu ", "https://example.com/menu"),
      ("https://*.example.com/menu/*", "https://*.example.com/menu/*"), ("*.example.com/*", "https://*.example.com/*"),
      ("tel:+1*", "tel:+1*"),
    ] {
      form.link = typed
      #expect(try draft().conditions == [.link(try LinkCondition(text))], "\(typed)")
    }
    form.subject = .type
    for (typed, condition) in [
      ("text/vcard", .mimeType("text/vcard")), ("Image/*", .mimeType("image/*")),
      ("example.com:Ticket", .externalType("example.com:ticket")),
    ] as [(String, TapRule.Condition)] {
      form.type = typed
      #expect(try draft().conditions == [condition], "\(typed)")
    }
    (form.subject, form.app) = (.app, "org.example.Menu")
    #expect(try draft().conditions == [.handler("org.example.Menu.desktop")])
  }

  @Test mutating func eachActionCanBeWritten() throws {
    form.skipsClick = true
    form.openedApp = "org.example.Menu"
    (form.program, form.arguments) = ("mpc", #"play "Good morning" a\ b '\'"#)
    let actions: [TapRule.Action] = [
      .openDefault, .open("org.example.Menu.desktop"), .run(["mpc", "play", "Good morning", "a b", "\\"]), .show,
      .ignore,
    ]
    for (effect, action) in zip(RuleForm.Effect.allCases, actions) {
      form.effect = effect
      let draft = try draft()
      #expect(draft.action == action && draft.asks == !effect.canSkipClick)
    }
  }

  @Test(
    arguments: [
      (\.name, "", .name), (\.name, "  ", .name), (\.name, "a\u{202E}b", .name), (\.uid, "", .uid),
      (\.uid, "04A2", .uid),
      (\.uid, "not a uid", .uid), (\.uid, "08112233", .uid),
    ] as [(any WritableKeyPath<RuleForm, String> & Sendable, String, RuleForm.Field)])
  mutating func aMistakeIsBesideItsField(
    path: any WritableKeyPath<RuleForm, String> & Sendable, text: String, field: RuleForm.Field
  ) {
    form[keyPath: path] = text
    #expect(Array(mistakes().keys) == [field])
  }

  @Test mutating func mistakesOfTheOtherConditionsAndActions() {
    form.name = String(repeating: "x", count: 101)
    #expect(mistakes()[.name] != nil)
    form.name = "menu"
    form.take(PickedTag(uid: [1, 2, 3, 4], technology: "type-4b", message: nil))
    #expect(mistakes()[.uid] == "This tag may have another UID each time. Choose another condition.")
    form.subject = .link
    for link in ["", "no link", "http*://example.com", "https://*"] {
      form.link = link
      #expect(Array(mistakes().keys) == [.link], "\(link)")
    }
    form.subject = .type
    for type in ["", "text", "text/", "a:", "text/plain; charset=x"] {
      form.type = type
      #expect(mistakes() == [.type: "Write a type such as text/vcard, image/* or example.com:ticket."], "\(type)")
    }
    (form.subject, form.app) = (.app, "")
    #expect(Array(mistakes().keys) == [.app])
    (form.app, form.effect, form.openedApp) = ("a", .open, "")
    #expect(Array(mistakes().keys) == [.openedApp])
    for id in ["a b", "a/b", "default"] {
      form.openedApp = id
      #expect(Array(mistakes().keys) == [.openedApp], "\(id)")
    }
    form.effect = .run
    for program in ["", "mpc play", "bin/mpc", "~/mpc"] {
      form.program = program
      #expect(Array(mistakes().keys) == [.program], "\(program)")
    }
    (form.program, form.arguments) = ("mpc", "\"play")
    #expect(Array(mistakes().keys) == [.arguments])
    form.arguments = (0..<64).map { "\($0)" }.joined(separator: " ")
    #expect(Array(mistakes().keys) == [.program])
  }

  @Test mutating func severalMistakesAreShownTogether() {
    (form.name, form.uid, form.effect) = ("", "", .run)
    #expect(Set(mistakes().keys) == [.name, .uid, .program])
  }

  @Test mutating func aNameIsUsedOnce() {
    let other = Self.rule("menu", [.technology("type-2")])
    #expect(mistakes([other]) == [.name: "Another rule has this name."])
  }

  @Test mutating func aRuleThatWouldNeverActHasToBePutBefore() throws {
    let rules = [Self.rule("first", [.uid(Self.uid)]), Self.rule("second", [.technology("type-2")], line: 4)]
    #expect(
      mistakes(rules) == [
        .position: "The rule “first” is tried first and takes each such tag. Put this one before it."
      ])
    form.next = "second"
    #expect(Array(mistakes(rules).keys) == [.position])
    form.next = "first"
    #expect(try draft(rules).name == "menu")
    // It was removed meanwhile.
    #expect(mistakes([]) == [.position: "This rule is not there any more."])
  }

  @Test(
    arguments: [
      ("", []), ("  ", []), ("a b", ["a", "b"]), (#""a b" 'c d'"#, ["a b", "c d"]), (#"a"b c"d"#, ["ab cd"]),
      (#"''"#, [""]),
      (#"\"a\""#, [#""a""#]), (#""a\"b""#, [#"a"b"#]), (#"'a\b'"#, [#"a\b"#]),
      ("$(id) `id` ~ *", ["$(id)", "`id`", "~", "*"]),
      ("a\tb\nc", ["a", "b", "c"]), (#""a"#, nil), (#"'a"#, nil), (#"a\"#, nil), ("\"\u{301}a\"", ["\u{301}a"]),
    ] as [(String, [String]?)])
  func argumentsAreWords(text: String, words: [String]?) {
    #expect(ProgramArguments.words(text) == words)
  }
}
