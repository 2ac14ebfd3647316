/// What a person wants of the inbox.
enum InboxAction: Equatable {
  case list(state: String?, limit: Int, before: String?)
  case show(String)
  case open(String, handler: String?)
  case dismiss(String)
  /// Nil is all of them.
  case export(String?, OutputFile)
  case clear(InboxClear)

  /// What one command may name.
  static let maximumIDs = 500
  private static let actions = ["show", "open", "dismiss", "export", "clear"]

  /// - Parameter arguments: the whole command.
  /// - Throws: a usage failure.
  init(_ arguments: Arguments) throws(Failure) {
    let action = arguments.words.first
    let words = arguments.words.dropFirst()
    guard action.map(Self.actions.contains) ?? true else {
      throw .usage("say tagroute inbox, or tagroute inbox \(Self.actions.joined(separator: ", "))")
    }
    let allowed: Set<String> =
      switch action {
      case "open": ["handler"]
      case "export": ["all", "force"]
      case "clear": ["all", "older-than", "yes"]
      case nil: ["before", "limit", "state"]
      default: []
      }
    if let other = arguments.options.keys.sorted().first(where: { $0 != "json" && !allowed.contains($0) }) {
      throw .usage("tagroute inbox\(action.map { " " + $0 } ?? "") has no option --\(other)")
    }
    // Empty is what a variable gives that is not set.
    guard !words.contains(""), arguments.options.allSatisfy({ $0.value != "" || Self.flags.contains($0.key) }) else {
      throw .usage("an argument is empty")
    }
    let isAll = arguments.has("all")
    switch (action, words.first, words.count) {
    case (nil, _, _):
      self = .list(
        state: arguments.options["state"], limit: try arguments.number("limit", in: 1...100_000) ?? 100,
        before: arguments.options["before"])
    case ("show", let id?, 1): self = .show(id)
    case ("open", let id?, 1): self = .open(id, handler: arguments.options["handler"])
    case ("dismiss", let id?, 1): self = .dismiss(id)
    case ("export", let file?, 1) where isAll:
      self = .export(nil, OutputFile(path: file, overwrites: arguments.has("force")))
    case ("export", let id?, 2) where !isAll:
      self = .export(id, OutputFile(path: arguments.words[2], overwrites: arguments.has("force")))
    case ("export", _, _): throw .usage("say tagroute inbox export ID FILE, or export --all FILE")
    case ("clear", _, _): self = .clear(try InboxClear(Array(words), arguments))
    case (let action?, _, _): throw .usage("say tagroute inbox \(action) ID")
    }
  }

  private static let flags: Set<String> = ["all", "force", "json", "yes"]

  /// Looks at what needs no agent.
  ///
  /// - Throws: a failure that no answer of the agent would mend.
  func checkBeforehand(_ console: Console) throws(Failure) {
    switch self {
    case .export(let id, let file): try file.check(isText: id == nil, console)
    case .clear(let clearing): try clearing.checkConfirmation()
    default: break
    }
  }
}
