import Names
import TagrouteClient

extension Command {
  static let read = Command(
    name: "read", usage: "read", summary: "what a tag holds",
    details: """
      Waits for a tag and prints the records of its message. Fails with 1 where the tag cannot hold a message; one that holds
      none yet is printed without records. Nothing that a tag holds can steer the terminal.

        --follow              tag after tag, until it is interrupted or the time is over; with --json one object a line
      \(TagCommand.optionHelp)

      \(TagCommand.exitHelp)
      """,
    flags: ["follow"], options: TagCommand.optionNames, words: 0...0
  ) { arguments, console throws(Failure) in
    let isFollowing = arguments.has("follow")
    let options = ReaderSessionOptions(message: SheetMessages.read)
    return try await TagCommand(options, arguments, console, isFollowing: isFollowing) { tag, output throws(Failure) in
      let report = try await TagReport.of(tag)
      let records = RecordReport.lines(report.records).map { "  \($0)" }
      try await output.answer(ReadReport(report: report), [report.summary] + records, onOneLine: isFollowing)
      guard report.status == .notSupported, !isFollowing else { return }
      throw Failure(
        message: "the tag holds no NDEF message", exitCode: Names.ExitCode.failure, sheet: SheetMessages.noMessage)
    }.run()
  }
}
