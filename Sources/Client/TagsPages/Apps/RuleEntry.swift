package import Handlers
import Names
import Notifications
import Routing
package import Settings

/// A rule in the list of rules, in the user's words. All texts are safe to show.
package struct RuleEntry: Sendable, Hashable {
  /// File and line.
  package let id: String
  package let name: String
  /// As it is in the file.
  package let ruleName: String
  package let effect: String
  /// Its conditions, and what else it says.
  package let rows: [TapDetails.Row]
  /// Why it never acts, or not as it is meant.
  package let warnings: [String]
  /// Whether it is the user's own.
  package let canRemove: Bool

  /// In the order in which they are tried. `name` gives the name of an app.
  package static func all(
    _ content: RuleFiles.Content, warnings: [KeyFileError], name: (_ desktopID: String) -> String?
  ) -> [RuleEntry] {
    let warnings = Dictionary(grouping: warnings, by: \.place)
    return RuleSet(content.rules).rules.map { rule in
      RuleEntry(rule, warnings["\(rule.file):\(rule.line)"] ?? [], name)
    }
  }

  /// The mistakes in the files, in the order of the files.
  package static func mistakes(_ content: RuleFiles.Content) -> [TapDetails.Row] {
    content.problems.map { error in
      TapDetails.Row(
        title: DisplayText(error.place).string,
        text: DisplayText("\(error.problem): \(error.remedy)", limit: 500).string)
    }
  }

  private init(_ rule: TapRule, _ warnings: [KeyFileError], _ name: (String) -> String?) {
    id = "\(rule.file):\(rule.line)"
    ruleName = rule.name
    self.name = DisplayText(rule.name).string
    effect = Self.effect(of: rule, name)
    self.warnings = warnings.map { DisplayText("\($0.problem): \($0.remedy)", limit: 500).string }
    canRemove = rule.origin == .user
    var rows = rule.conditions.map { condition in
      let text: String
      if case .handler(let id) = condition { text = AppEntry.title(id, name(id)) } else { text = condition.value }
      return TapDetails.Row(title: Self.title(of: condition), text: DisplayText(text, limit: 500).string)
    }
    if !rule.onRemove.isEmpty {
      rows.append(
        TapDetails.Row(title: translated("When the tag is removed"), text: Self.command(rule.onRemove)))
    }
    if let sound = rule.sound { rows.append(TapDetails.Row(title: translated("Sound"), text: sound)) }
    rows.append(TapDetails.Row(title: translated("File"), text: DisplayText(id).string))
    self.rows = rows
  }

  private static func effect(of rule: TapRule, _ name: (String) -> String?) -> String {
    switch (rule.action, rule.asks) {
    case (.open(let id), true): translated("Opens {app}", ["app": AppEntry.title(id, name(id))])
    case (.open(let id), false): translated("Opens {app} without a click", ["app": AppEntry.title(id, name(id))])
    case (.openDefault, true): translated("Opens the default app")
    case (.openDefault, false): translated("Opens the default app without a click")
    case (.run(let arguments), true): translated("Runs {program}", ["program": command(arguments)])
    case (.run(let arguments), false):
      translated("Runs {program} without a click", ["program": command(arguments)])
    case (.show, _): translated("Shows what is on the tag")
    case (.ignore, _): translated("Ignores the tag")
    }
  }

  private static func command(_ arguments: [String]) -> String {
    DisplayText(arguments.map(ShellWord.quoted).joined(separator: " "), limit: 500).string
  }

  private static func title(of condition: TapRule.Condition) -> String {
    switch condition {
    case .uid: translated("UID of the tag")
    case .link: translated("Link")
    case .mimeType: translated("Media type of a record")
    case .externalType: translated("External type of a record")
    case .text: translated("Text")
    case .message: translated("Whole message")
    case .technology: translated("Kind of tag")
    case .reader: translated("Reader")
    case .handler: translated("App that opens it without this rule")
    }
  }
}
