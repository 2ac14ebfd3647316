import Glibc

/// A value behind a pthread mutex.
///
/// Not `Synchronization.Mutex`, whose futex Thread Sanitizer does not see: every hand-over between threads in this project
/// goes through one of these, and all of them would be reported.
///
/// `@unchecked` because the value and the mutex are only ever touched between locking and unlocking the mutex.
final class Locked<Value>: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private var value: Value

  init(_ value: sending Value) {
    self.value = value
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deinitialize(count: 1)
    mutex.deallocate()
  }

  /// Runs `body` with the value to itself. `body` must not lock again.
  func withLock<Result>(_ body: (inout Value) -> sending Result) -> sending Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body(&value)
  }
}
