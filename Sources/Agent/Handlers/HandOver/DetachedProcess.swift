import CShims
import EventLoop
import Glibc

/// A program to start in a new session. It inherits at most our standard output and error.
struct DetachedProcess: Sendable {
  /// Absolute, or relative to `workingDirectory`.
  var program: String
  /// The first element is the program's name.
  var arguments: [String]
  /// The complete environment.
  var environment: [String: String]
  var workingDirectory: String
  /// On the standard input; nil for an empty input.
  var input: [UInt8]?
  /// Discards errors, too.
  var discardsOutput = false

  /// Blocks until the program is loaded. Returns the process id, which the caller has to reap. The error names the step
  /// that failed.
  func start() throws(SystemError) -> pid_t {
    let input = try input.map { bytes throws(SystemError) in try Self.memoryFile(bytes) }
    var spawn = ProcessSpawn(
      program, arguments: arguments, environment: environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    )
    spawn.input = input.map { .file($0) } ?? .null
    spawn.workingDirectory = workingDirectory
    spawn.leadsSession = true
    if discardsOutput { (spawn.output, spawn.errors) = (.null, .null) }
    return try spawn.start()
  }

  /// Sealed, and positioned at its start.
  private static func memoryFile(_ bytes: [UInt8]) throws(SystemError) -> FileDescriptor {
    let number = tagroute_memory_file("ndef-message")
    guard number >= 0 else { throw SystemError("make a memory file for the message") }
    let file = FileDescriptor(owning: number)
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(number, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { throw SystemError("write the message to a memory file") }
      rest = rest.dropFirst(count)
    }
    guard tagroute_seal_memory_file(number) == 0, lseek(number, 0, SEEK_SET) == 0 else {
      throw SystemError("seal the message's memory file")
    }
    return file
  }
}

extension DetachedProcess {
  enum End {
    case succeeded, failed
    /// It did not end in time.
    case killed
    /// Another part of this process has reaped it.
    case outOfSight
  }

  /// Waits for the end of a program and reaps it. Kills it after `limit`. Blocks.
  static func end(of child: pid_t, within limit: Duration) -> End {
    var event = pollfd(fd: tagroute_process_descriptor(child), events: Int16(POLLIN), revents: 0)
    defer { if event.fd >= 0 { close(event.fd) } }
    let deadline = ContinuousClock.now + limit
    while event.fd >= 0 {
      let rest = Int32(clamping: (deadline - .now).components.seconds * 1000)
      let count = poll(&event, 1, max(rest, 0))
      if count < 0 && errno == EINTR { continue }
      guard count == 0 else { break }
      kill(child, SIGKILL)
      _ = waitpid(child, nil, 0)
      return .killed
    }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 {
      if errno != EINTR { return .outOfSight }
    }
    return ProgramEnd(waitStatus: status) == .exited(status: 0) ? .succeeded : .failed
  }
}

/// How a started program has ended.
enum ProgramEnd: Sendable, Hashable {
  case exited(status: Int32)
  case killed(signal: Int32)
  /// Another part of this process has reaped it, or nothing could wait for it.
  case unknown

  /// As waitpid(2) returns it.
  init(waitStatus: Int32) {
    self =
      tagroute_exited_normally(waitStatus) != 0
      ? .exited(status: tagroute_exit_code(waitStatus)) : .killed(signal: tagroute_ending_signal(waitStatus))
  }

  /// What went wrong, as the end of a sentence; nil if nothing did, or nobody knows. A program that was asked to end has
  /// not failed: these are the signals of a clean exit in systemd.service(5).
  var failure: String? {
    switch self {
    case .exited(0), .killed(SIGHUP), .killed(SIGINT), .killed(SIGTERM), .killed(SIGPIPE), .unknown: nil
    // The program need not be a shell (POSIX, "Exit Status for Commands").
    case .exited(126): "ended with status 126, with which a shell reports a command that cannot be executed"
    case .exited(127): "ended with status 127, with which a shell reports a missing command"
    case .exited(let status): "ended with status \(status)"
    case .killed(let signal): "was killed by signal \(signal)"
    }
  }
}

/// Reaps child processes as they exit, so that none stays a zombie. It does not block.
actor ChildReaper {
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  private nonisolated let loop: EventLoop
  private var watches: [pid_t: DescriptorWatch] = [:]
  private var ends: [pid_t: @Sendable (ProgramEnd) -> Void] = [:]
  /// The number of children that must not be reaped yet, because their `body` has not ended.
  private var held = 0
  private var waiting: [CheckedContinuation<Void, Never>] = []

  private let openDescriptor: @Sendable (pid_t) -> Int32
  private let startThread: @Sendable (@escaping @Sendable () -> Void) throws(SystemError) -> Void

  init(on loop: EventLoop) {
    self.init(on: loop, openDescriptor: { tagroute_process_descriptor($0) }) { body throws(SystemError) in
      try DedicatedThread.start(body)
    }
  }

  /// Tests replace the two ways to wait for a child. `openDescriptor` returns a negative number if it fails.
  init(
    on loop: EventLoop, openDescriptor: @escaping @Sendable (pid_t) -> Int32,
    startThread: @escaping @Sendable (@escaping @Sendable () -> Void) throws(SystemError) -> Void
  ) {
    self.loop = loop
    self.openDescriptor = openDescriptor
    self.startThread = startThread
  }

  func allEnded() async {
    if watches.isEmpty && held == 0 { return }
    await withCheckedContinuation { waiting.append($0) }
  }

  /// Takes over a child, and reaps it only after `body` has ended. Its process id cannot be reused before that.
  func adopt(
    _ child: pid_t, atEnd end: @escaping @Sendable (ProgramEnd) -> Void,
    after body: @escaping @Sendable () async -> Void
  ) {
    held += 1
    Task {
      await body()
      held -= 1
      adopt(child, atEnd: end)
    }
  }

  /// Calls `end` when the child has exited, on any thread. Calls it at once if nothing can wait for the child.
  func adopt(_ child: pid_t, atEnd end: @escaping @Sendable (ProgramEnd) -> Void) {
    let number = openDescriptor(child)
    if number >= 0 {
      // The closure keeps the reaper alive until the child has exited. Its owner may be gone by then.
      let watch = try? DescriptorWatch(FileDescriptor(owning: number), on: loop) { @Sendable in
        self.assumeIsolated { $0.reap(child) }
      }
      watches[child] = watch
      if watch != nil {
        ends[child] = end
        return
      }
    }
    // There is no process descriptor for the child. A waiting thread costs more, but needs none.
    do throws(SystemError) {
      try startThread {
        var (status, result): (Int32, pid_t) = (0, 0)
        repeat { result = waitpid(child, &status, 0) } while result < 0 && errno == EINTR
        end(result == child ? ProgramEnd(waitStatus: status) : .unknown)
      }
    } catch {
      // Nobody will notice the end of the child. It must not keep its place among the running programs for ever.
      end(.unknown)
    }
  }

  private func reap(_ child: pid_t) {
    var status: Int32 = 0
    let result = waitpid(child, &status, WNOHANG)
    guard result != 0 else { return }
    watches.removeValue(forKey: child)?.cancel()
    ends.removeValue(forKey: child)?(result == child ? ProgramEnd(waitStatus: status) : .unknown)
    guard watches.isEmpty && held == 0 else { return }
    for continuation in waiting { continuation.resume() }
    waiting = []
  }
}
