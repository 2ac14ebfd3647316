import CShims
import EventLoop
import Glibc
import Names

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
