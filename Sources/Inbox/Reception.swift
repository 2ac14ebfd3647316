/// What became of a tap that was given to the inbox.
public struct Reception: Sendable, Hashable {
  /// Whether its id was not known; where it was, nothing has changed.
  public let isNew: Bool
  /// The ids of taps that were waiting, and whose time ended to make room for it. They are no longer in the inbox.
  public let expired: [String]

  static let known = Reception(isNew: false, expired: [])
  static let stored = Reception(isNew: true, expired: [])
}

/// What an earlier run has left.
public struct Resumption: Sendable, Hashable {
  /// Taps to show again in the states they have now, the oldest first.
  public let waiting: [TapSummary]
  /// The ids of older taps that were waiting and are now ``TapState/expired``.
  public let expired: [String]
  /// The notifications that may still be up, by the ids of their taps, whatever state those are in.
  public let places: [String: ScreenPlace]
  /// Other notifications that may still be up: they show no tap, or one that is no longer in the inbox.
  public let otherPlaces: [ScreenPlace]
}
