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
    /// A tag of this number is there that is not announced: the daemon should know.
    case known(UInt64, TagActivation)
    /// A tag is there that the daemon knows.
    case recognized(TagActivation)
    /// A tag of a kind that is not wanted is there.
    case unwanted(TagActivation)

    /// Whether a tag has to be read for it.
    var isToBeRead: Bool {
      switch self {
      case .arrived, .uncertain: true
      case .left, .known, .recognized, .unwanted: false
      }
    }
  }
}
