import ReaderProtocol

/// Counts, across all processes of a reader, how often the reader failed while one tag was read.
///
/// A process keeps its own count, but it may end for a successor each time the reader is plugged in again. A tag can
/// also cut the reader's power, so that the reader looks unplugged. Without this count, the daemon would retry such a
/// tag forever and never announce it.
struct InterruptionLedger {
  /// The same limit as within one process.
  static let most = ReaderLimits.interruptions

  typealias Instant = SuspendingClock.Instant

  /// Failures that are further apart than this are not counted together. The process opens a failed device again within
  /// a shorter time (`OpeningSchedule`). A person also needs less to plug it in again and put the tag down.
  static let memory = Duration.seconds(120)

  /// The longest time from an interrupted read to the process's report that the reader failed. In between, the process
  /// closes the device.
  static let untilItIsSaid = ReaderTiming.longestPromise

  /// The tag of an interrupted read and the time of the interruption, until its cause is known.
  private var unread: (tag: Placement, since: Instant)?
  private var failures: (uid: [UInt8], count: Int, last: Instant)?

  /// The process starts to read a tag.
  mutating func begins() { unread = nil }

  /// The reader has worked since the interruption. The cause was the tag, which was removed too early, or a command of
  /// the daemon.
  mutating func readerWorks() { unread = nil }

  /// The read was interrupted.
  mutating func breaksOff(_ placement: Placement, at now: Instant) { unread = (placement, now) }

  /// The tag was read, or its process reported why it cannot be read.
  mutating func ends(_ placement: Placement) {
    if failures?.uid == placement.uid { failures = nil }
  }

  /// The reader failed or disappeared. Returns the tag with which this has happened too often.
  mutating func readerFailed(at now: Instant) -> Placement? {
    defer { unread = nil }
    // A tag without a UID cannot be distinguished from others.
    guard let (tag, since) = unread, !tag.uid.isEmpty, now - since <= Self.untilItIsSaid else { return nil }
    var count = 1
    if let failures, failures.uid == tag.uid, now - failures.last <= Self.memory { count += failures.count }
    failures = count < Self.most ? (tag.uid, count, now) : nil
    return count < Self.most ? nil : tag
  }
}
