/// One thing that `tagroute` does.
struct Command {
  let name: String
  /// What follows `tagroute`, for messages.
  let usage: String
  /// One line for the overview.
  let summary: String
  /// What `--help` prints after the usage.
  let details: String
  /// Options without a value, besides `--help` and `--json`.
  var flags: Set<String> = []
  /// Options with a value.
  var options: Set<String> = []
  /// How many words may follow the command.
  let words: ClosedRange<Int>
  let run: @Sendable (Arguments, Console) async throws(Failure) -> Int32

  static let all: [Command] = [
    .status, .doctor, .monitor, .on, .off, .session, .read, .write, .info, .lock, .transceive, .run, .resolve,
    .handlers,
    .inbox, .demo,
  ]

  /// What `tagroute COMMAND --help` prints.
  var help: String {
    """
    Usage: tagroute \(usage)

    \(details)

      --json   print JSON, whose keys stay as they are
      --help   print this
    """
  }

  /// What `tagroute --help` prints.
  static var overview: String {
    let width = all.map(\.usage.count).max() ?? 0
    let lines = all.map { "  \($0.usage)\(String(repeating: " ", count: width - $0.usage.count))  \($0.summary)" }
    return """
      Usage: tagroute COMMAND [OPTION…]

      Tap an NFC tag, and a notification offers the app that is registered for its link.

      \(lines.joined(separator: "\n"))

      Every command takes --json and --help. Exit codes: 0 done, 1 failed, 64 wrong usage, 66 there is no such tap, 69 the
      daemon or the agent cannot be reached, 73 a file cannot be written, 74 the answer cannot be written, 75 try again later, 76 an app
      did not answer, 77 not allowed, 78 wrong configuration.
      """
  }
}

extension Console {
  /// Prints text of our own, of several lines.
  func page(_ text: String) throws(Failure) {
    try lines(text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
  }
}
