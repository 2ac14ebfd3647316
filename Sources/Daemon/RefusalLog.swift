/// Which refusals are worth a line in the log: anybody on the bus can cause one after the other.
///
/// Pure. One line a user and a minute, and no more than 32 users a minute.
struct RefusalLog: Sendable {
  static let interval = Duration.seconds(60)
  static let limit = 32

  typealias Instant = SuspendingClock.Instant

  /// When the last line of a user was written.
  private var lines: [UInt32: Instant] = [:]

  /// Whether a refusal of a user's is to be logged; it counts as logged then.
  mutating func admits(_ uid: UInt32, at now: Instant) -> Bool {
    lines = lines.filter { $0.value + Self.interval > now }
    guard lines[uid] == nil, lines.count < Self.limit else { return false }
    lines[uid] = now
    return true
  }
}
