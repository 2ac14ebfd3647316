import Bus
import CShims
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
    options: [TagCommand.readerOption]
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

  /// The command's environment: that of this process, with the lent reader, and variables that limit libnfc to this
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

/// A command that runs while the reader is lent to it. It ends with this process.
///
/// Processes that it starts may outlive both and may have the device open. So each of them inherits the descriptor that
/// keeps the loan.
actor ForeignCommand {
  private var identifier: Int32?

  /// Passes a signal on. Before the command runs, the signal ends this process.
  func signal(_ number: Int32) {
    guard let identifier else { ProcessEnd.die(of: number) }
    // The terminal sends these to its whole foreground group, which includes the command.
    if (number == SIGINT || number == SIGQUIT) && tcgetpgrp(STDIN_FILENO) == getpgrp() { return }
    kill(identifier, number)
  }

  /// Runs a command until it ends, and returns its exit code as a shell reports it. The arguments begin with its name.
  /// It and its children inherit the descriptor `loan`. The loan lasts until all of them have ended.
  func run(
    _ program: String, _ arguments: [String], _ environment: [String], holding loan: FileDescriptor
  ) async throws(Failure) -> Int32 {
    // Start this program first: only the command's own process can set its parent-death signal.
    var spawn = ProcessSpawn(
      "/proc/self/exe", arguments: ["tagroute", Self.word, "\(getpid())", program] + arguments,
      environment: environment)
    spawn.input = .inherited
    spawn.link = loan
    let (ends, continuation) = AsyncStream.makeStream(of: Result<Int32, SystemError>.self)
    let start = spawn
    do throws(SystemError) {
      // The starting thread must wait for the command, because its end triggers the parent-death signal.
      try DedicatedThread.start {
        do throws(SystemError) {
          let identifier = try start.start()
          Task { await self.began(identifier) }
          continuation.yield(.success(Self.wait(for: identifier)))
        } catch {
          continuation.yield(.failure(error))
        }
        continuation.finish()
      }
      for await end in ends { return try end.get() }
    } catch {
      throw Failure(message: "\(error)", exitCode: 126)
    }
    return Names.ExitCode.failure
  }

  private func began(_ identifier: Int32) { self.identifier = identifier }

  private static func wait(for identifier: Int32) -> Int32 {
    var status: Int32 = 0
    while waitpid(identifier, &status, 0) < 0 { guard errno == EINTR else { return Names.ExitCode.failure } }
    return tagroute_exited_normally(status) != 0
      ? tagroute_exit_code(status) : 128 + tagroute_ending_signal(status)
  }

  // MARK: In the command's process

  /// The argument with which this program becomes the command. Internal.
  static let word = "--become"
  /// The number of the loan's descriptor in the command. Scripts use the low numbers.
  private static let heldDescriptor: Int32 = 64

  /// Becomes the command: sets the parent-death signal and executes it. The arguments are the process id of the parent,
  /// the program's path, and its arguments. A failure has a shell's exit code.
  static func become(_ arguments: [String]) throws(Failure) -> Never {
    guard arguments.count > 2, let parent = Int32(arguments[0]) else { throw .usage("unknown option \(word)") }
    _ = tagroute_set_parent_death_signal(SIGTERM)
    // The parent may have ended before the signal was set.
    guard getppid() == parent else { exit(Names.ExitCode.failure) }
    if dup2(3, heldDescriptor) >= 0 { close(3) }
    let vector = arguments[2...].map { strdup($0) } + [nil]
    execv(arguments[1], vector)
    let number = errno
    throw Failure(
      message: "\(SystemError("start \(arguments[1])", errno: number))", exitCode: number == ENOENT ? 127 : 126)
  }
}

/// Ends this process by a signal.
package enum ProcessEnd {
  /// Ends it as if the signal had not been caught, so that a shell sees the signal.
  package static func die(of number: Int32) -> Never {
    signal(number, SIG_DFL)
    // The threads of an event loop block all signals.
    var all = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_UNBLOCK, &all, nil)
    raise(number)
    exit(128 + number)
  }
}
