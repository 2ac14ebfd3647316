import TagrouteClient

extension Command {
  static let inbox = Command(
    name: "inbox", summary: "list, show, open, export and remove the taps that the agent has kept",
    details: """
      The list has the beginning of each id, the time, the state, the app and the
      content of the tag. ID is the id of a tap, or a unique beginning of it.

      Exit codes: 1 the app refused it, has it already, or no app opens the link; 66
      no such tap; 69 the agent is not running; 73 FILE cannot be written; 75 not
      possible now: you have to choose an app, or the tap is being opened; 76 the app
      did not reply, and may have opened it.
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
            "handler", "APP", "open it with this app, one of those that claim the link; required if there are several")
        ]),
      .init("dismiss", "ID", "remove a tap from the screen"),
      .init(
        "export", "[ID] FILE", "write the NDEF message of a tap; - is standard output",
        [
          .init("all", "without ID: write all taps, one per line, as inbox show --json prints them"),
          .init("record", "NUMBER", "with ID: write only the data of this record, as inbox show numbers it"),
          .init("force", "overwrite FILE"),
        ]),
      .init(
        "clear", "[ID…]", "remove these taps for good, or all that are not on the screen",
        [
          .init("older-than", "DAYS", "only taps that were read more than this many days ago"),
          .init("all", "also remove taps on the screen; a tap that is being opened stays"),
          .init("yes", "do not ask; required if standard input is not a terminal"),
        ]),
    ], words: 0...(InboxAction.maximumIDs + 1)
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
