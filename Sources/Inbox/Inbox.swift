import CSQLite
import EventLoop

/// The taps and where each of them stands, safe over a crash.
///
/// Every change is one committed transaction by the time its call returns, so a caller that awaits it may let the outside see
/// its effect. SQLite blocks: the actor runs on a loop of its own, never on the one that owns the buses.
///
/// A disk that is full or a file that is damaged costs the history, not the next tap: the inbox says so, carries the open taps
/// over where they can still be read, and goes on, in a fresh file or in memory, until ``returnToFile(maximum:)``.
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
    /// Nowhere, and a tap only for as long as it may still be opened from the screen. A file of a time when taps were kept is removed;
    /// in its directory stands nothing but where notifications are (``ScreenFile``). Without a directory, not even that.
    case memoryWhileOpen(directory: String? = nil, name: String = "")
  }

  /// What a location means.
  struct Place: Hashable {
    var file: InboxFile?
    /// Where taps were kept before they were not to be kept any more.
    var former: InboxFile?
    let keepsFinished: Bool

    init(_ location: Location) {
      switch location {
      case .file(let directory, let name):
        (file, keepsFinished) = (InboxFile(directory: directory, name: name), true)
      case .memory: keepsFinished = true
      case .memoryWhileOpen(let directory, let name):
        (former, keepsFinished) = (directory.map { InboxFile(directory: $0, name: name) }, false)
      }
    }
  }

  private let loop: EventLoop
  var place: Place
  var file: InboxFile? { place.file }
  var former: InboxFile? { place.former }
  var keepsFinished: Bool { place.keepsFinished }
  var retention: Retention
  let now: @Sendable () -> Timestamp
  let notice: @Sendable (String) -> Void
  let report: @Sendable (String) -> Void
  let maximumPages: Int
  /// Makes the store of an inbox that keeps nothing in a file.
  let openMemory: @Sendable () throws(SQLiteError) -> TapStore
  var store: TapStore? { didSet { stamp = nil } }
  /// What the file was when `store` last used it; nil while that is in memory.
  var stamp: InboxFile.Stamp?
  /// Whether `store` is in memory though there is a file to go back to.
  var isDegraded = false
  /// Whether that is because another process has the file.
  var isTaken = false
  /// Whether that process's end is waited for.
  var isWaiting = false
  /// Whether the file may hold what an earlier run has left, and nobody has heard of it yet.
  var owesResumption = false
  /// Whether something was removed that can still be read in the file.
  var owesCompaction = false
  /// Held while the file is open.
  var lock: InboxLock?
  /// Whether ``former`` is known to be gone.
  var isFormerGone = false
  /// Whether it was said that it cannot be removed.
  var hasReportedFormer = false
  /// What ``ScreenFile`` holds.
  var writtenPlaces: Set<ScreenPlace> = []
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
  ///   - notice: is given a line for the log when history was removed because it is not to be kept.
  ///   - report: is given a line for the log when history was lost or is no longer kept. Neither line holds tag contents.
  public init(
    _ location: Location, retention: Retention = Retention(), now: @escaping @Sendable () -> Timestamp,
    notice: @escaping @Sendable (String) -> Void = { _ in }, report: @escaping @Sendable (String) -> Void
  ) {
    self.init(location, retention: retention, maximumPages: 0, now: now, notice: notice, report: report)
  }

  init(
    _ location: Location, retention: Retention, maximumPages: Int, now: @escaping @Sendable () -> Timestamp,
    notice: @escaping @Sendable (String) -> Void = { _ in }, report: @escaping @Sendable (String) -> Void,
    openMemory: @escaping @Sendable () throws(SQLiteError) -> TapStore = { () throws(SQLiteError) in
      try TapStore(path: ":memory:")
    }
  ) {
    loop = EventLoop(label: "inbox")
    place = Place(location)
    self.retention = retention
    self.maximumPages = maximumPages
    self.now = now
    self.notice = notice
    self.report = report
    self.openMemory = openMemory
  }

  /// Stores a tap in the state ``TapState/received``, unless its id is known, and makes room for it.
  ///
  /// - Throws: ``InboxError/Code/storage`` where not even memory could hold it.
  public func receive(_ tap: Tap) throws(InboxError) -> Reception {
    try record(tap, as: .received, reason: .none)
  }

  /// Stores a tap that is over before anybody saw it: there is nothing on it to open, or nothing that may be.
  ///
  /// - Parameters:
  ///   - tap: what was read.
  ///   - state: ``TapState/dismissed`` or ``TapState/failed``.
  ///   - reason: why.
  /// - Returns: whether its id was new.
  /// - Throws: ``InboxError/Code/storage`` where not even memory could hold it.
  public func keep(_ tap: Tap, as state: TapState, because reason: TapReason) throws(InboxError) -> Reception {
    try record(tap, as: state, reason: reason)
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

  /// Takes in that a notification is up that shows no tap. No more than 256 are remembered.
  ///
  /// - Parameter place: the notification.
  /// - Throws: ``InboxError/Code/storage``.
  public func showOther(at place: ScreenPlace) throws(InboxError) {
    try attempt { store throws(SQLiteError) in
      try store.transaction { () throws(SQLiteError) in
        try store.leave(place)
        try store.putOther(at: place)
      }
    }
  }

  /// Takes in that notifications are gone, whatever they have shown.
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

  /// A list with the messages: the first taps that a query has.
  ///
  /// - Parameters:
  ///   - query: which.
  ///   - bytes: no more taps than have messages of so many bytes together, and one at least.
  /// - Returns: the taps; none only where there are no more.
  /// - Throws: as ``list(_:)``.
  public func list(_ query: InboxQuery, bytes: Int) throws(InboxError) -> [ListedTap] {
    guard let list = try attempt({ store throws(SQLiteError) in try store.list(query, bytes: bytes) }) else {
      throw .unknownTap(query.before ?? "")
    }
    return list
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
    let resumption = try attempt { store throws(SQLiteError) in
      try store.transaction { () throws(SQLiteError) in try resume(store, maximum: maximum, at: time) }
    }
    for id in resumption.expired { finished.insert(id) }
    return resumption
  }

  func resume(_ store: TapStore, maximum: Int, at time: Timestamp) throws(SQLiteError) -> Resumption {
    try store.updateAll(from: .opening, to: .failed, reason: TapReason(.endedWhileOpening), at: time)
    // What has waited for too long is not shown once more before it ends.
    let overdue = try retain(in: store, at: time)
    let waiting = try store.waiting(newest: max(maximum, 1))
    let shown = Set(waiting.map(\.id))
    let older = try store.waiting().filter { !shown.contains($0) }
    for id in older { try end(id, because: .madeRoom, in: store, at: time) }
    return Resumption(
      waiting: waiting, expired: overdue + older, places: try store.places(), otherPlaces: try store.otherPlaces())
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
        _ = try store.remove(before: limit, keeping: maximum)
        // Only taps that wait are left: a tag that comes as ever new ones must not fill the disk.
        let excess = try store.count() - maximum
        let expired = try store.waiting().filter { $0 != tap.id }.prefix(max(excess, 0))
        for id in expired { try store.remove(id) }
        owesCompaction = true
        return Reception(isNew: true, expired: Array(expired))
      }
    }
    for id in reception.expired { finished.insert(id) }
    if !state.isOpen { finished.insert(tap.id) }
    return reception
  }
}
