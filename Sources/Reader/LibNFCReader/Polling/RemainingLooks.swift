/// The number of remaining looks per technology for which a condition lasts. It starts at
/// `PlacementTracker.missesUntilAway`.
struct RemainingLooks {
  private var counts: [Modulation: Int] = [:]

  /// Whether no looks remain.
  var areOver: Bool { counts.isEmpty }

  /// Whether the next look for a technology is one of the remaining ones.
  func include(_ modulation: Modulation) -> Bool { counts[modulation] != nil }

  /// Starts the count for these technologies.
  mutating func begin(_ modulations: some Sequence<Modulation>) {
    for modulation in modulations { counts[modulation] = PlacementTracker.missesUntilAway }
  }

  /// Drops technologies that are no longer polled.
  mutating func leaveOut(_ modulations: some Sequence<Modulation>) {
    for modulation in modulations { counts[modulation] = nil }
  }

  /// Counts a look.
  mutating func looked(for modulation: Modulation) {
    counts[modulation] = counts[modulation].flatMap { $0 > 1 ? $0 - 1 : nil }
  }
}
