import Bus
import Glibc
import Names
import TagrouteClient

extension Command {
  static let inbox = Command(
    name: "inbox", summary: "list, show, open, export and remove the taps that the agent has kept",
    details: """
      The list has the beginning of each id, the time, the state, the app and the
      content of the tag. ID is the id of a tap, or a unique beginning of it.

      Exit codes: 1 the app refused it, has it already, or no app opens the link; 66
      no such tap; 69 the agent is not running; 73 FILE cannot be written; 75 not
      possible now: you have to choose or allow an app, or the tap is being opened; 76
      the app did not reply, and may have opened it.
      """,
    severalForms: [
      .init(
        nil, "", "list the taps, newest first",
        [
          .init(
            "state", "STATE",
            "only taps in this state: received, shown, opening, delivered, dismissed, failed or expired"),
          .init("limit", "NUMBER", "list at most this many, 1 to 100000; the default is 100"),
          .init("before", "ID", "only taps that came before this one"),
        ]),
      .init("show", "ID", "print all details of a tap"),
      .init(
        "open", "ID", "open a tap like a click on its notification, and wait until the app has it",
        [
          .init(
            "handler", "APP",
            "open it with this app, one of those that claim the link; required if there are several, or if it is not "
              + "allowed yet")
        ]),
      .init("dismiss", "ID", "remove a tap from the screen"),
      .init(
        "export", "ID FILE", "write the NDEF message of a tap; - is standard output",
        [
          .init("all", "write all taps, one per line, as inbox show --json prints them", formArguments: "FILE"),
          .init("record", "NUMBER", "with ID: write only the data of this record, as inbox show numbers it"),
          .init("force", "overwrite FILE"),
        ]),
      .init(
        "clear", "[ID…]", "remove these taps for good, or all that are not on the screen",
        [
          .init("older-than", "DAYS", "only taps that were read more than this many days ago", formArguments: ""),
          .init("all", "also remove taps on the screen; a tap that is being opened stays", formArguments: ""),
          .init("yes", "do not ask; required if standard input is not a terminal"),
        ]),
    ]
  ) { arguments, console throws(Failure) in
    let action = try InboxAction(arguments)
    try action.checkBeforehand(console)
    let inbox = InboxReader(agent: try await AgentClient.own())
    switch action {
    case .list(let state, let limit, let before):
      try await InboxList(inbox: inbox, console: console).print(state: state, limit: limit, before: before)
    case .show(let id): try await InboxTap(inbox, id).print(console)
    case .open(let id, let handler): try await InboxTap(inbox, id).open(in: handler, console)
    case .dismiss(let id): try await InboxTap(inbox, id).dismiss(console)
    case .export(let id?, let record, let file): try await InboxExport(inbox, file, console).write(id, record: record)
    case .export(nil, _, let file): try await InboxExport(inbox, file, console).writeAll()
    case .clear(let clearing): return try await clearing.run(inbox, console)
    }
    return 0
  }
}

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

  /// The arguments are those of the form.
  init(_ arguments: Arguments) throws(Failure) {
    let words = Array(arguments.words.dropFirst())
    switch (arguments.words.first, words.first) {
    case ("show", let id?): self = .show(id)
    case ("open", let id?): self = .open(id, handler: arguments.options["handler"])
    case ("dismiss", let id?): self = .dismiss(id)
    case ("export", let first?):
      let isAll = arguments.has("all")
      guard !isAll || !arguments.has("record") else { throw .usage("use only one of --all and --record") }
      self = .export(
        isAll ? nil : first, record: try arguments.number("record", in: 1...100_000),
        OutputFile(path: words.last ?? first, overwrites: arguments.has("force")))
    case ("clear", _): self = .clear(try InboxClear(words, arguments))
    default:
      self = .list(
        state: arguments.options["state"], limit: try arguments.number("limit", in: 1...100_000) ?? 100,
        before: arguments.options["before"])
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

struct InboxReader: Sendable {
  let agent: AgentClient
  /// The most taps in one reply of the agent.
  private static let page = 1000

  /// Calls the agent. Its error becomes the command's failure.
  func call<Result>(_ body: (AgentClient) async throws(BusError) -> Result) async throws(Failure) -> Result {
    try await Failure.asking(.agent) { () async throws(BusError) in try await body(agent) }
  }

  /// The id of the only tap with an id that is this text or begins with it.
  func id(of text: String) async throws(Failure) -> String {
    guard (1...36).contains(text.utf8.count), text.allSatisfy({ $0 == "-" || ($0.isASCII && $0.isHexDigit) }) else {
      throw .usage(
        "\(text) is not an id: use hexadecimal digits and -; tagroute inbox lists the ids")
    }
    let found = try await call { agent throws(BusError) in try await agent.taps(idPrefix: text, limit: 3) }.map(\.id)
    if let whole = found.first(where: { $0 == text.lowercased() }) { return whole }
    guard let first = found.first else {
      throw Failure(
        message: "no tap has an id that begins with \(text); tagroute inbox lists the taps",
        exitCode: Names.ExitCode.noInput)
    }
    guard found.count == 1 else {
      throw .usage(
        "several ids begin with \(text), such as \(found.prefix(2).joined(separator: " and ")): type more of it")
    }
    return first
  }

  /// A tap with all its details, by its id or a unique beginning of it.
  func tap(_ text: String) async throws(Failure) -> TapDescription {
    let id = try await id(of: text)
    guard let tap = try await whole(id) else {
      throw Failure(message: "tap \(id) was just removed", exitCode: Names.ExitCode.noInput)
    }
    return tap
  }

  /// A tap with all its details; nil if it was removed.
  func whole(_ id: String) async throws(Failure) -> TapDescription? {
    try await call { agent throws(BusError) in try await agent.taps(id: id) }.first
  }

  /// Reads taps page by page, newest first, only those that came before the tap with the id `before`. With messages,
  /// they have all details.
  func pages(
    state: String? = nil, limit: Int = .max, before: String? = nil, withMessages: Bool = false,
    _ body: ([TapDescription]) async throws(Failure) -> Void
  ) async throws(Failure) {
    var left = limit
    var end: UInt64?
    while left > 0 {
      let (size, start) = (min(left, Self.page), end)
      let page = try await call { agent throws(BusError) in
        // Continue by sequence, because the last tap of a page may be removed meanwhile.
        try await agent.taps(
          state: state, limit: UInt32(clamping: size), before: start == nil ? before : nil, beforeSequence: start,
          withMessages: withMessages)
      }
      try await body(page)
      left -= page.count
      // The agent also bounds the size of a page with messages, so a short page is not the end.
      guard withMessages || page.count == size, let last = page.last?.sequence else { return }
      end = last
    }
  }
}

/// `inbox`: lists taps, one per line.
struct InboxList {
  let inbox: InboxReader
  let console: Console

  /// `before` is the beginning of an id: only taps that came before that tap are listed.
  func print(state: String?, limit: Int, before: String?) async throws(Failure) {
    var start: String?
    if let before { start = try await inbox.id(of: before) }
    var taps: [TapDescription] = []
    try await inbox.pages(state: state, limit: limit, before: start) { page in taps += page }
    let width = Terminal.width(of: STDOUT_FILENO)
    var lines = Self.lines(taps, width: width)
    if taps.isEmpty {
      lines = ["no tap\(state.map { " is \($0)" } ?? "")\(before.map { ", before \($0)" } ?? "")"]
    } else if width != nil, taps.count == limit, let last = taps.last {
      lines.append("older taps: tagroute inbox --before \(last.shortID)")
    }
    try console.answer(taps, lines)
  }

  /// A header, then the short id, the local time, the state, the app or rule and the content of each tag. Without a
  /// `width` in cells, lines are not cut.
  static func lines(_ taps: [TapDescription], width: Int?) -> [String] {
    guard !taps.isEmpty else { return [] }
    let rows =
      [header]
      + taps.map { tap in
        // If the program of a rule has failed, the reason names the program and the status.
        let failure =
          tap.state == "failed" && tap.rule != nil && !tap.stateReason.isEmpty ? " (\(tap.stateReason))" : ""
        return [tap.shortID, LocalTime.minute(tap.time), tap.state, tap.opener, tap.title + failure].map(
          Console.printable)
      }
    let columns = header.count
    var widths = (0..<columns).map { column in rows.map { TerminalText.cells(of: $0[column]) }.max() ?? 0 }
    // Cut the app rather than the content: the beginning is enough to recognise an app.
    if let width { widths[columns - 2] = min(widths[columns - 2], max(width / 4, 8)) }
    return rows.map { row in
      let cells = zip(row, widths).dropLast().map { text, width in TerminalText.padded(text, to: width) }
      let line = (cells + row.suffix(1)).joined(separator: "  ")
      return width.map { TerminalText.cut(line, to: $0) } ?? line
    }
  }
}

extension InboxList {
  private static let header = ["ID", "READ", "STATE", "APP OR RULE", "ON THE TAG"]
}

extension TapDescription {
  /// The beginning of the id, which is unique in nearly every inbox.
  var shortID: String { String(id.prefix(8)) }

  /// The desktop id without `.desktop`; `-` if there is no app.
  var app: String { handler.map(AppID.text) ?? "-" }

  /// The app, or the rule that decides without one; `-` if there is neither.
  var opener: String { handler == nil ? rule.map { "rule \($0)" } ?? "-" : app }

  /// What happened with the tap, with the verb for an app, or that for the rule that starts a program; `other` without
  /// both.
  func words(app verb: String, program start: String, other: String) -> String {
    if handler != nil { return "\(verb) \(app)" }
    guard let program else { return other }
    return "the rule “\(rule ?? "")” \(start) \(program)"
  }
}
