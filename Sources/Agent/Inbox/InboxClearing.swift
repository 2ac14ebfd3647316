/// Which taps to remove from the inbox for good. A tap that is being opened always stays.
package struct InboxClearing: Sendable, Hashable {
  /// Only these taps; nil for all.
  package let ids: [String]?
  /// Only taps that were read before this time.
  package let before: Timestamp?
  /// The ids of the taps that have a notification. Other waiting taps always stay, because they are about to get one.
  package let onScreen: Set<String>
  /// Whether the taps with a notification are removed, too.
  package let includesOnScreen: Bool

  /// At most this many are removed at once, so that a new tap does not have to wait long.
  package static let portion = 1000

  /// Of `ids`, only the first ``portion`` are removed.
  package init(
    ids: [String]? = nil, before: Timestamp? = nil, onScreen: Set<String> = [], includesOnScreen: Bool = false
  ) {
    self.ids = ids.map { Array($0.prefix(Self.portion)) }
    self.before = before
    self.onScreen = onScreen
    self.includesOnScreen = includesOnScreen
  }
}

extension InboxClearing {
  func includes(_ tap: StoredTap) -> Bool {
    let mayGo = onScreen.contains(tap.tap.id) ? includesOnScreen && tap.state != .opening : tap.isOver
    return mayGo && (ids?.contains(tap.tap.id) ?? true) && (before.map { tap.tap.time < $0 } ?? true)
  }
}
