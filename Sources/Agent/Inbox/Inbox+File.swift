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

extension Inbox {
  typealias Loaded = (taps: Set<String>, otherPlaces: [NotificationPlace])

  func openIfNeeded() { if case .unopened = storage { _ = open() } }

  /// With ``Location/memoryWhileOpen(directory:name:)``, deletes the file instead. Returns what an earlier run left;
  /// nil if the file cannot be used.
  private func open() -> Loaded? {
    let former = storage
    guard takeLock() else { return nil }
    do throws(SQLiteError) {
      guard location.keepsFinished else {
        let lost = file?.outgoing().count { live[$0] == nil } ?? 0
        if try file?.remove() == true { notice("taps are not kept any more: the inbox \(name) was removed") }
        dropped.unsaved += Int64(lost)
        storage = .off
        // Without the lock, another agent may be writing that list.
        return load([], lock == nil ? [] : file.map { ScreenFile(path: $0.screenPath).read() } ?? [])
      }
      let store = try openStore()
      if case .unopened = former { storage = .open(store) } else { storage = .failing(store) }
      dropped.stored = try store.dropped()
      let loaded = load(try store.liveTaps(), try store.otherPlaces())
      store.stamp = file?.stamp()
      return loaded
    } catch {
      if error.isDamage, let store = storage.store {
        recover(from: error, of: store)
        return storage.store == nil ? nil : load([], [])
      }
      storage = .unusable
      if case .unusable = former { return nil }
      report(
        location.keepsFinished
          ? "the inbox \(name) cannot be opened (\(error.message)): taps are kept in memory until it can be"
          : "the inbox \(name) is still there, though taps are not kept any more: \(error.message); remove it by hand")
      return nil
    }
  }

  func openStore() throws(SQLiteError) -> TapStore {
    guard let file else { return try TapStore(path: ":memory:") }
    return try file.open(at: now(), maximumPages: maximumPages, report: report)
  }

  /// Those of an earlier run. The taps of this run stay as they are.
  private func load(_ taps: [ListedTap], _ places: [NotificationPlace]) -> Loaded {
    let isNew: (ListedTap) -> Bool = { [live, dirty] in live[$0.id] == nil && !dirty.contains($0.id) }
    let ownPlaces = Set(otherPlaces + live.values.compactMap(\.stored.place))
    // The daemon may have sent a tap again while the file could not be read. Its former notification then shows no tap.
    let left = (places + taps.filter { !isNew($0) }.compactMap(\.stored.place)).filter { !ownPlaces.contains($0) }
    let new = taps.filter(isNew)
    for tap in new { live[tap.id] = tap }
    for id in acknowledged { removeMark(id) }
    otherPlaces = left + otherPlaces
    return (Set(new.map(\.id)), left)
  }

  /// Returns whether the file may be used. If locks are impossible there, it may.
  func takeLock() -> Bool {
    guard lock == nil, let file else { return true }
    file.prepareDirectory()
    switch InboxLock.ask(file.lockPath) {
    case .held(let lock): self.lock = lock
    case .impossible: break
    case .taken:
      if case .taken = storage { return false }
      storage = .taken
      report(
        "the inbox \(name) is in use by another process of this user, for example the agent of another session bus: "
          + (location.keepsFinished ? "taps are kept in memory until it is free" : "it is removed once it is free"))
      return false
    }
    return true
  }

  /// Tries again to open or write the file. Returns the open taps and notifications of an earlier run, at most as many
  /// taps as in ``resume(maximum:)``; nil unless the file was opened only now.
  package func retryFile(maximum: Int) -> Leftovers? {
    switch storage {
    case .open, .failing, .off:
      commit()
      return nil
    case .taken where isWaitingForLock: return nil
    case .unopened, .unusable, .taken: return open().map { settle($0, maximum: maximum) }
    }
  }

  /// Waits until the process that uses the file releases it, and opens it then. Returns the open taps and notifications
  /// of that process, as ``resume(maximum:)`` does; nil if there was no such process, another call waits already, or
  /// the file cannot be used.
  package func waitForFile(maximum: Int) async -> Leftovers? {
    guard case .taken = storage, let file, !isWaitingForLock else { return nil }
    isWaitingForLock = true
    let lock = await InboxLock.wait(file.lockPath)
    isWaitingForLock = false
    guard let lock, case .taken = storage else { return nil }
    self.lock = lock
    return retryFile(maximum: maximum)
  }

  /// Ends or returns the unfinished taps of an earlier run. At most `maximum` taps are to be shown.
  ///
  /// Taps that were being opened become ``TapState/failed``, because the handler may or may not have received them. Of
  /// the taps that wait for the user, the newest are to be shown; older ones become ``TapState/expired``, or
  /// ``TapState/failedOffScreen`` if they have failed.
  package func resume(maximum: Int) -> Leftovers {
    openIfNeeded()
    return settle((Set(live.keys), otherPlaces), maximum: maximum)
  }

  private func settle(_ loaded: Loaded, maximum: Int) -> Leftovers {
    let taps = live.values.filter { loaded.taps.contains($0.id) }
    for tap in taps where tap.stored.state == .opening {
      change(tap.id, to: .failed, reason: TapReason(.endedWhileOpening))
    }
    var expired = applyRetention(to: loaded.taps)
    let left = waiting.filter { loaded.taps.contains($0.id) }
    expired += left.dropLast(max(maximum, 1)).map(\.id)
    for tap in left.dropLast(max(maximum, 1)) { end(tap, because: .madeRoom) }
    expired.removeAll { find($0)?.stored.state == .failedOffScreen }
    commit()
    return Leftovers(
      waiting: waiting.filter { loaded.taps.contains($0.id) }.map(TapSummary.init), expired: expired,
      places: Dictionary(uniqueKeysWithValues: taps.compactMap { tap in tap.stored.place.map { (tap.id, $0) } }),
      otherPlaces: loaded.otherPlaces)
  }

  // MARK: Changes of the settings, and the end

  /// Applies other settings. Taps that are not over are kept.
  ///
  /// A file that is no longer used is deleted at once; its taps that wait to be sent stay in memory.
  /// ``retryFile(maximum:)`` opens one that is newly used. The next ``prune()`` applies the retention.
  package func configure(_ location: Location, _ retention: Retention) {
    self.retention = retention
    guard location != self.location else { return }
    if !location.keepsFinished { loadOutgoing() }
    // Another file counts from 0.
    dropped = (0, dropped.stored + dropped.unsaved)
    acknowledged = []
    if case .off = storage, let file, lock != nil { ScreenFile(path: file.screenPath).write([]) }
    if location.file?.lockPath != file?.lockPath { lock = nil }
    self.location = location
    dirty.formUnion(live.keys)
    otherPlacesAreDirty = true
    if location.keepsFinished {
      storage = .unusable
    } else {
      storage = .unopened
      commit()
    }
  }

  /// The next call opens the file again.
  package func close() {
    storage = .unopened
    lock = nil
    (live, dirty, otherPlaces) = ([:], [], [])
    otherPlacesAreDirty = false
    acknowledged = []
    dropped = (0, 0)
  }
}
