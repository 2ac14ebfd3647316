import CShims
import Glibc

/// The serial executor of a process: one thread that owns libdbus and everything that decides.
///
/// Actors that name an event loop as their executor share one isolation domain in time: no two of them run at once, a
/// call from one to another does not change threads, and `assumeIsolated` works between them. Descriptors and timers
/// call back on the same thread.
///
/// A thread with epoll of its own rather than a dispatch queue, because dispatch sources on Linux lose the end of a file
/// that comes together with data, and crash when a descriptor that has hung up is torn down
/// (swift-corelibs-libdispatch#949, swift-subprocess#47): both are everyday events for a process that watches sockets and
/// children.
///
/// Nothing may block on it. A C library that blocks gets a loop, and so a thread, of its own.
public final class EventLoop: SerialExecutor, Sendable {
  private let core: EventLoopCore

  /// Starts the loop's thread, which ends some time after the last reference to the loop has gone.
  ///
  /// - Parameter label: the thread's name; at most 15 bytes of it count.
  public init(label: String) {
    core = EventLoopCore(label: label)
    core.start()
  }

  deinit { core.stop() }

  /// Runs `job` on the loop, after everything that was enqueued before it.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    // The closure keeps the loop alive until the job has run.
    core.execute { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  /// Ordinary: jobs are compared by the identity of the loop.
  public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    UnownedSerialExecutor(ordinary: self)
  }

  /// Traps where the caller is not on the loop.
  public func checkIsolated() {
    precondition(core.isCurrent, "not on the event loop")
  }

  /// Whether the caller runs on the loop.
  public func isIsolatingCurrentContext() -> Bool? { core.isCurrent }

  /// Runs `body` on the loop, after everything that was enqueued before it.
  public func execute(_ body: @escaping @Sendable () -> Void) { core.execute(body) }

  /// Runs `body` on the loop once, `delay` from now, unless the timer is cancelled before.
  ///
  /// Time stands still while the machine sleeps (CLOCK_MONOTONIC); the resolution is a millisecond, and never early.
  ///
  /// - Parameters:
  ///   - delay: at least how long to wait.
  ///   - body: what to run.
  /// - Returns: the means to cancel; letting go of it does not cancel.
  @discardableResult
  public func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> LoopTimer {
    LoopTimer(core: core, identifier: core.addTimer(after: delay, body))
  }

  func watch(_ descriptor: Int32, for interest: DescriptorWatch.Interest, _ handler: @escaping @Sendable () -> Void)
    throws(SystemError) -> (core: EventLoopCore, identifier: UInt64)
  {
    (core, try core.addWatch(descriptor, interest, handler))
  }
}

/// A callback that a loop will make at a later time.
public struct LoopTimer: Sendable {
  fileprivate let core: EventLoopCore
  fileprivate let identifier: UInt64

  /// The callback does not begin after this, where it is called on the loop.
  public func cancel() { core.removeTimer(identifier) }
}
