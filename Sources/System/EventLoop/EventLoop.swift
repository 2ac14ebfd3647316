import CShims
import Glibc

/// The serial executor of a process: one thread that runs libdbus and makes all decisions.
///
/// Actors with the same event loop as their executor never run at the same time. A call from one to another does not
/// change threads, and `assumeIsolated` works between them. Handlers of descriptors and timers run on the same thread.
///
/// The loop is a thread with its own epoll instance, not a dispatch queue. Dispatch sources on Linux lose an end of
/// file that arrives together with data (swift-corelibs-libdispatch#949). They also crash when a descriptor that has
/// hung up is torn down (swift-subprocess#47). Both happen every day in a process that watches sockets and children.
///
/// No code on the loop may block. A C library that blocks gets a separate loop, and so a separate thread.
public final class EventLoop: SerialExecutor, Sendable {
  private let core: EventLoopCore

  /// Starts the loop's thread, which ends some time after the last reference to the loop is released.
  ///
  /// - Parameter label: the thread's name. It is cut to 15 bytes.
  public init(label: String) {
    core = EventLoopCore(label: label)
    core.start()
  }

  deinit { core.stop() }

  /// Runs `job` on the loop, after all jobs that were enqueued before it.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    // The closure keeps the loop alive until the job has run.
    core.execute { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  /// Ordinary: jobs are compared by the identity of the loop.
  public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    UnownedSerialExecutor(ordinary: self)
  }

  /// Traps if the caller is not on the loop.
  public func checkIsolated() {
    precondition(core.isCurrent, "not on the event loop")
  }

  /// Whether the caller runs on the loop.
  public func isIsolatingCurrentContext() -> Bool? { core.isCurrent }

  /// Runs `body` on the loop, after all jobs that were enqueued before it.
  public func execute(_ body: @escaping @Sendable () -> Void) { core.execute(body) }

  /// Runs `body` on the loop once, after `delay`, unless the timer is cancelled first.
  ///
  /// The clock (CLOCK_MONOTONIC) does not advance while the machine sleeps. A timer is never early.
  ///
  /// - Parameters:
  ///   - delay: the minimum time to wait.
  ///   - body: the code to run.
  /// - Returns: a timer that can be cancelled. Releasing it does not cancel it.
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

  /// Cancels the timer. After a call on the loop, the callback does not start.
  public func cancel() { core.removeTimer(identifier) }
}
