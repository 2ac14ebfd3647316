import CShims
import EventLoop
import Glibc
import Names

/// A command that runs while the reader is its own, and not longer than this process.
///
/// What it starts may outlive both, and may have the device open: each of these processes holds what the loan lasts by.
actor ForeignCommand {
  private var identifier: Int32?

  /// Passes a signal on; before the command runs it ends this process.
  func signal(_ number: Int32) {
    guard let identifier else { ProcessEnd.die(of: number) }
    // A terminal sends these to its whole foreground group, of which the command is.
    if (number == SIGINT || number == SIGQUIT) && tcgetpgrp(STDIN_FILENO) == getpgrp() { return }
    kill(identifier, number)
  }

  /// Runs a command to its end.
  ///
  /// - Parameters:
  ///   - program: its path.
  ///   - arguments: all of its arguments, its name first.
  ///   - environment: its whole environment.
  ///   - loan: what it and all that it starts hold, so that the reader is lent until the last of them has ended.
  /// - Returns: its exit code, as a shell counts.
  /// - Throws: that it cannot be started.
  func run(
    _ program: String, _ arguments: [String], _ environment: [String], holding loan: FileDescriptor
  ) async throws(Failure) -> Int32 {
    // By way of this program, since only the command's own process can ask to be ended with its parent.
    var spawn = ProcessSpawn(
      "/proc/self/exe", arguments: ["tagroute", Self.word, "\(getpid())", program] + arguments,
      environment: environment)
    spawn.input = .inherited
    spawn.link = loan
    let (ends, continuation) = AsyncStream.makeStream(of: Result<Int32, SystemError>.self)
    let start = spawn
    do throws(SystemError) {
      // The thread that starts it waits for it: with that thread the command would be ended, too.
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

  /// What this program is called with to become the command; nothing that a person types.
  static let word = "--become"
  /// Where the command has what the loan lasts by: out of the way of scripts, which use the low numbers.
  private static let heldDescriptor: Int32 = 64

  /// Becomes the command: asks to be ended with the process that has the reader, and executes it.
  ///
  /// - Parameter arguments: the process id of the one that has the reader, the program's path, and its arguments.
  /// - Throws: why it cannot be executed, with a shell's exit code.
  static func become(_ arguments: [String]) throws(Failure) -> Never {
    guard arguments.count > 2, let parent = Int32(arguments[0]) else { throw .usage("there is no option \(word)") }
    _ = tagroute_set_parent_death_signal(SIGTERM)
    // It may have ended before that.
    guard getppid() == parent else { exit(Names.ExitCode.failure) }
    if dup2(3, heldDescriptor) >= 0 { close(3) }
    let vector = arguments[2...].map { strdup($0) } + [nil]
    execv(arguments[1], vector)
    let number = errno
    throw Failure(
      message: "\(SystemError("start \(arguments[1])", errno: number))", exitCode: number == ENOENT ? 127 : 126)
  }
}

/// How this process ends by a signal.
enum ProcessEnd {
  /// Ends it as if the signal had not been caught, so that a shell sees it.
  static func die(of number: Int32) -> Never {
    signal(number, SIG_DFL)
    // A thread that an event loop has started has all signals blocked.
    var all = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_UNBLOCK, &all, nil)
    raise(number)
    exit(128 + number)
  }
}
