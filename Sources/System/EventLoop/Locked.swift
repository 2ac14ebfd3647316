import Glibc

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
