/// The action that an `inbox` command requests.
enum InboxAction: Equatable {
  case list(state: String?, limit: Int, before: String?)
  case show(String)
  case open(String, handler: String?)
  case dismiss(String)
  /// A tap, or one of its records, counted from 1; without an id all taps.
  case export(String?, record: Int?, OutputFile)
  case clear(InboxClear)

  /// The most ids in one command.
  static let maximumIDs = 500
  private static let actions = ["show", "open", "dismiss", "export", "clear"]

  init(_ arguments: Arguments) throws(Failure) {
    let action = arguments.words.first
    let words = arguments.words.dropFirst()
    guard action.map(Self.actions.contains) ?? true else {
      throw .usage("use tagroute inbox, or tagroute inbox \(Self.actions.joined(separator: ", "))")
    }
    // A variable that is not set gives an empty argument.
    let values = Command.inbox.forms.flatMap(\.options).filter { $0.argument != nil }.map { arguments.options[$0.name] }
    guard !words.contains(""), !values.contains("") else { throw .usage("an argument is empty") }
    let isAll = arguments.has("all")
    switch (action, words.first, words.count) {
    case (nil, _, _):
      self = .list(
        state: arguments.options["state"], limit: try arguments.number("limit", in: 1...100_000) ?? 100,
        before: arguments.options["before"])
    case ("show", let id?, 1): self = .show(id)
    case ("open", let id?, 1): self = .open(id, handler: arguments.options["handler"])
    case ("dismiss", let id?, 1): self = .dismiss(id)
    case ("export", let file?, 1) where isAll && !arguments.has("record"):
      self = .export(nil, record: nil, OutputFile(path: file, overwrites: arguments.has("force")))
    case ("export", let id?, 2) where !isAll:
      self = .export(
        id, record: try arguments.number("record", in: 1...100_000),
        OutputFile(path: arguments.words[2], overwrites: arguments.has("force")))
    case ("export", _, _): throw .usage("use tagroute inbox export ID FILE, or tagroute inbox export --all FILE")
    case ("clear", _, _): self = .clear(try InboxClear(Array(words), arguments))
    case (let action?, _, _): throw .usage("use tagroute inbox \(action) ID")
    }
  }

  /// Checks everything that needs no agent.
  func checkBeforehand(_ console: Console) throws(Failure) {
    switch self {
    case .export(let id, _, let file): try file.check(isText: id == nil, console)
    case .clear(let clearing): try clearing.checkConfirmation()
    default: break
    }
  }
}
