import CShims
import EventLoop
import Glibc

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
