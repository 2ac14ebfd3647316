import EventLoop
import Glibc

/// A child process whose standard output is read line by line. The lines are bounded, and otherwise unchecked.
///
/// The loop owns this actor, which stays alive while the process exists.
actor LineProcess {
  enum Event: Sendable {
    /// A line, without its line feed. A last line without one is dropped.
    case line([UInt8])
    /// The process has closed its output. It may still run.
    case closedOutput
    /// The process could not be started. No other event follows.
    case failed(SystemError)
    /// The process has ended, in words that follow its name. No other event follows.
    case ended(String)
  }

  /// The most bytes of the output. A process that exceeds a limit is killed.
  struct Limits: Sendable {
    /// Bytes of a line.
    var line: Int
    /// Bytes of the whole output; nil for a process that may run forever.
    var total: Int?
  }

  /// The loop that owns this actor.
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  private static let mostAtOnce = 4096
  /// A pipe holds 64 KiB (pipe(7)).
  private static let readsOfFullPipe = 16

  private nonisolated let loop: EventLoop
  private let limits: Limits
  private let handler: @Sendable (Event) -> Void
  private var watch: DescriptorWatch?
  /// The end of the child's standard input. The child reads an end of file once this process closes it, or dies.
  private var input: FileDescriptor?
  private var child: pid_t?
  private var rest: [UInt8] = []
  private var count = 0
  /// Why it was killed; nil if it was not.
  private var cause: String?

  /// Calls `handler` on the loop.
  init(_ limits: Limits, on loop: EventLoop, handler: @escaping @Sendable (Event) -> Void) {
    self.limits = limits
    self.loop = loop
    self.handler = handler
  }

  /// Starts the process, once: the arguments begin with the program's path. With `holdsInput`, its standard input is a
  /// pipe without data that stays open until `closeInput()`; else it is /dev/null.
  func start(_ arguments: [String], environment: [String], holdsInput: Bool = false) throws(SystemError) {
    let (output, theirOutput) = try Self.pipe()
    let input = try holdsInput ? Self.pipe() : nil
    _ = fcntl(output.rawValue, F_SETFL, O_NONBLOCK)
    watch = try DescriptorWatch(output, on: loop) { [self] in assumeIsolated { $0.read(output) } }
    self.input = input?.writing
    do throws(SystemError) {
      try ReaderChild.start(
        arguments, environment: environment, input: input?.reading, output: theirOutput, on: loop
      ) { [self] event in
        assumeIsolated { $0.childReported(event, output) }
      }
    } catch {
      close()
      throw error
    }
  }

  /// Ends the standard input of the process.
  func closeInput() { input = nil }

  /// Kills the process and ignores its further output. `ended` follows with this cause.
  func kill(_ cause: String) {
    guard self.cause == nil else { return }
    self.cause = cause
    watch?.cancel()
    if let child { Glibc.kill(child, SIGKILL) }
  }

  private func childReported(_ event: ReaderChild.Event, _ output: FileDescriptor) {
    switch event {
    case .started(let child):
      self.child = child
      if cause != nil { Glibc.kill(child, SIGKILL) }
    case .failed(let error):
      close()
      handler(.failed(error))
    case .ended(let child):
      self.child = nil
      let how = ReaderChild.reap(child)
      for _ in 0..<Self.readsOfFullPipe where watch != nil { read(output) }
      close()
      handler(.ended(cause ?? how))
    }
  }

  private func close() {
    watch?.cancel()
    (watch, input) = (nil, nil)
  }

  private func read(_ output: FileDescriptor) {
    guard cause == nil else { return }
    var bytes = [UInt8](repeating: 0, count: Self.mostAtOnce)
    let count = Glibc.read(output.rawValue, &bytes, bytes.count)
    if count < 0 && (errno == EAGAIN || errno == EINTR) { return }
    guard count > 0 else {
      watch?.cancel()
      watch = nil
      return handler(.closedOutput)
    }
    self.count += count
    if let total = limits.total, self.count > total { return kill("printed more than \(total) bytes") }
    rest += bytes.prefix(count)
    while cause == nil, let end = rest.firstIndex(of: UInt8(ascii: "\n")), end <= limits.line {
      let line = Array(rest[..<end])
      rest.removeFirst(end + 1)
      handler(.line(line))
    }
    if rest.count > limits.line { kill("printed a line of more than \(limits.line) bytes") }
  }

  private static func pipe() throws(SystemError) -> (reading: FileDescriptor, writing: FileDescriptor) {
    var ends: [Int32] = [-1, -1]
    guard Glibc.pipe(&ends) == 0 else { throw SystemError("make a pipe") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (FileDescriptor(owning: ends[0]), FileDescriptor(owning: ends[1]))
  }
}

/// A child process with a dedicated thread that starts it and waits for it.
///
/// Linux sends the child's `PR_SET_PDEATHSIG` when the *thread* that started it ends, and a thread of Dispatch ends
/// whenever it is idle. The dedicated thread uses no processor time while the child lives.
///
/// The loop reaps the child, not the thread. The process id stays the child's until then, so a signal cannot hit
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

  /// The text that `reap` returns for exit code 0.
  static let success = "exited with code 0"

  /// Starts a child with an argument vector, the program's path first, and with `environment` as all of its
  /// environment.
  ///
  /// Without `input` or `output`, that standard stream of the child is /dev/null. `link` becomes the child's descriptor 3. `report` is
  /// called on the loop. Fails if no thread can be started.
  static func start(
    _ arguments: [String], environment: [String], input: FileDescriptor? = nil, output: FileDescriptor? = nil,
    link: FileDescriptor? = nil, on loop: EventLoop, report: @escaping @Sendable (Event) -> Void
  ) throws(SystemError) {
    let given = Given(input: input, output: output, link: link)
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

  /// Reaps the ended child, and returns how it ended, in words. After this, its process id may belong to another
  /// process.
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
    spawn.input = given.input.map { .file($0) } ?? .null
    spawn.output = given.output.map { .file($0) } ?? .null
    spawn.link = given.link
    return try spawn.start()
  }

  /// The child's ends of pipes and sockets. This process must close its copies once the child has them. Otherwise it
  /// would not notice when the child closes them.
  ///
  /// `@unchecked` because only the thread that starts the child uses it, once that thread exists.
  private final class Given: @unchecked Sendable {
    private(set) var input: FileDescriptor?
    private(set) var output: FileDescriptor?
    private(set) var link: FileDescriptor?

    init(input: FileDescriptor?, output: FileDescriptor?, link: FileDescriptor?) {
      self.input = input
      self.output = output
      self.link = link
    }

    func close() {
      input = nil
      output = nil
      link = nil
    }
  }
}
