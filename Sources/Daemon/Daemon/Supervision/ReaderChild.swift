import EventLoop
import Glibc

/// A child process with a dedicated thread that starts it and waits for it.
///
/// Linux sends the child's `PR_SET_PDEATHSIG` when the *thread* that started it ends, and a thread of Dispatch ends
/// whenever it is idle. The dedicated thread uses no processor time while the child lives.
///
/// The loop reaps the child, not the thread. The child keeps its process id until it is reaped, so a signal cannot hit
/// another process.
enum ReaderChild {
  enum Event: Sendable {
    case started(pid_t)
    case failed(SystemError)
    /// The child has ended. The receiver must call `reap`.
    case ended(pid_t)
  }

  /// The child's descriptor number for the link.
  static let linkDescriptor: Int32 = 3

  /// For exit code 0.
  static let success = "exited with code 0"

  /// Starts a child with an argument vector, the program's path first, and with `environment` as all of its
  /// environment.
  ///
  /// Its standard input is /dev/null, and its standard output is `trace`, or /dev/null too. `link` becomes its descriptor
  /// 3. `report` is called on the loop. Fails if no thread can be started.
  static func start(
    _ arguments: [String], environment: [String], link: FileDescriptor, trace: FileDescriptor?, on loop: EventLoop,
    report: @escaping @Sendable (Event) -> Void
  ) throws(SystemError) {
    let given = Locked<FileDescriptor?>(link)
    try DedicatedThread.start(stackSize: 128 * 1024) {
      let child: pid_t
      do throws(SystemError) {
        child = try spawn(arguments, environment: environment, given, trace)
      } catch {
        loop.execute { report(.failed(error)) }
        return
      }
      loop.execute { report(.started(child)) }
      var information = siginfo_t()
      while waitid(P_PID, id_t(child), &information, Int32(WEXITED | WNOWAIT)) != 0 && errno == EINTR {}
      loop.execute { report(.ended(child)) }
    }
  }

  /// Closes this process's copy of the link. Otherwise it would not notice when the child closes its own.
  private static func spawn(
    _ arguments: [String], environment: [String], _ link: Locked<FileDescriptor?>, _ trace: FileDescriptor?
  ) throws(SystemError) -> pid_t {
    var spawn = ProcessSpawn(arguments.first ?? "", arguments: arguments, environment: environment)
    spawn.output = trace.map(ProcessSpawn.Stream.file) ?? .null
    spawn.link = link.withLock { link in
      defer { link = nil }
      return link
    }
    return try spawn.start()
  }

  /// Returns how the child ended, in words. After this, its process id may belong to another process.
  static func reap(_ child: pid_t) -> String {
    var status: Int32 = 0
    while waitpid(child, &status, 0) != child && errno == EINTR {}
    let signal = status & 0x7F
    if signal == 0 { return "exited with code \((status >> 8) & 0xFF)" }
    return "killed by signal \(signal) (\(strsignal(signal).map { String(cString: $0) } ?? "unknown"))"
  }
}
