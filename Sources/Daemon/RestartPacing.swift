/// How often a reader session's tags are looked for anew: a client that asks whenever a tag is found, of which two lie there, has its
/// reader do nothing else.
///
/// Pure. What is asked for too soon is done a moment later, once for all that was asked until then: no client has to try again.
struct RestartPacing: Sendable, Hashable {
  typealias Instant = SuspendingClock.Instant

  enum Verdict: Sendable, Hashable {
    case now
    /// After so long, which is when `isDue` is to be called.
    case later(Duration)
    /// With the one that is due already.
    case together
  }

  /// From one time to the next.
  static let interval = Duration.milliseconds(200)

  private var last: Instant?
  private var isWaiting = false

  /// It is asked for.
  mutating func ask(at now: Instant) -> Verdict {
    guard !isWaiting else { return .together }
    if let last, last.duration(to: now) < Self.interval {
      isWaiting = true
      return .later(Self.interval - last.duration(to: now))
    }
    last = now
    return .now
  }

  /// The one that was put off is done.
  mutating func isDue(at now: Instant) {
    isWaiting = false
    last = now
  }
}
