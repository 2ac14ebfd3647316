import Handlers
import Routing
import Settings
import TagrouteClient
import TagsPages
import Testing

struct RuleEntryTests {
  private static func rule(
    _ action: TapRule.Action, asks: Bool = true, origin: TapRule.Origin = .user, line: Int = 1,
    conditions: [TapRule.Condition] = [.uid([4, 1, 2, 3])], onRemove: [String] = [], sound: String? = nil
  ) -> TapRule {
    TapRule(
      name: "menu", origin: origin, file: "/rules.d/a.conf", line: line, conditions: conditions, action: action,
      asks: asks, onRemove: onRemove, sound: sound)
  }

  private static func entries(_ rules: [TapRule], _ warnings: [KeyFileError] = []) -> [RuleEntry] {
    RuleEntry.all(RuleFiles.Content(rules: rules), warnings: warnings) {
      $0 == "org.example.Menu.desktop" ? "Menu" : nil
    }
  }

  @Test func eachEffectIsInWords() {
    let rules: [(TapRule.Action, Bool, String)] = [
      (.open("org.example.Menu.desktop"), true, "Opens Menu"), (.open("x.desktop"), false, "Opens x without a click"),
      (.openDefault, true, "Opens the default app"), (.openDefault, false, "Opens the default app without a click"),
      (.run(["mpc", "play it"]), true, "Runs mpc 'play it'"), (.run(["mpc"]), false, "Runs mpc without a click"),
      (.show, true, "Shows what is on the tag"), (.ignore, true, "Ignores the tag"),
    ]
    for (action, asks, effect) in rules { #expect(Self.entries([Self.rule(action, asks: asks)])[0].effect == effect) }
  }

  @Test func aRuleHasItsConditionsAndWarnings() {
    let rule = Self.rule(
      .ignore, conditions: [.uid([4, 1, 2, 3]), .handler("org.example.Menu.desktop"), .mimeType("image/*")],
      onRemove: ["mpc", "stop"], sound: "bell")
    let warning = KeyFileError(file: rule.file, line: 1, problem: "never acts", remedy: "remove it")
    let other = KeyFileError(file: rule.file, line: 9, problem: "x", remedy: "y")
    let entry = Self.entries([rule], [warning, other])[0]
    #expect(entry.rows.map(\.text) == ["04010203", "Menu", "image/*", "mpc stop", "bell", "/rules.d/a.conf:1"])
    #expect(entry.warnings == ["never acts: remove it"] && entry.canRemove && entry.ruleName == "menu")
  }

  @Test func theAdministratorsRulesComeLastAndStay() {
    let entries = Self.entries([Self.rule(.show, origin: .system), Self.rule(.ignore, line: 5)])
    #expect(entries.map(\.canRemove) == [true, false])
  }

  @Test func mistakesHaveTheirPlace() {
    let error = KeyFileError(file: "/a.conf", line: 3, problem: "the rule has no action", remedy: "add one")
    let rows = RuleEntry.mistakes(RuleFiles.Content(problems: [error]))
    #expect(rows.map(\.title) == ["/a.conf:3"] && rows.map(\.text) == ["the rule has no action: add one"])
  }
}

struct TrialTests {
  private static func report(_ change: (inout Resolution) -> Void) -> TrialReport {
    var resolution = Resolution()
    (resolution.question, resolution.reason) = ("nothing", "why")
    change(&resolution)
    return TrialReport(resolution) { $0 == "menu.desktop" ? "Menu" : nil }
  }

  @Test func aLinkOrAUIDIsUnderstood() throws {
    #expect(try TrialTag(typed: " example.com/menu ") == .link("https://example.com/menu"))
    #expect(try TrialTag(typed: "tel:+1") == .link("tel:+1"))
    let tag = TrialTag.tag(PickedTag(uid: [4, 0xA2, 0x19, 0x5A], technology: "", message: nil))
    for typed in ["04A2195A", "04:a2:19:5a", " 04-A2-19-5A"] { #expect(try TrialTag(typed: typed) == tag) }
    for typed in ["", "menu", "04A2"] { #expect(throws: TrialTag.Mistake.self) { try TrialTag(typed: typed) } }
  }

  @Test func eachDecisionIsInWords() {
    let reports = [
      Self.report { ($0.kind, $0.handler) = ("universal-link", "menu.desktop") },
      Self.report { ($0.kind, $0.question) = ("universal-link", "which") },
      Self.report { $0.kind = "default" }, Self.report { $0.kind = "none" }, Self.report { $0.kind = "refused" },
      Self.report { $0.kind = "wifi" }, Self.report { ($0.kind, $0.action, $0.rule) = ("rule", "run", "lamp") },
      Self.report { ($0.kind, $0.action, $0.rule, $0.asks) = ("rule", "open", "lamp", false) },
    ]
    #expect(
      reports.map(\.verdict) == [
        "Opens Menu", "Asks which app to open", "Opens the default app", "Opens no app", "Nothing opens this link",
        "Offers to join the network", "Runs a program", "Opens no app",
      ])
    #expect(reports.allSatisfy { $0.reason == "why" })
    #expect(reports.last?.rows.map(\.text) == ["None: it happens without a click", "lamp"])
  }

  @Test func stepsAreBounded() {
    let report = Self.report { $0.steps = (0..<2000).map { "step \($0) \u{202E}" } }
    #expect(report.steps.count == TrialReport.mostSteps && report.steps[0] == "step 0")
  }
}
