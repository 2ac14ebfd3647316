import Names
import TagrouteClient

extension Command {
  static let read = Command(
    name: "read", summary: "wait for a tag and print the records of its message",
    details: """
      Fails with 1 if the tag cannot hold a message. An empty tag is printed without
      records.

      \(TagCommand.exitHelp)
      """,
    options: [.init("follow", "read one tag after the other, until interrupted or the time is over")]
      + TagCommand.options, words: 0...0
  ) { arguments, console throws(Failure) in
    let isFollowing = arguments.has("follow")
    let options = ReaderSessionOptions(message: SheetMessages.read)
    return try await TagCommand(options, arguments, console, isFollowing: isFollowing) { tag, output throws(Failure) in
      let report = try await TagStatusReport.of(tag)
      let records = RecordReport.lines(report.records).map { "  \($0)" }
      try await output.answer(ReadReport(report), [report.summary] + records, onOneLine: isFollowing)
      guard report.status == .notSupported, !isFollowing else { return }
      throw Failure(
        message: "the tag holds no NDEF message", exitCode: Names.ExitCode.failure, sheet: SheetMessages.noMessage)
    }.run()
  }
}
