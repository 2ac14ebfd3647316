import EventLoop
import Names

/// Writing to the file, and its failures.
extension Inbox {
  var file: InboxFile? { location.file }

  // MARK: Writing

  /// Writes all changes that the file lacks, and does the work of `body`, in one transaction. Returns whether the file
  /// is complete now. If not, memory keeps the missing changes.
  @discardableResult
  func commit(_ body: ((TapStore) throws(SQLiteError) -> Void)? = nil) -> Bool {
    openIfNeeded()
    guard location.keepsFinished else {
      forgetFinished()
      return false
    }
    if case .open = storage, body == nil, isSaved { return true }
    return withStore { store throws(SQLiteError) in try save(to: store, body) } != nil
  }

  /// Whether the file has every change.
  private var isSaved: Bool { dirty.isEmpty && !otherPlacesAreDirty && acknowledged.isEmpty && dropped.unsaved == 0 }

  private func save(to store: TapStore, _ body: ((TapStore) throws(SQLiteError) -> Void)? = nil) throws(SQLiteError) {
    var sequences: [String: Int64] = [:]
    var droppedNow: Int64 = 0
    try store.database.transaction { () throws(SQLiteError) in
      // First, so that no removal counts a tap as dropped that was sent.
      for id in acknowledged { try store.acknowledge(id) }
      for id in dirty where live[id] == nil { try store.remove(id) }
      for tap in live.values.filter({ dirty.contains($0.id) }).sorted(by: { $0.sequence < $1.sequence }) {
        sequences[tap.id] = try store.put(tap.stored)
      }
      if otherPlacesAreDirty { try store.setOtherPlaces(otherPlaces) }
      if dropped.unsaved > 0 { try store.addDropped(dropped.unsaved) }
      try body?(store)
      droppedNow = try store.dropped()
    }
    dropped = (droppedNow, 0)
    acknowledged = []
    for (id, sequence) in sequences { live[id]?.sequence = sequence }
    for id in dirty where live[id]?.stored.isOver == true && live[id]?.stored.place == nil { live[id] = nil }
    dirty = []
    otherPlacesAreDirty = false
    guard case .failing = storage else { return }
    storage = .open(store)
    store.database.setBusyTimeout(Database.busyTimeout)
    report("the inbox \(name) can be written again")
  }

  /// With ``Location/memoryWhileOpen(directory:name:)``: drops finished taps unless they wait to be sent, and records the
  /// notifications on the screen for the next run.
  private func forgetFinished() {
    for tap in live.values where tap.stored.isOver && !tap.stored.isOutgoing { drop(tap.id) }
    dirty = Set(live.keys)
    guard let file, lock != nil else { return }
    ScreenFile(path: file.screenPath).write(otherPlaces + live.values.compactMap(\.stored.place))
  }

  /// Drops a tap from memory and, with the next commit, from the file. Its notification may still be up.
  func drop(_ id: String) {
    guard let tap = live.removeValue(forKey: id) else { return }
    if let place = tap.stored.place { addOther(place) }
    if tap.sequence < Names.Agent.firstUnsavedSequence { dirty.insert(id) } else { dirty.remove(id) }
  }

  // MARK: Failures

  /// Runs `body` on the file. If the file is damaged, a new file replaces it and `body` runs once more. Returns nil if
  /// there is no file, or `body` failed.
  @discardableResult
  func withStore<Result>(_ body: (TapStore) throws(SQLiteError) -> Result) -> Result? {
    openIfNeeded()
    for _ in 1...2 {
      guard let store = storage.store else { return nil }
      do throws(SQLiteError) {
        defer { store.stamp = file?.stamp(after: store.stamp) }
        if let stamp = store.stamp, let error = file?.change(since: stamp) { throw error }
        return try body(store)
      } catch {
        recover(from: error, of: store)
        guard error.isDamage else { return nil }
      }
    }
    return nil
  }

  /// Replaces a damaged file by a new one, and writes the taps in memory to it.
  func recover(from error: SQLiteError, of store: TapStore) {
    guard error.isDamage, let file else {
      guard case .open = storage else { return }
      storage = .failing(store)
      // A program that locks the file for long must not delay every change.
      store.database.setBusyTimeout(0)
      return report("the inbox \(name) cannot be written (\(error.message)): taps are kept in memory until it can be")
    }
    dirty.formUnion(live.keys)
    otherPlacesAreDirty = true
    let lost = lostOutgoing(with: store)
    storage = .unusable
    if let held = lock, !held.isAt(file.lockPath) { lock = nil }
    guard takeLock() else { return }
    do throws(SQLiteError) {
      // SQLite closes the former file only after the move: closing writes to the path.
      try withExtendedLifetime(store) { () throws(SQLiteError) in
        try file.moveAside(because: error, at: now(), report: report)
      }
      // The new file counts from 0.
      dropped = (0, dropped.stored + dropped.unsaved + lost)
      acknowledged = []
      let new = try openStore()
      storage = .open(new)
      try save(to: new)
      new.stamp = file.stamp()
    } catch {
      if let new = storage.store { storage = .failing(new) }
      report("no new inbox can be written at \(name) (\(error.message)): taps are kept in memory until it can be")
    }
  }

  var name: String { file?.path ?? "in memory" }

  /// Searches the whole file for damage: a tap notices damage only in the pages that it uses. A large file takes a
  /// second, so this runs on its own thread.
  package func check() async {
    openIfNeeded()
    guard let file, case .open(let checked) = storage else { return }
    guard let damage = (try? await DedicatedThread.run { file.damage() }) ?? nil else { return }
    if let store = storage.store, store === checked { recover(from: damage, of: store) }
  }
}

extension Inbox.Location {
  /// The file that holds the taps, or held them before.
  var file: InboxFile? {
    switch self {
    case .file(let directory, let name): InboxFile(directory: directory, name: name)
    case .memory: nil
    case .memoryWhileOpen(let directory, let name): directory.map { InboxFile(directory: $0, name: name) }
    }
  }

  var keepsFinished: Bool {
    if case .memoryWhileOpen = self { false } else { true }
  }
}
