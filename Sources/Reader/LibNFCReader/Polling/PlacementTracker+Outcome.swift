import ReaderKit
import Tags

extension PlacementTracker {
  enum Outcome: Hashable {
    /// A new tag: read it and announce its content.
    case arrived(UInt64, TagActivation)
    /// A tag that may be the resting tag `resting` with a new random identifier: compare their contents.
    case uncertain(UInt64, resting: UInt64, TagActivation)
    /// The tag with this placement number is gone.
    case left(UInt64)
    /// A tag that is not announced, but reported to the daemon as known.
    case known(UInt64, TagActivation)
    /// A tag that the daemon already knows.
    case recognized(TagActivation)
    /// A tag of a kind that is not wanted.
    case unwanted(TagActivation)

    /// Whether the tag has to be read.
    var isToBeRead: Bool {
      switch self {
      case .arrived, .uncertain: true
      case .left, .known, .recognized, .unwanted: false
      }
    }
  }
}
