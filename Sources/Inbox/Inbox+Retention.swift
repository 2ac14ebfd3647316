/// How long taps are kept, and what ends their time.
extension Inbox {
  /// Applies the retention.
  ///
  /// - Returns: the ids of taps that were waiting and are now ``TapState/expired``.
  /// - Throws: ``InboxError/Code/storage``.
  public func prune() throws(InboxError) -> [String] {
    removeFormer()
    let time = now()
    let expired = try attempt { store throws(SQLiteError) in
      try store.transaction { () throws(SQLiteError) in try retain(in: store, at: time) }
    }
    for id in expired { finished.insert(id) }
    // Where another process has the file, they are its to remove.
    if !isDegraded { file?.removeAside(before: time.before(days: retention.days)) }
    if owesCompaction { compact() }
    return expired
  }

  /// Overwrites what was removed in the file, and makes that shorter where it is mostly empty. Where the disk is too full for that,
  /// it is done by what comes next.
  public func compact() {
    guard let store else { return }
    owesCompaction = (try? store.compact()) == nil
  }

  func retain(in store: TapStore, at time: Timestamp) throws(SQLiteError) -> [String] {
    let limit = time.before(days: retention.days)
    let maximum = retention.maximumTaps
    if try store.remove(before: limit, keeping: maximum) > 0 { owesCompaction = true }
    let overdue = try store.overdue(before: limit, excess: try store.count() - maximum)
    for id in overdue { try end(id, because: .overdue, in: store, at: time) }
    return overdue
  }

  /// Ends the time of a tap that waits. Why one has failed is worth more than what has ended its time.
  func end(
    _ id: String, because code: TapReason.Code, in store: TapStore, at time: Timestamp
  ) throws(SQLiteError) {
    guard keepsFinished else { return try store.remove(id) }
    guard let stored = try store.tap(id) else { return }
    let reason = stored.state == .failed ? stored.reason : TapReason(code)
    _ = try store.update(id, from: stored.state, to: .expired, reason: reason, at: time)
  }
}
