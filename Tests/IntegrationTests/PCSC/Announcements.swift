import TestSupport

/// Counts the notifications of taps by their text, for several readers at once.
actor Announcements {
  private var counts: [String: Int] = [:]
  private var waiters: [(text: String, count: Int, continuation: CheckedContinuation<Void, Never>)] = []

  /// Counts all notifications of taps from here on, until the task is cancelled and one more arrives.
  func follow(_ server: NotificationServerStandIn) -> Task<Void, Never> {
    Task {
      while !Task.isCancelled, let shown = try? await server.nextTap() { note(shown.body) }
    }
  }

  /// How often this text was shown.
  func count(of text: String) -> Int { counts[text] ?? 0 }

  /// All texts that were shown, with their numbers.
  var all: [String: Int] { counts }

  /// Waits until this text was shown so many times.
  func reach(_ count: Int, of text: String) async {
    guard self.count(of: text) < count else { return }
    await withCheckedContinuation { waiters.append((text, count, $0)) }
  }

  private func note(_ text: String) {
    counts[text, default: 0] += 1
    let due = waiters.filter { self.count(of: $0.text) >= $0.count }
    waiters.removeAll { self.count(of: $0.text) >= $0.count }
    for waiter in due { waiter.continuation.resume() }
  }
}
