package import Names

/// The result of storing a tap.
package struct Receipt: Sendable, Hashable {
  /// Whether the id was new. If not, the inbox is unchanged.
  package let isNew: Bool
  /// The ids of waiting taps that were removed to make room.
  package let expired: [String]

  static let known = Receipt(isNew: false, expired: [])
}

/// The taps and notifications that an earlier run left in the inbox and on the screen.
package struct Leftovers: Sendable, Hashable {
  /// Taps to show again, in their present states, oldest first.
  package let waiting: [TapSummary]
  /// The ids of older taps that were waiting and are now ``TapState/expired``.
  package let expired: [String]
  /// The notifications of taps that may still be up, by tap id. The taps may be in any state.
  package let places: [String: NotificationPlace]
  /// Other notifications that may still be up. They show no tap, or one that is not in the inbox any more.
  package let otherPlaces: [NotificationPlace]
}
