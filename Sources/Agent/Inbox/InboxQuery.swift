/// Which taps a list holds, and how many.
package struct InboxQuery: Sendable, Hashable {
  /// No list is longer than this.
  package static let maximumLimit = 1000
  /// In bytes.
  package static let maximumText = 256

  package let states: Set<TapState>
  /// Only taps that have this text in the title, the link, the handler's id or the rule's name, without regard to case;
  /// nil for all.
  package let text: String?
  /// Only taps with this handler; nil for all. So are ``technology`` and ``reader``.
  package let handler: String?
  package let technology: String?
  package let reader: String?
  package let newestFirst: Bool
  /// From 1 to ``maximumLimit``.
  package let limit: Int
  /// Only taps that arrived before the one with this id; nil for all.
  package let before: String?
  /// Only taps with a smaller ``TapSummary/sequence``; nil for all. Unlike a tap, a number cannot be removed meanwhile.
  package let beforeSequence: Int64?

  /// Clamps the limit to the range from 1 to ``maximumLimit``.
  package init(
    states: Set<TapState> = Set(TapState.allCases), text: String? = nil, handler: String? = nil,
    technology: String? = nil, reader: String? = nil, newestFirst: Bool = true, limit: Int = 100, before: String? = nil,
    beforeSequence: Int64? = nil
  ) {
    self.states = states
    self.text = text
    self.handler = handler
    self.technology = technology
    self.reader = reader
    self.newestFirst = newestFirst
    self.before = before
    self.beforeSequence = beforeSequence
    self.limit = min(max(limit, 1), Self.maximumLimit)
  }
}

/// A line of a list of taps, without the message, the UID, the technology and the reader. `Tap` has them.
package struct TapSummary: Sendable, Hashable {
  /// The daemon's UUID.
  package let id: String
  /// Of the reading.
  package let time: Timestamp
  /// In its normal form.
  package let uri: String?
  /// The text of the notification, or a name for contents without a link or a text.
  package let title: String
  package let receiver: TapReceiver
  package let state: TapState
  /// When the tap reached its state.
  package let changed: Timestamp
  package let reason: TapReason
  /// Greater than that of every earlier tap. Pages of a list are read by it.
  package let sequence: Int64
}

/// A tap with its message and its place in the order.
package struct ListedTap: Sendable, Hashable {
  package internal(set) var stored: Tap
  /// As in ``TapSummary/sequence``.
  package internal(set) var sequence: Int64

  var id: String { stored.id }
}

extension TapSummary {
  init(_ listed: ListedTap) {
    let tap = listed.stored
    self.init(
      id: tap.id, time: tap.time, uri: tap.uri, title: tap.title, receiver: tap.receiver, state: tap.state,
      changed: tap.changed, reason: tap.reason, sequence: listed.sequence)
  }
}

/// How long and how many taps are kept.
package struct Retention: Sendable, Hashable {
  /// Finished taps older than this are removed, and open ones expire.
  package let days: Int
  /// At most this many taps are kept, plus those that are being opened. The oldest finished ones are removed first,
  /// then the oldest waiting ones. Taps that wait to be sent stay, and do not count.
  package let maximumTaps: Int
  /// At most this many taps wait to be sent; the oldest are given up.
  package static let maximumOutgoing = 20_000
  /// In memory, the messages of these taps, as they are on the tags, have at most this many bytes together.
  static let maximumOutgoingBytes = 32 << 20

  /// Raises both to at least 1.
  package init(days: Int = 30, maximumTaps: Int = 500) {
    self.days = max(days, 1)
    self.maximumTaps = max(maximumTaps, 1)
  }
}
