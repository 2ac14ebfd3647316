import Bus
import Glibc
import Names
import TagrouteClient

extension Command {
  static let lock = Command(
    name: "lock", summary: "wait for a tag and make it read-only",
    details: """
      This cannot be undone. Most tags then refuse every write. A Type 4 tag and a
      FeliCa card other than Lite only say that they are read-only, which programs
      respect. The command asks first.

      \(TagCommand.severalHelp)

      \(TagCommand.exitHelp)
      """,
    options: [.init("yes", "do not ask; required if standard input is not a terminal")] + TagCommand.options
  ) { arguments, console throws(Failure) in
    let options = ReaderSessionOptions(
      message: SheetMessages.lock, access: .write)
    let command = try TagCommand(options, arguments, console) { tag, output throws(Failure) in
      try await tag.attempt { tag throws(BusError) in try await tag.lock() }
      let uid = Hexadecimal.text(tag.uid)
      try await output.answer(
        ["technology": tag.technology, "uid": uid, "status": "read-only"],
        ["\(tag.technology) \(uid): \(statement(tag.technology))"])
    }
    if !arguments.has("yes") { try await confirm() }
    return try await command.run()
  }

  /// What the lock means for a tag of this technology.
  ///
  /// A Type 4 tag's container has the answer to "may I write", and a FeliCa Standard card's attribute block. Whoever
  /// ignores them can still write. FeliCa Lite is locked for good, but has the same technology.
  static func statement(_ technology: String) -> String {
    [.type3, .type4A, .type4B].contains(TagType(rawValue: technology))
      ? "says now that it is read-only, and programs for NDEF respect that" : "is read-only for ever"
  }

  private static func confirm() async throws(Failure) {
    guard isatty(STDIN_FILENO) == 1 else {
      throw .usage("lock cannot be undone, and there is no terminal to ask: confirm with --yes")
    }
    Console.tell("The next tag is made read-only. This cannot be undone. Lock it? [y/N] ")
    let answer = await BlockingRead.line()?.lowercased()
    guard answer == "y" || answer == "yes" else {
      throw Failure(message: "no tag was locked", exitCode: 1)
    }
  }
}
