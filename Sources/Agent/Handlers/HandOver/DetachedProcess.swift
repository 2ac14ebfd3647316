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
    return tagroute_exited_normally(status) != 0 && tagroute_exit_code(status) == 0 ? .succeeded : .failed
  }
}

/// Reaps child processes as they exit, so that none stays a zombie. It does not block.
actor ChildReaper {
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  private nonisolated let loop: EventLoop
  private var watches: [pid_t: DescriptorWatch] = [:]
  private var ends: [pid_t: @Sendable () -> Void] = [:]
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
    _ child: pid_t, atEnd end: @escaping @Sendable () -> Void, after body: @escaping @Sendable () async -> Void
  ) {
    held += 1
    Task {
      await body()
      held -= 1
      adopt(child, atEnd: end)
    }
  }

  /// Calls `end` when the child has exited, on any thread. Calls it at once if nothing can wait for the child.
  func adopt(_ child: pid_t, atEnd end: @escaping @Sendable () -> Void) {
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
        while waitpid(child, nil, 0) < 0 && errno == EINTR {}
        end()
      }
    } catch {
      // Nobody will notice the end of the child. It must not keep its place among the running programs for ever.
      end()
    }
  }

  private func reap(_ child: pid_t) {
    guard waitpid(child, nil, WNOHANG) != 0 else { return }
    watches.removeValue(forKey: child)?.cancel()
    ends.removeValue(forKey: child)?()
    guard watches.isEmpty && held == 0 else { return }
    for continuation in waiting { continuation.resume() }
    waiting = []
  }
}
