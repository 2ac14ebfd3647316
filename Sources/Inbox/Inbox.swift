import CSQLite
import EventLoop

/// The taps and where each of them stands, safe over a crash.
///
/// Every change is one committed transaction by the time its call returns, so a caller that awaits it may let the outside see
/// its effect. SQLite blocks: the actor runs on a loop of its own, never on the one that owns the buses.
///
/// A disk that is full or a file that is damaged costs the history, not the next tap: the inbox says so, carries the open taps
/// over where they can still be read, and goes on, in a fresh file or in memory. ``prune()`` tries the file again.
///
/// One process writes a file: whoever comes second keeps its taps in memory until the file is free (``takeFile(maximum:)``).
///
/// Owns one ``Database`` (through ``TapStore``), closed when the actor goes, or by ``close()``.
public actor Inbox {
  /// Where the taps are kept.
  public enum Location: Sendable, Hashable {
    /// A file in a directory that is the inbox's own (an absolute path; made where it is not there).
    case file(directory: String, name: String)
    /// Nowhere: gone with the process.
    case memory
    /// Nowhere, and a tap only for as long as it may still be opened from the screen.
    case memoryWhileOpen
  }

  private let loop: EventLoop
  let file: InboxFile?
  private let keepsFinished: Bool
  private let retention: Retention
  private let now: @Sendable () -> Timestamp
  private let report: @Sendable (String) -> Void
  private let maximumPages: Int
  private(set) var store: TapStore?
  /// Whether `store` is in memory though there is a file to go back to.
  private(set) var isDegraded = false
  /// Whether that is because another process has the file.
  private var isTaken = false
  /// Held while the file is open.
  private var lock: InboxLock?
  /// What is over, and may no longer be in the store.
  var finished = RecentIdentifiers(limit: 64)

  /// The inbox's own loop.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  /// Nothing is opened until the first call.
  ///
  /// - Parameters:
  ///   - location: where the taps are kept.
  ///   - retention: how long and how many.
  ///   - now: the time of day.
  ///   - report: is given a line for the log when history was lost or is no longer kept. It holds no tag contents.
  public init(
    _ location: Location, retention: Retention = Retention(), now: @escaping @Sendable () -> Timestamp,
    report: @escaping @Sendable (String) -> Void
  ) {
    self.init(location, retention: retention, maximumPages: 0, now: now, report: report)
  }

  init(
    _ location: Location, retention: Retention, maximumPages: Int, now: @escaping @Sendable () -> Timestamp,
    report: @escaping @Sendable (String) -> Void
  ) {
    loop = EventLoop(label: "inbox")
    switch location {
    case .file(let directory, let name): file = InboxFile(directory: directory, name: name)
    case .memory, .memoryWhileOpen: file = nil
    }
    keepsFinished = location != .memoryWhileOpen
    self.retention = retention
    self.maximumPages = maximumPages
    self.now = now
    self.report = report
  }

  /// Stores a tap in the state ``TapState/received``, unless its id is known, and makes room for it.
  ///
  /// - Throws: ``InboxError/Code/storage`` where not even memory could hold it.
  public func receive(_ tap: Tap) throws(InboxError) -> Reception {
    try record(tap, as: .received, reason: .none)
  }

  /// Stores a tap that is over before anybody saw it: nothing on it may be opened.
  ///
  /// - Parameters:
  ///   - tap: what was read.
  ///   - detail: what keeps it from being opened, one line.
  /// - Returns: whether its id was new.
  /// - Throws: ``InboxError/Code/storage`` where not even memory could hold it.
  public func refuse(_ tap: Tap, detail: String) throws(InboxError) -> Reception {
    try record(tap, as: .failed, reason: TapReason(.refused, detail: detail))
  }

  /// Moves a tap to its next state.
  ///
  /// - Parameters:
  ///   - id: the tap's id.
  ///   - state: one of the present state's ``TapState/successors``.
  ///   - reason: why.
  ///   - handler: who opens it from here on; nil where that is who it was.
  /// - Throws: ``InboxError/Code/unknownTap``, ``InboxError/Code/illegalTransition``, ``InboxError/Code/storage``.
  public func move(
    _ id: String, to state: TapState, reason: TapReason = .none, handler: String? = nil
  ) throws(InboxError) {
    let time = now()
    let present = try attempt { store throws(SQLiteError) in
      try store.transaction { () throws(SQLiteError) -> TapState? in
        let present = try store.state(of: id)
        guard let present, present.successors.contains(state) else { return present }
        if keepsFinished || state.isOpen || state == .failed {
          _ = try store.update(id, from: present, to: state, reason: reason, handler: handler, at: time)
        } else {
          try store.remove(id)
        }
        return present
      }
    }
    guard let present else { throw .unknownTap(id) }
    guard present.successors.contains(state) else { throw .illegalTransition(id, from: present, to: state) }
    if !state.isOpen { finished.insert(id) }
  }

  /// Takes in that a notification shows a tap: one that is ``TapState/received`` is ``TapState/shown`` from here on. Of another tap
  /// that was there it is known that it is there no longer.
  ///
  /// - Parameters:
  ///   - id: the tap's id.
  ///   - place: the notification.
  /// - Throws: ``InboxError/Code/unknownTap``, ``InboxError/Code/storage``.
  public func show(_ id: String, at place: ScreenPlace) throws(InboxError) {
    let time = now()
    let isKnown = try attempt { store throws(SQLiteError) in
      try store.transaction { () throws(SQLiteError) in
        try store.leave(place)
        guard try store.put(id, at: place) else { return false }
        _ = try store.update(id, from: .received, to: .shown, reason: .none, at: time)
        return true
      }
    }
    guard isKnown else { throw .unknownTap(id) }
  }

  /// Takes in that notifications are gone, whichever taps they have shown.
  ///
  /// - Throws: ``InboxError/Code/storage``.
  public func leave(_ places: [ScreenPlace]) throws(InboxError) {
    try attempt { store throws(SQLiteError) in
      try store.transaction { () throws(SQLiteError) in
        for place in places { try store.leave(place) }
      }
    }
  }

  /// One tap, whole.
  ///
  /// - Throws: ``InboxError/Code/unknownTap``, ``InboxError/Code/storage``.
  public func tap(_ id: String) throws(InboxError) -> StoredTap {
    let tap = try attempt { store throws(SQLiteError) in try store.tap(id) }
    guard let tap else { throw .unknownTap(id) }
    return tap
  }

  /// A list without the messages.
  ///
  /// - Throws: ``InboxError/Code/unknownTap`` where there is no tap that they are to be older than,
  ///   ``InboxError/Code/storage``.
  public func list(_ query: InboxQuery = InboxQuery()) throws(InboxError) -> [TapSummary] {
    guard let list = try attempt({ store throws(SQLiteError) in try store.list(query) }) else {
      throw .unknownTap(query.before ?? "")
    }
    return list
  }

  /// Looks for damage in the whole file, on a thread of its own: a large one takes a second, and no tap waits for it.
  ///
  /// Damage that a tap meets before is found by that; this finds it where nothing has been looked at for long.
  public func check() async {
    guard let file, (try? attempt({ _ in })) != nil, !isDegraded, let checked = store else { return }
    guard let damage = (try? await DedicatedThread.run { file.damage() }) ?? nil else { return }
    // Meanwhile another may have taken its place.
    guard store === checked else { return }
    _ = try? replace(after: damage)
  }

  /// What a start of the agent finds unfinished.
  ///
  /// Taps that were being opened become ``TapState/failed``: the handler may or may not have got them. Of all that wait, or
  /// failed and can be tried again, the newest are to be shown; older ones become ``TapState/expired``.
  ///
  /// - Parameter maximum: how many are to be shown at most.
  /// - Returns: what to show, and what expired.
  /// - Throws: ``InboxError/Code/storage``.
  public func resume(maximum: Int) throws(InboxError) -> Resumption {
    let time = now()
    let resumption = try attempt { store throws(SQLiteError) in try resume(store, maximum: maximum, at: time) }
    for id in resumption.expired { finished.insert(id) }
    return resumption
  }

  private func resume(_ store: TapStore, maximum: Int, at time: Timestamp) throws(SQLiteError) -> Resumption {
    try store.transaction { () throws(SQLiteError) in
      try store.updateAll(from: .opening, to: .failed, reason: TapReason(.endedWhileOpening), at: time)
      let places = try store.places()
      let waiting = try store.waiting(newest: max(maximum, 1))
      let shown = Set(waiting.map(\.id))
      let expired = try store.waiting().filter { !shown.contains($0) }
      for id in expired { try end(id, because: .madeRoom, in: store, at: time) }
      return Resumption(waiting: waiting, expired: expired, places: places)
    }
  }

  /// Takes the file as soon as the process that has it lets go, where that is why the taps are in memory, and puts them into it.
  ///
  /// - Parameter maximum: how many are to be shown at most of what that process has left.
  /// - Returns: what that has left, as ``resume(maximum:)`` has it; nil where there was nothing to wait for, or the file cannot be used.
  /// - Throws: ``InboxError/Code/storage``.
  public func takeFile(maximum: Int) async throws(InboxError) -> Resumption? {
    try attempt { (_: TapStore) throws(SQLiteError) in }
    guard let file, isTaken, let lock = await InboxLock.wait(file.lockPath), isTaken else { return nil }
    self.lock = lock
    isTaken = false
    let time = now()
    return returnToFile { store throws(SQLiteError) in try resume(store, maximum: maximum, at: time) }
  }

  /// Lets go of the file; the next call opens it again.
  public func close() {
    store = nil
    lock = nil
    (isDegraded, isTaken) = (false, false)
  }

  /// Applies the retention, and goes back to the file where a full disk had made that impossible.
  ///
  /// - Returns: the ids of taps that were waiting and are now ``TapState/expired``.
  /// - Throws: ``InboxError/Code/storage``.
  public func prune() throws(InboxError) -> [String] {
    returnToFile()
    let time = now()
    let limit = time.before(days: retention.days)
    let maximum = retention.maximumTaps
    let expired = try attempt { store throws(SQLiteError) in
      try store.transaction { () throws(SQLiteError) in
        try store.remove(before: limit, keeping: maximum)
        let expired = try store.overdue(before: limit, excess: try store.count() - maximum)
        for id in expired { try end(id, because: .overdue, in: store, at: time) }
        return expired
      }
    }
    for id in expired { finished.insert(id) }
    // Where another process has the file, they are its to remove.
    if !isDegraded { file?.removeAside(before: limit) }
    return expired
  }

  private func record(_ tap: Tap, as state: TapState, reason: TapReason) throws(InboxError) -> Reception {
    guard !finished.contains(tap.id) else { return .known }
    guard keepsFinished || state.isOpen else {
      finished.insert(tap.id)
      return .stored
    }
    let stored = StoredTap(tap: tap, state: state, changed: now(), reason: reason)
    let limit = stored.changed.before(days: retention.days)
    let maximum = retention.maximumTaps
    let reception = try attempt { store throws(SQLiteError) in
      try store.transaction { () throws(SQLiteError) -> Reception in
        guard try store.insert(stored) else { return .known }
        guard try store.count() > maximum else { return .stored }
        try store.remove(before: limit, keeping: maximum)
        // Only taps that wait are left: a tag that comes as ever new ones must not fill the disk.
        let excess = try store.count() - maximum
        let expired = try store.waiting().filter { $0 != tap.id }.prefix(max(excess, 0))
        for id in expired { try store.remove(id) }
        return Reception(isNew: true, expired: Array(expired))
      }
    }
    for id in reception.expired { finished.insert(id) }
    if !state.isOpen { finished.insert(tap.id) }
    return reception
  }

  /// Ends the time of a tap that waits. Why one has failed is worth more than what has ended its time.
  private func end(
    _ id: String, because code: TapReason.Code, in store: TapStore, at time: Timestamp
  ) throws(SQLiteError) {
    guard keepsFinished else { return try store.remove(id) }
    guard let stored = try store.tap(id) else { return }
    let reason = stored.state == .failed ? stored.reason : TapReason(code)
    _ = try store.update(id, from: stored.state, to: .expired, reason: reason, at: time)
  }

  /// Runs `body` on the store; after a failure once more, on whatever takes the store's place.
  func attempt<Result>(_ body: (TapStore) throws(SQLiteError) -> Result) throws(InboxError) -> Result {
    do {
      do {
        return try body(try present())
      } catch {
        return try body(try replace(after: error))
      }
    } catch {
      throw InboxError(code: .storage, message: "the inbox cannot be used: \(error.message)")
    }
  }

  private func present() throws(SQLiteError) -> TapStore {
    if let store { return store }
    let opened: TapStore
    if let file, takeLock(of: file) {
      opened = try file.open(at: now(), maximumPages: maximumPages, report: report)
    } else {
      opened = try TapStore(path: ":memory:")
    }
    store = opened
    return opened
  }

  /// - Returns: whether the file may be opened. Where there can be no lock it is, and says itself what is wrong.
  private func takeLock(of file: InboxFile) -> Bool {
    guard lock == nil else { return true }
    file.prepareDirectory()
    switch InboxLock.ask(file.lockPath) {
    case .held(let lock): self.lock = lock
    case .impossible: break
    case .taken:
      (isDegraded, isTaken) = (true, true)
      report(
        "the inbox \(file.path) is in use by another process of this user, as an agent of another session bus: taps are kept in memory "
          + "until it is free")
      return false
    }
    return true
  }

  /// A fresh file after damage, else memory, with the open taps that the old store still gives.
  private func replace(after error: SQLiteError) throws(SQLiteError) -> TapStore {
    guard let file, !isDegraded else { throw error }
    let open = store.map(openTaps) ?? []
    store = nil
    if error.isDamage {
      do {
        try file.moveAside(because: error, at: now(), report: report)
        let fresh = try file.open(at: now(), maximumPages: maximumPages, report: report)
        for tap in open { _ = try fresh.insert(tap) }
        store = fresh
        return fresh
      } catch {
        report("no new inbox could be made at \(file.path): \(error.message)")
      }
    }
    report("the inbox \(file.path) cannot be written (\(error.message)): taps are kept in memory until it can")
    let memory = try TapStore(path: ":memory:")
    for tap in open { _ = try memory.insert(tap) }
    store = memory
    isDegraded = true
    return memory
  }

  /// The newest that are not over, the oldest of them first.
  private func openTaps(in store: TapStore) -> [StoredTap] {
    let query = InboxQuery(states: [.received, .shown, .opening, .failed], limit: InboxQuery.maximumLimit)
    guard let list = try? store.list(query) else { return [] }
    return list.reversed().compactMap { try? store.tap($0.id) }
  }

  /// Goes back to the file where a full disk had made that impossible.
  func returnToFile() {
    if !isTaken { returnToFile { (_: TapStore) throws(SQLiteError) in } }
  }

  /// - Parameter prepare: what is done in the file before it takes in what memory has.
  /// - Returns: what `prepare` does; nil where there is nothing to go back to, or the file cannot be used.
  @discardableResult
  private func returnToFile<Result>(_ prepare: (TapStore) throws(SQLiteError) -> Result) -> Result? {
    guard let file, isDegraded, let memory = store else { return nil }
    do {
      let opened = try file.open(at: now(), maximumPages: maximumPages, report: report)
      let result = try prepare(opened)
      let everything = try memory.allIdentifiers()
      try opened.transaction { () throws(SQLiteError) in
        for id in everything {
          guard let tap = try memory.tap(id) else { continue }
          try opened.replace(tap)
        }
      }
      store = opened
      isDegraded = false
      report("the inbox \(file.path) can be written again")
      return result
    } catch {
      // Said once already, when it began; the next prune tries again.
      return nil
    }
  }
}
