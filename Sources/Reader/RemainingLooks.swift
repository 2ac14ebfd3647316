/// For how many more looks for each technology something counts: so many as have to miss a tag until it is away.
struct RemainingLooks {
  private var counts: [Modulation: Int] = [:]

  /// Whether it counts for no look any more.
  var areOver: Bool { counts.isEmpty }

  /// Whether it counts for the next look for a technology.
  func include(_ modulation: Modulation) -> Bool { counts[modulation] != nil }

  /// It counts from here on, for all the looks for these.
  mutating func begin(_ modulations: some Sequence<Modulation>) {
    for modulation in modulations { counts[modulation] = PlacementTracker.missesUntilAway }
  }

  /// There will be no more looks for these.
  mutating func leaveOut(_ modulations: some Sequence<Modulation>) {
    for modulation in modulations { counts[modulation] = nil }
  }

  /// There was a look.
  mutating func looked(for modulation: Modulation) {
    counts[modulation] = counts[modulation].flatMap { $0 > 1 ? $0 - 1 : nil }
  }
}
