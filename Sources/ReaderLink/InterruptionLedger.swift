/// How often a reader has failed while one tag was read, over all its processes.
///
/// A process counts that for itself, but may end for another each time the reader is plugged in anew; and a tag can take a reader's power, so that it looks
/// unplugged. Without this it would be tried for ever, and nobody would hear of it.
struct InterruptionLedger {
  /// As often as a process tries by itself.
  static let most = ReaderLimits.interruptions

  typealias Instant = SuspendingClock.Instant

  /// For how long a failure counts together with the next one: longer than a device that fails is left alone (`OpeningSchedule`), or than
  /// somebody takes to plug it in again and lay the tag down.
  static let memory = Duration.seconds(120)

  /// From the moment at which reading a tag is given up to the word that the reader has failed, which first closes its device.
  static let untilItIsSaid = ReaderTiming.longestPromise

  /// The tag that was being read when something came between, and when, until it is known what.
  private var unread: (tag: Placement, since: Instant)?
  private var failures: (uid: [UInt8], count: Int, last: Instant)?

  /// A tag is being read.
  mutating func begins() { unread = nil }

  /// The reader has done something since, and what came between was the tag, taken away too early, or an order.
  mutating func readerWorks() { unread = nil }

  /// It was not read to its end.
  mutating func breaksOff(_ placement: Placement, at now: Instant) { unread = (placement, now) }

  /// It was read, or its process has said why that cannot be.
  mutating func ends(_ placement: Placement) {
    if failures?.uid == placement.uid { failures = nil }
  }

  /// The reader has failed or is away.
  ///
  /// - Returns: the tag that this has happened with too often; nil where there is none.
  mutating func readerFailed(at now: Instant) -> Placement? {
    defer { unread = nil }
    // One that names no UID cannot be told from another.
    guard let (tag, since) = unread, !tag.uid.isEmpty, now - since <= Self.untilItIsSaid else { return nil }
    var count = 1
    if let failures, failures.uid == tag.uid, now - failures.last <= Self.memory { count += failures.count }
    failures = count < Self.most ? (tag.uid, count, now) : nil
    return count < Self.most ? nil : tag
  }
}
