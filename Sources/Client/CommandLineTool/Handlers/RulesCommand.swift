import EventLoop
import Handlers
import Names
import Routing
import Settings
import TagrouteClient

extension Command {
  static let rules = Command(
    name: "rules", summary: "list, check, add and remove the rules for tags",
    details: """
      Rules are in *.conf files in $XDG_CONFIG_HOME/tagroute/rules.d, and in
      /etc/tagroute/rules.d for all users. The first rule that matches a tag decides.
      The agent sees changes at once. add writes into the file added.conf of the first
      directory. A UID can be copied: --no-ask is for what a stranger may do, too.

      --check prints FILE:LINE, the error and the fix, and warns of a program or an
      app that is not there, and of a rule that never acts. With FILE it checks files
      that are not installed yet. It needs no agent. Exit code 1: there is an error.

      ID is an app's id, such as org.example.Menu. If the agent runs, also its name.
      """,
    severalForms: [
      .init(
        nil, "", "list the rules, in the order in which they are tried",
        [.init("check", "print only errors", formArguments: "[FILE…]")]),
      .init("add", "NAME", "write a rule for one tag, or for an app", RulesAdd.options, usages: RulesAdd.usages),
      .init("remove", "NAME", "remove a rule of yours from its file"),
    ]
  ) { arguments, console throws(Failure) in
    let files = RuleFiles()
    switch arguments.words.first {
    case "add":
      let apps =
        ["open", "handler"].contains(where: arguments.has)
        ? await KnownApps.of(try? AgentClient.own()) : KnownApps([])
      return try await RulesAdd(arguments, files, apps).run(arguments, console)
    case "remove": return try remove(arguments.words[1], from: files, console)
    default: break
    }
    guard arguments.has("check") else { return try list(files.read(), console) }
    let contents = arguments.words.isEmpty ? [files.read()] : arguments.words.map(RuleFiles.check)
    let problems = contents.flatMap(\.problems)
    let warnings = contents.flatMap { $0.warnings() }
    try console.answer(
      problems.map { RuleProblem($0) } + warnings.map { RuleProblem($0, isWarning: true) },
      problems.map(\.description) + warnings.map(Self.warning),
      verdicts: problems.map { ($0.place, .red) } + warnings.map { ($0.place, .yellow) })
    return problems.isEmpty ? 0 : 1
  }

  fileprivate static func warning(_ error: KeyFileError) -> String {
    "\(error.file):\(error.line ?? 1): warning: \(error.problem): \(error.remedy)"
  }

  private static func list(_ content: RuleFiles.Content, _ console: Console) throws(Failure) -> Int32 {
    try console.answer(content.descriptions, lines(content))
    return 0
  }

  private static func lines(_ content: RuleFiles.Content) -> [String] {
    let warnings = Dictionary(grouping: content.warnings(), by: \.place)
    let lines = content.descriptions.flatMap { rule in
      let place = "\(rule.file):\(rule.line)"
      return ["\(rule.name): \(effect(of: rule))", "  if \(rule.words.joined(separator: " and "))", "  \(place)"]
        + (warnings[place] ?? []).map { "  warning: \($0.problem)" }
    }
    let count = content.problems.count
    let errors = count == 0 ? [] : ["\(count) error\(count == 1 ? "" : "s"): run tagroute rules --check"]
    return (lines.isEmpty ? ["there are no rules"] : lines) + errors
  }

  private static func effect(of rule: RuleDescription) -> String {
    let action =
      switch rule.action {
      case "open": "open \(rule.arguments.map(AppID.text).joined())"
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
    try console.answer(["name": name, "file": file] as JSON, ["\(name): removed from \(file)"])
    return 0
  }
}

/// A mistake in a file of rules, for a script.
private struct RuleProblem: Encodable {
  let file: String
  @OrNull var line: Int?
  let problem: String
  let remedy: String
  /// The rule holds nevertheless.
  let warning: Bool

  init(_ error: KeyFileError, isWarning: Bool = false) {
    file = error.file
    _line = OrNull(wrappedValue: error.line)
    problem = error.problem
    remedy = error.remedy
    warning = isWarning
  }
}

/// `tagroute rules add`: writes a rule for one tag, or for the tags of one app.
struct RulesAdd: Sendable {
  private let name: String
  private let action: TapRule.Action
  private let asks: Bool
  private let apps: KnownApps
  /// The name of the rule that is tried after this one; nil to write this one last.
  private let next: String?
  private let files: RuleFiles

  /// In the order of docs/recipes.md.
  static let usages = ["{--open ID | --show | --ignore}", "--run PROGRAM [ARGUMENT…]"].map {
    "NAME {--uid UID | --wait | --handler ID} [OPTION…] \($0)"
  }

  static let options: [Command.Option] =
    [
      .init("uid", "UID", "the tag with this UID, such as 04A2195A"),
      .init("wait", "wait for the tag, and use its UID"),
      .init("handler", "ID", "all tags that this app opens without a question"),
      .init("contents", "with --wait: only while the tag holds the message that it holds now"),
      .init("open", "ID", "open the link in this app, or in the default one"),
      .init(
        "run", "PROGRAM", "run a program with the ARGUMENTs; write -- before one that begins with -",
        formArguments: "NAME [ARGUMENT…]"),
      .init("show", "show what is on the tag"),
      .init("ignore", "do nothing"),
      .init("no-ask", "open or run without a click, unless the session is locked"),
      .init("before", "RULE", "write it before this rule, so that it is tried first"),
    ] + TagCommand.options

  /// The apps are those whose names may stand for ids.
  init(_ arguments: Arguments, _ files: RuleFiles, _ apps: KnownApps) throws(Failure) {
    let actions = ["open", "run", "show", "ignore"].filter(arguments.has)
    let words = arguments.words.dropFirst()
    guard let name = words.first, actions.count == 1, let action = actions.first else {
      throw .usage("give one of --open, --run, --show and --ignore")
    }
    guard !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
      throw .usage("the name of a rule is one line")
    }
    self.name = name
    self.apps = apps
    switch action {
    case "open":
      let id = arguments.options["open"] ?? ""
      self.action = id == "default" ? .openDefault : .open(try apps.id(of: id))
    case "run": self.action = .run([arguments.options["run"] ?? ""] + words.dropFirst())
    case "show": self.action = .show
    default: self.action = .ignore
    }
    asks = !arguments.has("no-ask")
    guard asks || ["open", "run"].contains(action) else { throw .usage("--no-ask goes with --open or --run") }
    next = arguments.options["before"]
    self.files = files
  }

  /// Writes the rule, after the tag was held to the reader if the options say so. Returns the exit code.
  func run(_ arguments: Arguments, _ console: Console) async throws(Failure) -> Int32 {
    guard ["uid", "wait", "handler"].count(where: arguments.has) == 1 else {
      throw .usage("give one of --uid, --wait and --handler")
    }
    guard arguments.has("wait") else {
      if let other = ["contents", "reader", "timeout"].first(where: arguments.has) {
        throw .usage("--\(other) goes with --wait")
      }
      let rule = try write(try conditions(arguments))
      try console.answer(report(rule), lines(rule))
      return 0
    }
    let isBound = arguments.has("contents")
    let options = ReaderSessionOptions(message: SheetMessages.any)
    return try await TagCommand(options, arguments, console) { tag, output throws(Failure) in
      let message = isBound ? try await TagStatusReport.of(tag).message : nil
      if isBound, message?.isEmpty ?? true {
        throw Failure(
          message: "the tag holds no NDEF message: leave out --contents", exitCode: Names.ExitCode.failure,
          sheet: SheetMessages.noMessage)
      }
      let digest = message.map { TapRule.Condition.message(MessageDigest.sha256($0)) }
      let rule = try write([try Self.condition(tag.uid, technology: tag.technology)] + [digest].compactMap(\.self))
      try await output.answer(report(rule), lines(rule))
    }.run()
  }

  private func conditions(_ arguments: Arguments) throws(Failure) -> [TapRule.Condition] {
    if let id = arguments.options["handler"] { return [.handler(try apps.id(of: id))] }
    guard let uid = UIDText.bytes(arguments.options["uid"] ?? "") else {
      throw .usage("--uid takes 4 to 10 bytes, such as 04A2195A")
    }
    return [try Self.condition(uid)]
  }

  /// The technology is that of the tag at the reader; empty if there is none.
  static func condition(_ uid: [UInt8], technology: String = "") throws(Failure) -> TapRule.Condition {
    guard let obstacle = UIDText.obstacle(toRuleWith: uid, technology: technology) else { return .uid(uid) }
    let reason =
      switch obstacle {
      case .changes: "the tag has another UID at each tap, or none"
      case .mayChange: "a Type B tag may have another UID at each tap"
      }
    throw Failure(message: "\(reason): write a rule with another condition", exitCode: Names.ExitCode.failure)
  }

  private func write(_ conditions: [TapRule.Condition]) throws(Failure) -> TapRule {
    do throws(KeyFileError) {
      let rule = try files.add(RuleDraft(name: name, conditions: conditions, action: action, asks: asks), before: next)
      for error in HandlerCheck.missing(for: rule) { Console.warn(Command.warning(error)) }
      return rule
    } catch {
      // A mistake with a line is one in the new rule, which is not in the file.
      let mistake = error.line == nil ? "\(error)" : "\(error.problem): \(error.remedy)"
      throw Failure(message: mistake, exitCode: Names.ExitCode.configuration)
    }
  }

  private func report(_ rule: TapRule) -> JSON { ["name": rule.name, "file": rule.file, "line": rule.line] }

  private func lines(_ rule: TapRule) -> [String] { ["\(rule.name): added to \(rule.file):\(rule.line)"] }
}
