import CShims
import EventLoop
import Glibc

/// Takes the exit status of children as they end, so that none stays a zombie, without waiting for any.
actor ChildReaper {
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  private nonisolated let loop: EventLoop
  private var watches: [pid_t: DescriptorWatch] = [:]
  /// How many are not reaped yet whatever they do.
  private var held = 0
  private var waiting: [CheckedContinuation<Void, Never>] = []

  init(on loop: EventLoop) { self.loop = loop }

  /// Waits until no child is left.
  func allEnded() async {
    if watches.isEmpty && held == 0 { return }
    await withCheckedContinuation { waiting.append($0) }
  }

  /// Takes over a child, and reaps it not before `body` has ended: until then its number is nobody else's.
  func adopt(_ child: pid_t, after body: @escaping @Sendable () async -> Void) {
    held += 1
    Task {
      await body()
      held -= 1
      adopt(child)
    }
  }

  /// Takes over a child.
  func adopt(_ child: pid_t) {
    let number = tagroute_process_descriptor(child)
    if number >= 0 {
      // It holds the reaper until the child has ended: who started the child may be gone by then.
      let watch = try? DescriptorWatch(FileDescriptor(owning: number), on: loop) { @Sendable in
        self.assumeIsolated { $0.reap(child) }
      }
      watches[child] = watch
      if watch != nil { return }
    }
    // No descriptor left for it: a thread that waits is dearer, and always works.
    try? DedicatedThread.start { while waitpid(child, nil, 0) < 0 && errno == EINTR {} }
  }

  private func reap(_ child: pid_t) {
    guard waitpid(child, nil, WNOHANG) != 0 else { return }
    watches.removeValue(forKey: child)?.cancel()
    guard watches.isEmpty && held == 0 else { return }
    for continuation in waiting { continuation.resume() }
    waiting = []
  }
}
