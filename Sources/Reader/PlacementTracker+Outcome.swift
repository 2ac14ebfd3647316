import Tags

extension PlacementTracker {
  /// What has come of a look.
  enum Outcome: Hashable {
    /// A tag has come: read it, and say what it holds.
    case arrived(UInt64, TagActivation)
    /// A tag has come that may be the one of `resting`, which has an identifier of its own making: compare what they hold.
    case uncertain(UInt64, resting: UInt64, TagActivation)
    /// The tag of this number is away.
    case left(UInt64)
    /// A tag that is to be left alone is there.
    case avoided(uid: [UInt8])
    /// A tag of a kind that is not wanted is there.
    case unwanted(TagActivation)
    /// A tag that was to be left alone is away.
    case forgotten(uid: [UInt8])

    /// Whether a tag has to be read for it.
    var isToBeRead: Bool {
      switch self {
      case .arrived, .uncertain: true
      case .left, .avoided, .unwanted, .forgotten: false
      }
    }
  }
}
