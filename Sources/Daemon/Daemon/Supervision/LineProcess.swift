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
