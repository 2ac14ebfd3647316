import Bus
import EventLoop
import Glibc
import Names
import TagrouteClient

extension Command {
  static let run = Command(
    name: "run", usage: "run -- COMMAND…", summary: "give another libnfc program the reader for as long as it runs",
    details: """
      Has the daemon close the reader's device and runs COMMAND with LIBNFC_DEFAULT_DEVICE set to it, for example

        tagroute run -- nfc-list

      Its exit code is COMMAND's: 128 and the signal's number where a signal ended it, 127 where there is no such program, 126
      where it cannot be started. SIGINT, SIGTERM, SIGHUP and SIGQUIT are passed on. Where this program is killed, COMMAND gets
      SIGTERM. The reader is taken back when COMMAND has ended, and with it all that it has started, which could have the device
      open; a tag that lies there is not announced again. A daemon that is started anew meanwhile is asked for the reader again;
      where somebody else has it by then, or none of that daemon's readers is known to be it, this program says so, and COMMAND
      goes on without the reader until it is there and free.

        --reader READER  a reader by its name, device or number, as tagroute status shows them

      Exit codes of its own, where COMMAND was not started: 64 wrong usage, 69 the daemon cannot be reached, 75 the reader is in
      use, or there is none, 77 not allowed. The last two also where COMMAND has failed while a daemon that was started anew did not
      lend it the reader.
      """,
    options: ["reader"], words: 1...4096
  ) { arguments, _ throws(Failure) in
    let signals = ProcessSignals([SIGINT, SIGTERM, SIGHUP, SIGQUIT])
    let program = try ProgramSearch.path(of: arguments.words[0], in: ProcessEnvironment.current["PATH"])
    let command = ForeignCommand()
    let forwarding = Task { for await number in signals { await command.signal(number) } }
    defer { forwarding.cancel() }
    let (loan, inhibitor) = try await lent(arguments)
    let keeping = Task { await loan.keep() }
    defer { keeping.cancel() }
    let code = try await command.run(
      program, arguments.words, environment(ProcessEnvironment.current, device: inhibitor.device ?? ""),
      holding: inhibitor.descriptor)
    // Until here, whatever happened; the pipe closes by itself where this process dies.
    withExtendedLifetime(inhibitor) {}
    return await loan.exitCode(of: code)
  }

  private static func lent(_ arguments: Arguments) async throws(Failure) -> (ReaderLoan, Inhibitor) {
    let connection = try await Failure.connecting(to: .daemon) { () throws(BusError) in
      try await Connection.open(.system, on: EventLoop(label: "tagroute"))
    }
    var reader: ObjectPath?
    if let text = arguments.options["reader"] {
      var choice = ReaderChoice(text)
      reader = try choice.choose(among: try await ReaderChoice.readers(connection))
    }
    do throws(BusError) {
      let loan = try ReaderLoan(connection, why: Console.forSheet(arguments.words[0]))
      return (loan, try await loan.take(reader))
    } catch {
      throw Failure(error, from: .daemon)
    }
  }

  /// The command's environment: this process's, in which libnfc finds the reader and looks for no others.
  static func environment(_ inherited: [String: String], device: String) -> [String] {
    inherited.merging(["LIBNFC_DEFAULT_DEVICE": device, "LIBNFC_AUTO_SCAN": "false"]) { _, ours in ours }
      .sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
  }
}

/// Where a shell would find a program.
enum ProgramSearch {
  /// - Parameters:
  ///   - name: a name, or a path where it has a slash.
  ///   - folders: the folders to search, with colons between them, as in `PATH`.
  /// - Returns: a path.
  /// - Throws: a failure with a shell's exit code.
  static func path(of name: String, in folders: String?) throws(Failure) -> String {
    guard !name.isEmpty else { throw .usage("the command is empty") }
    if name.contains("/") { return name }
    for folder in (folders ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":") {
      let path = "\(folder)/\(name)"
      var status = stat()
      if stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, access(path, X_OK) == 0 { return path }
    }
    throw Failure(message: "\(name): there is no such program", exitCode: 127)
  }
}
