/// How long to wait before the next attempt to reach the bus: 50 ms at first, twice as long each time, 5 s at most.
///
/// A connection that did not live for the longest delay does not count as a success, so that a bus that takes everybody
/// in and throws them out again is not asked in a tight circle.
struct ReconnectionDelay {
  static let shortest = Duration.milliseconds(50)
  static let longest = Duration.seconds(5)
  private var upcoming = shortest

  /// The delay before the next attempt.
  mutating func next() -> Duration {
    defer { upcoming = min(upcoming * 2, Self.longest) }
    return upcoming
  }

  /// A connection has ended that had lived for `lifetime`.
  mutating func connectionEnded(after lifetime: Duration) {
    if lifetime >= Self.longest { upcoming = Self.shortest }
  }
}
