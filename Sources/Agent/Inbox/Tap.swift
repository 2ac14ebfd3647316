package import Names

/// Microseconds since 1970-01-01 00:00 UTC, leap seconds not counted.
package struct Timestamp: Sendable, Hashable, Comparable {
  /// The number of microseconds.
  package let microseconds: Int64

  /// Microseconds since 1970-01-01 00:00 UTC.
  package init(microseconds: Int64) { self.microseconds = microseconds }

  /// The earlier one is the lesser.
  package static func < (a: Timestamp, b: Timestamp) -> Bool { a.microseconds < b.microseconds }

  /// The moment `days` days earlier, or the earliest possible one if that is out of range.
  package func before(days: Int) -> Timestamp {
    let (span, overflow) = Int64(days).multipliedReportingOverflow(by: 86_400_000_000)
    let (result, underflow) = microseconds.subtractingReportingOverflow(span)
    return Timestamp(microseconds: overflow || underflow ? .min : result)
  }
}

/// A tag that was read: the daemon's data, and the agent's decision about it.
package struct Tap: Sendable, Hashable {
  /// The daemon's UUID for this reading. The inbox holds it once.
  package let id: String
  /// When the tag was read.
  package let time: Timestamp
  /// The whole NDEF message.
  package let message: [UInt8]
  /// The tag's technology, for example `"type-2"`.
  package let technology: String
  /// The tag's UID. One that starts with 08 is random (see the NFC Forum's Digital specification).
  package let uid: [UInt8]
  /// The reader's object path at the daemon.
  package let reader: String
  /// The link in its normal form; nil if the message contains none that may be opened.
  package let uri: String?
  /// The text of the notification, or a name for contents without a link or a text.
  package let title: String
  /// The handler's desktop id; nil if no handler opens this tap.
  package internal(set) var handler: String?

  /// A reading of a tag.
  package init(
    id: String, time: Timestamp, message: [UInt8], technology: String, uid: [UInt8] = [], reader: String = "",
    uri: String?, title: String, handler: String?
  ) {
    self.id = id
    self.time = time
    self.message = message
    self.technology = technology
    self.uid = uid
    self.reader = reader
    self.uri = uri
    self.title = title
    self.handler = handler
  }
}

/// A tap with its state.
package struct StoredTap: Sendable, Hashable {
  /// What was read.
  package var tap: Tap
  /// Its state.
  package var state: TapState
  /// When it reached that state.
  package var changed: Timestamp
  /// Why it is in that state.
  package var reason: TapReason
  /// The notification that shows it, or showed it last; nil once that is gone.
  package var place: NotificationPlace?
  /// Whether it waits to be sent to another machine.
  package var isOutgoing: Bool

  /// A tap in this state.
  package init(
    tap: Tap, state: TapState, changed: Timestamp, reason: TapReason = .none, place: NotificationPlace? = nil,
    isOutgoing: Bool = false
  ) {
    self.tap = tap
    self.state = state
    self.changed = changed
    self.reason = reason
    self.place = place
    self.isOutgoing = isOutgoing
  }
}
