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
/// Owns one ``Database`` (through ``TapStore``), closed when the actor goes.
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
  private let file: InboxFile?
  private let keepsFinished: Bool
  private let retention: Retention
  private let now: @Sendable () -> Timestamp
  private let report: @Sendable (String) -> Void
  private let maximumPages: Int
  private var store: TapStore?
  /// Whether `store` is in memory though there is a file to go back to.
  private var isDegraded = false
  /// What is over, and may no longer be in the store.
  private var finished = RecentIdentifiers(limit: 64)

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
    try record(tap, as: .received, reason: "")
  }

  /// Stores a tap that is over before anybody saw it: nothing on it may be opened.
  ///
  /// - Parameters:
  ///   - tap: what was read.
  ///   - reason: why, in words for a person.
  /// - Returns: whether its id was new.
  /// - Throws: ``InboxError/Code/storage`` where not even memory could hold it.
  public func refuse(_ tap: Tap, reason: String) throws(InboxError) -> Reception {
    try record(tap, as: .failed, reason: reason)
  }

  /// Moves a tap to its next state.
  ///
  /// - Parameters:
  ///   - id: the tap's id.
  ///   - state: one of the present state's ``TapState/successors``.
  ///   - reason: why, in words for a person.
  ///   - handler: who opens it from here on; nil where that is who it was.
  /// - Throws: ``InboxError/Code/unknownTap``, ``InboxError/Code/illegalTransition``, ``InboxError/Code/storage``.
  public func move(
    _ id: String, to state: TapState, reason: String = "", handler: String? = nil
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

  /// Takes in that a tap's notification is gone: a failed tap of an inbox that keeps only what is on the screen goes with it.
  ///
  /// - Throws: ``InboxError/Code/storage``.
  public func leaveScreen(_ id: String) throws(InboxError) {
    guard !keepsFinished else { return }
    try attempt { store throws(SQLiteError) in
      if try store.state(of: id) == .failed { try store.remove(id) }
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
  /// - Throws: ``InboxError/Code/storage``.
  public func list(_ query: InboxQuery = InboxQuery()) throws(InboxError) -> [TapSummary] {
    try attempt { store throws(SQLiteError) in try store.list(query) }
  }

  /// What a start of the agent finds unfinished.
  ///
  /// Taps that were being opened become ``TapState/failed``: the handler may or may not have got them. Of all that wait, or
  /// failed and can be tried again, the newest are to be shown; older ones that wait become ``TapState/expired``.
  ///
  /// - Parameters:
  ///   - reason: what a tap that was being opened says from here on.
  ///   - maximum: how many are to be shown at most.
  /// - Returns: what to show, and what expired.
  /// - Throws: ``InboxError/Code/storage``.
  public func resume(reason: String, maximum: Int) throws(InboxError) -> Resumption {
    let time = now()
    let resumption = try attempt { store throws(SQLiteError) in
      try store.transaction { () throws(SQLiteError) in
        try store.updateAll(from: .opening, to: .failed, reason: reason, at: time)
        let waiting = try store.presentable(limit: max(maximum, 1))
        let shown = Set(waiting.map(\.id))
        let expired = try store.waiting().filter { !shown.contains($0) }
        for id in expired { try end(id, in: store, at: time) }
        return Resumption(waiting: waiting, expired: expired)
      }
    }
    for id in resumption.expired { finished.insert(id) }
    return resumption
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
        for id in expired { try end(id, in: store, at: time) }
        return expired
      }
    }
    for id in expired { finished.insert(id) }
    return expired
  }

  private func record(_ tap: Tap, as state: TapState, reason: String) throws(InboxError) -> Reception {
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

  /// Ends the time of a tap that waits.
  private func end(_ id: String, in store: TapStore, at time: Timestamp) throws(SQLiteError) {
    guard keepsFinished else { return try store.remove(id) }
    for state in [TapState.received, .shown] {
      _ = try store.update(id, from: state, to: .expired, reason: "", at: time)
    }
  }

  /// Runs `body` on the store; after a failure once more, on whatever takes the store's place.
  private func attempt<Result>(_ body: (TapStore) throws(SQLiteError) -> Result) throws(InboxError) -> Result {
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
    let opened =
      if let file {
        try file.open(at: now(), maximumPages: maximumPages, report: report)
      } else {
        try TapStore(path: ":memory:")
      }
    store = opened
    return opened
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

  private func openTaps(in store: TapStore) -> [StoredTap] {
    let query = InboxQuery(
      states: [.received, .shown, .opening, .failed], newestFirst: false, limit: InboxQuery.maximumLimit)
    guard let list = try? store.list(query) else { return [] }
    return list.compactMap { try? store.tap($0.id) }
  }

  private func returnToFile() {
    guard let file, isDegraded, let memory = store else { return }
    do {
      let opened = try file.open(at: now(), maximumPages: maximumPages, report: report)
      let everything = try memory.list(
        InboxQuery(newestFirst: false, limit: InboxQuery.maximumLimit))
      try opened.transaction { () throws(SQLiteError) in
        for summary in everything {
          guard let tap = try memory.tap(summary.id) else { continue }
          try opened.replace(tap)
        }
      }
      store = opened
      isDegraded = false
      report("the inbox \(file.path) can be written again")
    } catch {
      // Said once already, when it began; the next prune tries again.
    }
  }
}
