import Bus
import Glibc
import TagrouteClient

extension Command {
  static let lock = Command(
    name: "lock", summary: "wait for a tag and make it read-only for ever",
    details: """
      This is permanent: no program can make the tag writable again. The command asks
      first.

      \(TagCommand.exitHelp)
      """,
    options: [.init("yes", "do not ask; required if standard input is not a terminal")] + TagCommand.options,
    words: 0...0
  ) { arguments, console throws(Failure) in
    let options = ReaderSessionOptions(
      message: SheetMessages.lock, access: .write)
    let command = try TagCommand(options, arguments, console) { tag, output throws(Failure) in
      try await tag.attempt { tag throws(BusError) in try await tag.lock() }
      let uid = Hexadecimal.text(tag.uid)
      try await output.answer(
        ["technology": tag.technology, "uid": uid, "status": "read-only"],
        ["\(tag.technology) \(uid): is read-only for ever"])
    }
    if !arguments.has("yes") { try await confirm() }
    return try await command.run()
  }

  private static func confirm() async throws(Failure) {
    guard isatty(STDIN_FILENO) == 1 else {
      throw .usage("lock is permanent, and there is no terminal to ask: confirm with --yes")
    }
    Console.tell(
      "The next tag is made read-only. This is permanent: no program can make it writable again. Lock it? [y/N] ")
    let answer = await BlockingRead.line()?.lowercased()
    guard answer == "y" || answer == "yes" else {
      throw Failure(message: "no tag was locked", exitCode: 1)
    }
  }
}
