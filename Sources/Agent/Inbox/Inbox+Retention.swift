/// How long taps are kept, and which are removed.
extension Inbox {
  /// Applies the retention. Returns the ids of taps that were waiting and are now ``TapState/expired``, or
  /// ``TapState/failedOffScreen`` if they have failed.
  package func prune() -> [String] {
    let expired = applyRetention(to: Set(live.keys))
    commit()
    if storage.store != nil { file?.removeAside(before: now().before(days: retention.days)) }
    compact()
    return expired
  }

  /// Overwrites removed taps in the file, and shortens a file that is mostly empty. If the disk is too full for that,
  /// the next ``prune()`` tries again.
  package func compact() {
    guard let store = storage.store else { return }
    _ = try? store.compact()
    store.stamp = file?.stamp(after: store.stamp)
  }

  /// Removes taps for good, about ``InboxClearing/portion`` at most. Unless only some ids are asked for, also removes
  /// damaged files that were moved aside. Returns their ids. After a whole portion there may be more.
  ///
  /// Throws ``InboxError/Code/storage`` if the file cannot be written: its taps would come back.
  package func clear(_ clearing: InboxClearing) throws(InboxError) -> [String] {
    var removed: [String] = []
    if location.keepsFinished {
      let isRemoved = commit { store throws(SQLiteError) in
        removed = try store.remove(clearing, limit: InboxClearing.portion)
      }
      guard isRemoved else {
        if case .taken = storage { throw .inUse }
        throw .notWritable
      }
      forget(removed)
    } else {
      // This location keeps only taps with a notification, and those that wait to be sent.
      removed = live.values.filter { clearing.includes($0.stored) }.map(\.id)
      dropped.unsaved += Int64(removed.count { live[$0]?.stored.isOutgoing == true })
      removed.forEach(drop)
    }
    commit()
    for id in removed.suffix(64) { finished.insert(id) }
    if clearing.ids == nil { file?.removeAside(before: clearing.before ?? Timestamp(microseconds: .max)) }
    return removed
  }

  /// Those that wait for the user, oldest first.
  var waiting: [ListedTap] {
    live.values.filter { !$0.stored.isOver && $0.stored.state != .opening }.sorted { $0.sequence < $1.sequence }
  }

  /// Removes finished taps, and ends those of `ids` that wait and are too old or too many. Returns the ids of those
  /// that were ended; the caller commits that.
  func applyRetention(to ids: Set<String>) -> [String] {
    let limit = now().before(days: retention.days)
    let excess = removeFinished(evenIfFew: true)
    let oldest = Set(waiting.filter { !$0.stored.isOutgoing }.prefix(max(excess, 0)).map(\.id))
    let overdue = waiting.filter { ids.contains($0.id) && ($0.stored.time < limit || oldest.contains($0.id)) }
    for tap in overdue { end(tap, because: .overdue) }
    return overdue.map(\.id)
  }

  /// Ends a waiting tap. A failed one keeps the reason of its failure, which is more useful.
  func end(_ tap: ListedTap, because code: TapReason.Code) {
    let state = tap.stored.state
    change(tap.id, to: state.afterNotification, reason: state == .failed ? tap.stored.reason : TapReason(code))
    finished.insert(tap.id)
  }

  /// Commits a new tap, and drops the oldest taps if there are too many: finished ones first, then waiting ones. So a
  /// tag with endless new taps cannot fill the disk. Returns the ids of waiting taps that were dropped.
  func makeRoom(for id: String) -> [String] {
    let excess = removeFinished(evenIfFew: false)
    guard excess > 0 else { return [] }
    let oldest = live.values.filter { $0.id != id && $0.stored.state != .opening && !$0.stored.isOutgoing }.sorted {
      ($0.stored.isOver ? 0 : 1, $0.sequence) < ($1.stored.isOver ? 0 : 1, $1.sequence)
    }
    for tap in oldest.prefix(excess) {
      drop(tap.id)
      finished.insert(tap.id)
    }
    commit()
    return oldest.prefix(excess).filter { !$0.stored.isOver }.map(\.id)
  }

  /// Commits, and removes finished taps from the file, with `evenIfFew` also old ones if there is room. Before that,
  /// gives up taps that wait to be sent and are too many, or with `evenIfFew` too old. Returns how many more taps there
  /// are than the retention allows.
  @discardableResult
  func removeFinished(evenIfFew: Bool) -> Int {
    let (limit, maximum) = (now().before(days: retention.days), retention.maximumTaps)
    var (removed, givenUp, excess) = ([String](), [String](), 0)
    let isSaved = commit { store throws(SQLiteError) in
      // After damage this runs again, on a new file.
      (removed, givenUp, excess) = ([], [], 0)
      givenUp = try store.giveUpOutgoing(before: evenIfFew ? limit : nil, keeping: Retention.maximumOutgoing)
      guard try store.count() > maximum || evenIfFew else { return }
      removed = try store.remove(before: limit, keeping: maximum)
      excess = try store.count() - maximum
    }
    guard isSaved else {
      giveUpInMemory(before: evenIfFew ? limit : nil)
      return live.values.count { !$0.stored.isOutgoing } - maximum
    }
    for id in givenUp { live[id]?.stored.isOutgoing = false }
    forget(removed)
    return excess
  }

  /// The file no longer has these taps. Their notifications may still be up.
  private func forget(_ removed: [String]) {
    for id in removed { if let place = live.removeValue(forKey: id)?.stored.place { addOther(place) } }
  }
}

/// Which taps to remove from the inbox for good. A tap that is being opened always stays.
package struct InboxClearing: Sendable, Hashable {
  /// Only these taps; nil for all.
  package let ids: [String]?
  package let before: Timestamp?
  /// The ids of the taps that have a notification. Other waiting taps always stay, because they are about to get one.
  package let onScreen: Set<String>
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
  func includes(_ tap: Tap) -> Bool {
    let mayGo = onScreen.contains(tap.id) ? includesOnScreen && tap.state != .opening : tap.isOver
    return mayGo && (ids?.contains(tap.id) ?? true) && (before.map { tap.time < $0 } ?? true)
  }
}
