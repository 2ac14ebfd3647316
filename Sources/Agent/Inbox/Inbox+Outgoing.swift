import NDEF
import Names

/// The outbox: the taps that wait to be sent to another machine.
///
/// Such a tap is a row of the inbox with a mark, so it is stored together with the tap. It waits until the program that
/// sends it acknowledges it, in any state.
extension Inbox {
  /// The first taps that wait, in the order in which they were stored. Takes nothing away.
  ///
  /// `limit` is at most ``InboxQuery/maximumLimit``. The messages may have `bytes` bytes together; the first tap is
  /// returned in any case, so the list is empty only if there are no more. Taps that the file does not have yet are
  /// numbered from 2^52, and get a lower number when it has them.
  package func outgoing(limit: Int, after sequence: Int64? = nil, bytes: Int) -> [ListedTap] {
    var (taps, size) = ([ListedTap](), 0)
    for id in waitingToBeSent(after: sequence ?? 0, limit: min(max(limit, 1), InboxQuery.maximumLimit)).map(\.id) {
      guard let tap = find(id) else { continue }
      size += tap.stored.read.bytes.count
      if size > bytes && !taps.isEmpty { break }
      taps.append(tap)
    }
    return taps
  }

  /// Records that these taps were sent. Ids of other taps are ignored.
  ///
  /// If the file cannot be written, memory keeps the change. A process that ends before it can be written sends these
  /// taps again.
  package func acknowledge(_ ids: [String]) {
    openIfNeeded()
    // Only ids that the file has: with a full disk, the set grows no further than the outbox.
    let stored = withStore { store throws(SQLiteError) -> [String] in
      var stored: [String] = []
      for id in ids { if try store.isOutgoing(id) { stored.append(id) } }
      return stored
    }
    acknowledged.formUnion(stored ?? [])
    ids.forEach(removeMark)
    // They count against the retention from now on.
    removeFinished(evenIfFew: false)
  }

  package func outgoingCounts() -> OutgoingCounts {
    let waiting = waitingToBeSent(after: 0, limit: 2 * Retention.maximumOutgoing)
    return OutgoingCounts(
      waiting: waiting.count, oldest: waiting.first?.time, dropped: dropped.stored + dropped.unsaved)
  }

  func removeMark(_ id: String) {
    guard let tap = live[id], tap.stored.isOutgoing else { return }
    live[id]?.stored.isOutgoing = false
    if tap.sequence < Names.Agent.firstUnsavedSequence { acknowledged.insert(id) }
  }

  private func waitingToBeSent(after sequence: Int64, limit: Int) -> [TapStore.Outgoing] {
    let most = limit + dirty.count + acknowledged.count
    let kept = withStore { store throws(SQLiteError) in try store.outgoing(after: sequence, limit: most) }
    let unsaved = live.values.filter {
      $0.stored.isOutgoing && $0.sequence > sequence && (kept == nil || dirty.contains($0.id))
    }.map { TapStore.Outgoing(id: $0.id, time: $0.stored.time, sequence: $0.sequence) }
    let stored = (kept ?? []).filter { !dirty.contains($0.id) && !acknowledged.contains($0.id) }
    return Array((stored + unsaved).sorted { $0.sequence < $1.sequence }.prefix(limit))
  }

  // MARK: Bounds

  /// If the file cannot be written, gives up taps in memory: those that were read before `time`, and the oldest beyond
  /// the limits of ``Retention``.
  func giveUpInMemory(before time: Timestamp?) {
    var (count, bytes) = (0, 0)
    for tap in live.values.filter(\.stored.isOutgoing).sorted(by: { $0.sequence > $1.sequence }) {
      (count, bytes) = (count + 1, bytes + tap.stored.read.bytes.count)
      let isOld = time.map { tap.stored.time < $0 } ?? false
      guard isOld || count > Retention.maximumOutgoing || bytes > Retention.maximumOutgoingBytes else { continue }
      removeMark(tap.id)
      dropped.unsaved += 1
    }
  }

  /// Loads the taps of the file that wait into memory, the newest ones up to the limit, before the file is deleted.
  func loadOutgoing() {
    guard storage.store != nil else { return }
    var bytes = 0
    for id in waitingToBeSent(after: 0, limit: Retention.maximumOutgoing).map(\.id).reversed() where live[id] == nil {
      guard let tap = find(id) else { continue }
      bytes += tap.stored.read.bytes.count
      if bytes > Retention.maximumOutgoingBytes { return }
      live[id] = tap
    }
  }

  /// As far as the damaged file can still be read.
  func lostOutgoing(with store: TapStore) -> Int64 {
    let stored = (try? store.outgoing(after: 0, limit: 2 * Retention.maximumOutgoing)) ?? []
    return Int64(stored.count { live[$0.id] == nil && !acknowledged.contains($0.id) })
  }
}

package struct OutgoingCounts: Sendable, Hashable {
  package let waiting: Int
  /// When the first of them was read; nil if none waits.
  package let oldest: Timestamp?
  /// How many taps were removed before they were sent: by a limit, by ``Inbox/clear(_:)``, or with a damaged file. The
  /// file keeps this number, and it never goes down.
  package let dropped: Int64
}
