import Glibc

/// Runs blocking C calls on a separate thread, because they must not run on an event loop or on Swift's cooperative
/// pool.
public enum DedicatedThread {
  /// Runs blocking code on a separate thread and returns its result. Only the calling task waits.
  ///
  /// - Parameter body: the blocking code.
  /// - Returns: the result of `body`.
  /// - Throws: `SystemError` if the system has no thread left.
  public static func run<Value: Sendable>(
    _ body: @escaping @Sendable () -> Value
  ) async throws(SystemError) -> Value {
    // Passed through a lock for Thread Sanitizer. If a continuation is resumed before the task waits for it, Thread
    // Sanitizer does not see the order between the two.
    let result = Locked<Result<Value, SystemError>?>(nil)
    await withCheckedContinuation { continuation in
      do throws(SystemError) {
        try start {
          let value = body()
          result.withLock { $0 = .success(value) }
          continuation.resume()
        }
      } catch {
        result.withLock { $0 = .failure(error) }
        continuation.resume()
      }
    }
    guard let result = result.withLock(\.self) else { preconditionFailure("resumed without a result") }
    return try result.get()
  }

  /// Starts a detached thread that runs `body` and ends with it.
  ///
  /// The thread blocks all signals, so that they are delivered to the threads that expect them.
  ///
  /// - Parameters:
  ///   - stackSize: the size of the stack in bytes; only pages that are touched become resident.
  ///   - body: the code that the thread runs.
  /// - Throws: `SystemError` if the system has no thread left.
  public static func start(stackSize: Int = 512 * 1024, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    pthread_attr_setstacksize(&attributes, stackSize)

    // A thread inherits its creator's mask. With the mask set here, the new thread never has a moment in which it could
    // take a signal.
    var all = sigset_t()
    var previous = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &previous)
    defer { pthread_sigmask(SIG_SETMASK, &previous, nil) }

    let context = Unmanaged.passRetained(ThreadBody(body))
    var thread = pthread_t()
    let result = pthread_create(
      &thread, &attributes,
      { context in
        guard let context else { return nil }
        Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().run()
        return nil
      }, context.toOpaque())
    guard result == 0 else {
      context.release()
      throw SystemError("start a thread", errno: result)
    }
  }
}

/// Carries a closure through the C interface.
private final class ThreadBody: Sendable {
  let run: @Sendable () -> Void

  init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

/// A value behind a pthread mutex.
///
/// Not `Synchronization.Mutex`: a thread that waits for one waits in the standard library, which is not instrumented.
/// Thread Sanitizer then sees no order between the two threads and reports a race. Every hand-over between threads in
/// this project and in its tests goes through a `Locked`.
///
/// `@unchecked` because the value is accessed only while the mutex is locked.
package final class Locked<Value>: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private var value: Value

  package init(_ value: sending Value) {
    self.value = value
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deinitialize(count: 1)
    mutex.deallocate()
  }

  /// Runs `body` with exclusive access to the value. `body` must not lock again.
  package func withLock<Result>(_ body: (inout Value) -> sending Result) -> sending Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body(&value)
  }
}
