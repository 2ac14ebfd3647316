import EventLoop
import Glibc

/// A child process that a thread of its own starts and waits for.
///
/// The thread is what `PR_SET_PDEATHSIG` of the child is bound to: Linux sends that signal when the *thread* that started
/// the child ends, and one of Dispatch's would end whenever it has nothing to do. It costs nothing while the child lives.
///
/// The loop reaps, not the thread: until then the process id is the child's, and a signal cannot hit another process.
enum ReaderChild {
  enum Event: Sendable {
    case started(pid_t)
    case failed(SystemError)
    /// Ended, and to be reaped by `reap`.
    case ended(pid_t)
  }

  /// Descriptor number of the link, in the child.
  static let linkDescriptor: Int32 = 3

  /// What `reap` says of one that has ended as it should.
  static let success = "exited with code 0"

  /// - Parameters:
  ///   - arguments: the argument vector, the program's path first.
  ///   - environment: all of the child's environment, as `NAME=value`.
  ///   - output: the child's standard output; nil is /dev/null.
  ///   - link: the child's descriptor 3; nil is none.
  ///   - loop: where `report` is called.
  ///   - report: takes what becomes of the child.
  /// - Throws: `SystemError` where no thread can be started.
  static func start(
    _ arguments: [String], environment: [String], output: FileDescriptor?, link: FileDescriptor?, on loop: EventLoop,
    report: @escaping @Sendable (Event) -> Void
  ) throws(SystemError) {
    let given = Given(output: output, link: link)
    try DedicatedThread.start(stackSize: 128 * 1024) {
      let child: pid_t
      do throws(SystemError) {
        child = try spawn(arguments, environment: environment, given)
        given.close()
      } catch {
        given.close()
        loop.execute { report(.failed(error)) }
        return
      }
      loop.execute { report(.started(child)) }
      var information = siginfo_t()
      while waitid(P_PID, id_t(child), &information, Int32(WEXITED | WNOWAIT)) != 0 && errno == EINTR {}
      loop.execute { report(.ended(child)) }
    }
  }

  /// Takes the ended child's status: from here on its id may be another process's.
  ///
  /// - Returns: how it ended, in words.
  static func reap(_ child: pid_t) -> String {
    var status: Int32 = 0
    while waitpid(child, &status, 0) != child && errno == EINTR {}
    let signal = status & 0x7F
    if signal == 0 { return "exited with code \((status >> 8) & 0xFF)" }
    return "killed by signal \(signal) (\(strsignal(signal).map { String(cString: $0) } ?? "unknown"))"
  }

  private static func spawn(
    _ arguments: [String], environment: [String], _ given: Given
  ) throws(SystemError) -> pid_t {
    var spawn = ProcessSpawn(arguments.first ?? "", arguments: arguments, environment: environment)
    spawn.output = given.output.map { .file($0) } ?? .null
    spawn.link = given.link
    return try spawn.start()
  }

  /// The child's ends of pipes and sockets, which nobody else may keep open once it has them: our ends would not see that
  /// it has closed them.
  ///
  /// `@unchecked` because only the thread that starts the child touches it once that thread exists.
  private final class Given: @unchecked Sendable {
    private(set) var output: FileDescriptor?
    private(set) var link: FileDescriptor?

    init(output: FileDescriptor?, link: FileDescriptor?) {
      self.output = output
      self.link = link
    }

    func close() {
      output = nil
      link = nil
    }
  }
}
