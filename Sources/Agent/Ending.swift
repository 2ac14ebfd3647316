/// Something that ends once, and those who wait for that. For one actor, which owns it.
struct Ending {
  private var hasEnded = false
  private var waiters: [CheckedContinuation<Void, Never>] = []

  /// Lets go everybody who waits, and whoever comes later.
  mutating func end() {
    hasEnded = true
    for waiter in waiters { waiter.resume() }
    waiters = []
  }

  /// Lets one go when it has ended.
  mutating func wait(_ continuation: CheckedContinuation<Void, Never>) {
    if hasEnded { continuation.resume() } else { waiters.append(continuation) }
  }
}
