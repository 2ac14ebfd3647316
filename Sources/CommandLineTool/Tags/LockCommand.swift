import Bus
import Glibc
import TagrouteClient

extension Command {
  static let lock = Command(
    name: "lock", usage: "lock", summary: "make a tag read-only for ever",
    details: """
      Waits for a tag and makes it read-only. This is permanent: nothing makes it writable again, neither this program nor any
      other. So it asks first; where standard input is no terminal it does nothing without --yes.

        --yes                 do not ask
      \(TagCommand.optionHelp)

      \(TagCommand.exitHelp)
      """,
    flags: ["yes"], options: TagCommand.optionNames, words: 0...0
  ) { arguments, console throws(Failure) in
    let options = ReaderSessionOptions(
      message: SheetMessages.lock, access: .write)
    let command = try TagCommand(options, arguments, console) { tag, output throws(Failure) in
      try await tag.attempt { tag throws(BusError) in try await tag.lock() }
      let uid = Hexadecimal.text(tag.uid)
      try await output.answer(
        LockReport(technology: tag.technology, uid: uid, status: "read-only"),
        ["\(tag.technology) \(uid): is read-only for ever"])
    }
    if !arguments.has("yes") { try await confirm() }
    return try await command.run()
  }

  private static func confirm() async throws(Failure) {
    guard isatty(STDIN_FILENO) == 1 else {
      throw .usage("lock is permanent, and there is no terminal to ask at: say --yes if that is meant")
    }
    Console.tell("The next tag is made read-only. This is permanent: nothing makes it writable again. Lock it? [y/N] ")
    let answer = await BlockingRead.line()?.lowercased()
    guard answer == "y" || answer == "yes" else {
      throw Failure(message: "no tag was locked", exitCode: 1)
    }
  }
}

/// What `lock` prints; its keys are what scripts depend on.
struct LockReport: Encodable {
  let technology: String
  let uid: String
  let status: String
}
