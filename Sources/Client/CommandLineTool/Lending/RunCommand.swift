import Bus
import EventLoop
import Glibc
import Names
import TagrouteClient

extension Command {
  static let run = Command(
    name: "run", summary: "lend the reader to another program", arguments: "-- COMMAND…",
    details: """
      The daemon closes the reader, and COMMAND finds it in LIBNFC_DEFAULT_DEVICE:

        tagroute run -- nfc-list

      TAGROUTE_DEVICE has the reader, too. If pcscd drives it, that is pcsc: and its
      name, and LIBNFC_DEFAULT_DEVICE is not set, because libnfc cannot open it. A
      COMMAND that uses pcscd needs no loan, but meanwhile Tagroute reads no tag.

      The exit code is that of COMMAND: 128 plus the signal's number if a signal ended
      it, 127 if there is no such program, 126 if it cannot be started. SIGINT,
      SIGTERM, SIGHUP and SIGQUIT are passed on. If tagroute is killed, COMMAND gets
      SIGTERM. The daemon takes the reader back when COMMAND and all processes that it
      started have ended. A tag that still lies there is not announced again.

      If the daemon restarts meanwhile, tagroute asks it for the reader again. If the
      new daemon refuses, COMMAND continues without the reader and gets it back as
      soon as possible.

      Exit codes if COMMAND was not started: 64 wrong usage, 69 the daemon cannot be
      reached, 75 the reader is in use or there is none, 77 not allowed. 75 and 77
      also replace the code of a COMMAND that failed without the reader.
      """,
    options: [TagCommand.readerOption], words: 1...4096
  ) { arguments, _ throws(Failure) in
    let signals = ProcessSignals([SIGINT, SIGTERM, SIGHUP, SIGQUIT])
    let program = try ProgramSearch.path(of: arguments.words[0], in: ProcessEnvironment.current["PATH"])
    let command = ForeignCommand()
    let forwarding = Task { for await number in signals { await command.signal(number) } }
    defer { forwarding.cancel() }
    let (loan, inhibitor) = try await lent(arguments)
    let device = inhibitor.device ?? ""
    if let name = Names.PCSC.readerName(inDevice: device) { Console.tell(noLibnfc(name)) }
    let keeping = Task { await loan.keep() }
    defer { keeping.cancel() }
    let code = try await command.run(
      program, arguments.words, environment(ProcessEnvironment.current, device: device),
      holding: inhibitor.descriptor)
    // Keeps the loan until here. If this process dies, its pipe closes and ends the loan.
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
    return try await Failure.asking(.daemon) { () throws(BusError) in
      let loan = try ReaderLoan(connection, why: Console.forSheet(arguments.words[0]))
      return (loan, try await loan.take(reader))
    }
  }

  /// The command's environment: that of this process, with the lent reader, and variables by which libnfc uses only this
  /// reader. It uses none if pcscd drives the reader.
  static func environment(_ inherited: [String: String], device: String) -> [String] {
    var variables = inherited
    variables["TAGROUTE_DEVICE"] = device
    variables["LIBNFC_DEFAULT_DEVICE"] = Names.PCSC.readerName(inDevice: device) == nil ? device : nil
    variables["LIBNFC_AUTO_SCAN"] = "false"
    return variables.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
  }

  /// Only the user knows if the command uses libnfc. Its own error would not name the cause.
  private static func noLibnfc(_ name: String) -> String {
    "tagroute: pcscd drives the lent reader \(Console.printable(name)). A command that uses libnfc cannot open it; choose "
      + "another reader with --reader, or set Backend=libnfc in tagroute.conf\n"
  }
}

/// Finds programs as a shell does.
enum ProgramSearch {
  /// Searches the folders of a `PATH`, unless the name has a slash. A failure has a shell's exit code.
  static func path(of name: String, in folders: String?) throws(Failure) -> String {
    guard !name.isEmpty else { throw .usage("the command is empty") }
    if name.contains("/") { return name }
    for folder in (folders ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":") {
      let path = "\(folder)/\(name)"
      var status = stat()
      if stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, access(path, X_OK) == 0 { return path }
    }
    throw Failure(message: "\(name): no such program", exitCode: 127)
  }
}
