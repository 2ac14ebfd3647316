import Names
import Bus
import EventLoop
import TagrouteClient

extension Command {
  static let inbox = Command(
    name: "inbox", usage: "inbox [show | open | dismiss | export | clear]",
    summary: "the tags that were read: look at them, open them later, remove them",
    details: """
      Prints the taps that the agent has kept, the newest first: the beginning of the id, the time, the state, the app and what is on
      the tag. An ID below is an id, or as much of its beginning as only one tap has. Nothing that a tag holds can steer the terminal.

        --state STATE    only those in this state: received, shown, opening, delivered, dismissed, failed or expired
        --limit NUMBER   at most so many, 1 to 100000, by default 100
        --before ID      only those that came before this one

      inbox show ID             everything that is known of a tap: its state and why, where it goes and why, its records
      inbox open ID             opens it as a click on its notification does, and waits until the app has taken it
          --handler APP         in this app, one of those that claim the link; needed where there is a choice, and not remembered
      inbox dismiss ID          takes it from the screen
      inbox export ID FILE      writes its NDEF message; - is standard output, which has to be no terminal
      inbox export --all FILE   writes all taps, each on a line as inbox show --json has it
          --force               overwrites FILE
      inbox clear [ID…]         removes taps for good: these, or all that are over. What is on the screen stays
          --older-than DAYS     only those that were read before
          --all                 also what is on the screen, which is taken from it. What is just being opened stays
          --yes                 does not ask; needed where standard input is no terminal

      Exit codes: 1 the app did not take it, or has it already, or none opens such a link, 66 there is no such tap, 69 the agent does
      not run, 73 FILE cannot be written, 75 it is not possible now: the user has to choose, or it is just being opened, 76 the app
      did not answer: it may have been opened.
      """,
    flags: ["all", "force", "yes"], options: ["before", "handler", "limit", "older-than", "state"],
    words: 0...(InboxAction.maximumIDs + 1)
  ) { arguments, console throws(Failure) in
    let action = try InboxAction(arguments)
    try action.checkBeforehand(console)
    let client = try await Failure.connecting(to: .agent) { () async throws(BusError) in
      try await AgentClient.connect(on: EventLoop(label: "tagroute"))
    }
    let inbox = InboxReader(agent: client)
    switch action {
    case .list(let state, let limit, let before):
      try await InboxList(inbox: inbox, console: console).print(state: state, limit: limit, before: before)
    case .show(let id): try await InboxTap(inbox, id).print(console)
    case .open(let id, let handler): try await InboxTap(inbox, id).open(in: handler, console)
    case .dismiss(let id): try await InboxTap(inbox, id).dismiss(console)
    case .export(let id?, let file): try await InboxExport(inbox, file, console).write(id)
    case .export(nil, let file): try await InboxExport(inbox, file, console).writeAll()
    case .clear(let clearing): return try await clearing.run(inbox, console)
    }
    return 0
  }
}
