/// The delay before the next attempt to reach the bus: 50 ms at first, doubled each time, 5 s at most.
///
/// A connection resets the delay only if it lasted at least as long as the longest delay. So a bus that accepts and
/// then drops each connection is not retried in a tight loop.
struct ReconnectionDelay {
  static let shortest = Duration.milliseconds(50)
  static let longest = Duration.seconds(5)
  private var upcoming = shortest

  /// The delay before the next attempt.
  mutating func next() -> Duration {
    defer { upcoming = min(upcoming * 2, Self.longest) }
    return upcoming
  }

  /// Records that a connection ended after `lifetime`.
  mutating func connectionEnded(after lifetime: Duration) {
    if lifetime >= Self.longest { upcoming = Self.shortest }
  }
}
