public import Dispatch

/// The serial executor of a process: one queue that owns libdbus and everything that decides.
///
/// Actors that name an event loop as their executor share one isolation domain in time: no two of them run at once, a
/// call from one to another does not change threads, and `assumeIsolated` works between them. Swift on Linux has no
/// `DispatchSerialQueue` that is an executor, hence this one.
///
/// Nothing may block on it. A C library that blocks gets a thread of its own.
public final class EventLoop: SerialExecutor, Sendable {
  /// The queue that jobs and dispatch sources of this loop run on.
  public let queue: DispatchQueue

  /// - Parameter label: the queue's name, as a debugger shows it.
  public init(label: String) {
    queue = DispatchQueue(label: label)
  }

  /// Runs `job` on the queue, after everything that was enqueued before it.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = asUnownedSerialExecutor()
    queue.async { job.runSynchronously(on: executor) }
  }

  /// Ordinary: jobs are compared by the identity of the loop.
  public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    UnownedSerialExecutor(ordinary: self)
  }

  /// Traps where the caller is not on the loop.
  public func checkIsolated() {
    dispatchPrecondition(condition: .onQueue(queue))
  }
}
