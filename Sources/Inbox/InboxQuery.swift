/// Which taps a list holds, and how many.
public struct InboxQuery: Sendable, Hashable {
  /// No list is longer than this.
  public static let maximumLimit = 1000

  /// Only taps in one of these states.
  public let states: Set<TapState>
  /// Whether the newest tap comes first.
  public let newestFirst: Bool
  /// At most this many, from 1 to ``maximumLimit``.
  public let limit: Int
  /// Only taps that came before the one with this id; nil for all.
  public let before: String?
  /// Only taps with a lesser ``TapSummary/sequence``; nil for all. Unlike a tap, a number is not removed in between.
  public let beforeSequence: Int64?

  /// - Parameters:
  ///   - states: only taps in one of these states; all of them by default.
  ///   - newestFirst: whether the newest tap comes first.
  ///   - limit: at most this many; brought into the range from 1 to ``maximumLimit``.
  ///   - before: only taps that came before the one with this id.
  ///   - beforeSequence: only taps with a lesser ``TapSummary/sequence``.
  public init(
    states: Set<TapState> = Set(TapState.allCases), newestFirst: Bool = true, limit: Int = 100, before: String? = nil,
    beforeSequence: Int64? = nil
  ) {
    self.states = states
    self.newestFirst = newestFirst
    self.before = before
    self.beforeSequence = beforeSequence
    self.limit = min(max(limit, 1), Self.maximumLimit)
  }
}

/// A line of a list of taps: everything but the message, which may be large.
public struct TapSummary: Sendable, Hashable {
  /// The daemon's UUID for this reading.
  public let id: String
  /// When the tag was read.
  public let time: Timestamp
  /// The link in its normal form.
  public let uri: String?
  /// What the notification says will happen.
  public let title: String
  /// The handler's desktop id.
  public let handler: String?
  /// Where the tap stands.
  public let state: TapState
  /// When it got there.
  public let changed: Timestamp
  /// Why it is there.
  public let reason: TapReason
  /// Greater than that of every tap that came before; what a list is read by, page for page.
  public let sequence: Int64
}

/// A tap with its message, as a list of such has it.
public struct ListedTap: Sendable, Hashable {
  /// The tap.
  public let stored: StoredTap
  /// As in ``TapSummary/sequence``.
  public let sequence: Int64
}

/// How long and how many taps are kept.
public struct Retention: Sendable, Hashable {
  /// Finished taps older than this are removed, and open ones expire.
  public let days: Int
  /// At most this many taps are kept, and those that are being opened; the oldest finished ones go first, then the oldest
  /// that wait.
  public let maximumTaps: Int

  /// - Parameters:
  ///   - days: at least 1.
  ///   - maximumTaps: at least 1.
  public init(days: Int = 30, maximumTaps: Int = 500) {
    self.days = max(days, 1)
    self.maximumTaps = max(maximumTaps, 1)
  }
}
