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
  /// Only taps that arrived before the one with this id; nil for all.
  public let before: String?
  /// Only taps with a smaller ``TapSummary/sequence``; nil for all. Unlike a tap, a number cannot be removed meanwhile.
  public let beforeSequence: Int64?

  /// Clamps the limit to the range from 1 to ``maximumLimit``.
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

/// A line of a list of taps, without the message, the UID, the technology and the reader. `StoredTap` has them.
public struct TapSummary: Sendable, Hashable {
  /// The daemon's UUID for this reading.
  public let id: String
  /// When the tag was read.
  public let time: Timestamp
  /// The link in its normal form.
  public let uri: String?
  /// The text of the notification, or a name for contents without a link or a text.
  public let title: String
  /// The handler's desktop id.
  public let handler: String?
  /// The tap's state.
  public let state: TapState
  /// When it reached this state.
  public let changed: Timestamp
  /// Why it is in this state.
  public let reason: TapReason
  /// Greater than that of every earlier tap. Pages of a list are read by it.
  public let sequence: Int64
}

/// A tap with its message and its place in the order.
public struct ListedTap: Sendable, Hashable {
  /// The tap.
  public internal(set) var stored: StoredTap
  /// As in ``TapSummary/sequence``.
  public internal(set) var sequence: Int64

  var id: String { stored.tap.id }
}

extension TapSummary {
  init(_ listed: ListedTap) {
    let (tap, stored) = (listed.stored.tap, listed.stored)
    self.init(
      id: tap.id, time: tap.time, uri: tap.uri, title: tap.title, handler: tap.handler, state: stored.state,
      changed: stored.changed, reason: stored.reason, sequence: listed.sequence)
  }
}

/// How long and how many taps are kept.
public struct Retention: Sendable, Hashable {
  /// Finished taps older than this are removed, and open ones expire.
  public let days: Int
  /// At most this many taps are kept, plus those that are being opened. The oldest finished ones are removed first,
  /// then the oldest waiting ones. Taps that wait to be sent stay, and do not count.
  public let maximumTaps: Int
  /// At most this many taps wait to be sent; the oldest are given up.
  public static let maximumOutgoing = 20_000
  /// In memory, the messages of these taps have at most this many bytes together.
  static let maximumOutgoingBytes = 32 << 20

  /// Raises both to at least 1.
  public init(days: Int = 30, maximumTaps: Int = 500) {
    self.days = max(days, 1)
    self.maximumTaps = max(maximumTaps, 1)
  }
}
