import EventLoop
import Handlers
import Names
import Settings

extension Command {
  static let rules = Command(
    name: "rules", summary: "list, check, add and remove the rules for tags",
    details: """
      Rules are in *.conf files in $XDG_CONFIG_HOME/tagroute/rules.d, and in
      /etc/tagroute/rules.d for all users. The first rule that matches a tag decides.
      The agent sees changes at once. add writes into the file added.conf of the first
      directory. A UID can be copied: --no-ask is for what a stranger may do, too.

      --check prints FILE:LINE, the error and the fix. With FILE it checks files that
      are not installed yet. It needs no agent. Exit code 1: there is an error.
      """,
    severalForms: [
      .init(
        nil, "[--check [FILE…]]", "list the rules, in the order in which they are tried",
        [.init("check", "print only errors")]),
      .init("add", "NAME [ARGUMENT…]", "write a rule for one tag, or for an app", RulesAdd.options),
      .init("remove", "NAME", "remove a rule of yours from its file"),
    ], words: 0...100
  ) { arguments, console throws(Failure) in
    let files = RuleFiles()
    if arguments.words.first == "remove", !arguments.has("check") {
      guard arguments.words.count == 2 else { throw .usage("use tagroute rules remove NAME") }
      return try remove(arguments.words[1], from: files, console)
    }
    if arguments.words.first == "add", !arguments.has("check") {
      return try await RulesAdd(arguments, files).run(arguments, console)
    }
    guard arguments.has("check") else {
      guard arguments.words.isEmpty else {
        throw .usage("use tagroute rules, tagroute rules add NAME, or tagroute rules remove NAME")
      }
      return try list(files.read(), console)
    }
    let problems =
      arguments.words.isEmpty ? files.read().problems : arguments.words.flatMap { RuleFiles.check($0).problems }
    try console.answer(problems.map(RuleProblem.init), problems.map(\.description))
    return problems.isEmpty ? 0 : 1
  }

  private static func list(_ content: RuleFiles.Content, _ console: Console) throws(Failure) -> Int32 {
    let rules = content.descriptions
    let lines = rules.flatMap { rule in
      [
        "\(rule.name): \(effect(of: rule))", "  if \(rule.conditions.joined(separator: " and "))",
        "  \(rule.file):\(rule.line)",
      ]
    }
    let count = content.problems.count
    let errors = count == 0 ? [] : ["\(count) error\(count == 1 ? "" : "s"): run tagroute rules --check"]
    try console.answer(rules, (lines.isEmpty ? ["there are no rules"] : lines) + errors)
    return 0
  }

  private static func effect(of rule: RuleDescription) -> String {
    let action =
      switch rule.action {
      case "open": "open \(rule.arguments.joined())"
      case "open-default": "open the default application"
      case "run": "run \(rule.arguments.joined(separator: " "))"
      default: rule.action
      }
    let removal = rule.onRemove.isEmpty ? "" : "; when the tag is removed: \(rule.onRemove.joined(separator: " "))"
    return (rule.asks ? action : "\(action), without a click") + removal
  }

  private static func remove(_ name: String, from files: RuleFiles, _ console: Console) throws(Failure) -> Int32 {
    let removed: String?
    do throws(KeyFileError) { removed = try files.remove(name) } catch {
      throw Failure(message: "\(error)", exitCode: Names.ExitCode.configuration)
    }
    guard let file = removed else {
      throw Failure(
        message: "there is no rule \(name), or it has an error: run tagroute rules --check",
        exitCode: Names.ExitCode.noInput)
    }
    try console.answer(["name": name, "file": file] as JSON)
    return 0
  }
}

/// A mistake in a file of rules, for a script.
private struct RuleProblem: Encodable {
  let file: String
  @OrNull var line: Int?
  let problem: String
  let remedy: String

  init(_ error: KeyFileError) {
    file = error.file
    _line = OrNull(wrappedValue: error.line)
    problem = error.problem
    remedy = error.remedy
  }
}
