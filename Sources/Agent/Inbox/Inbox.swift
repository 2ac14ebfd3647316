import EventLoop
import NDEF
package import Names

/// The taps and their states, safe over a crash.
///
/// Taps that are not over live in memory; the file is their history. Every change is made in memory and committed to
/// the file before its call returns, so the caller may then show its effect. If the file cannot be written, the taps
/// that it lacks stay in memory (``dirty``) and each later change tries again. A full disk or a damaged file therefore
/// never costs a tap, only history.
///
/// One process writes a file. A second agent of the same user keeps its taps in memory until the file is free
/// (``waitForFile(maximum:)``).
///
/// SQLite blocks, so the actor has its own loop. It never runs on the one that owns the buses.
package actor Inbox {
  package enum Location: Sendable, Hashable {
    /// A file in a directory that only the inbox uses (an absolute path, created if it is missing).
    case file(directory: String, name: String)
    /// Memory, finished taps included.
    case memory
    /// Memory, and each tap only while it can be opened from the screen. The file that ``file(directory:name:)`` would
    /// use is deleted. A ``ScreenFile`` in its directory, if there is one, lists the notifications on the screen.
    case memoryWhileOpen(directory: String? = nil, name: String = "")
  }

  /// What the inbox can do with its file.
  enum Storage {
    /// Not opened yet. Can transition to: `.open`, `.off`, `.unusable`, `.taken`.
    case unopened
    /// Open, and up to date after each change. Can transition to: `.failing`, `.unusable`, `.taken`.
    case open(TapStore)
    /// Open, but the last use failed. Each change tries again. Can transition to: `.open`, `.unusable`, `.taken`.
    case failing(TapStore)
    /// The file cannot be opened, or deleted. Only ``Inbox/retryFile(maximum:)`` tries again: its caller shows the taps
    /// that an earlier run left in the file. Can transition to: `.failing`, `.off`, `.taken`.
    case unusable
    /// Another process holds the lock. Can transition to: `.failing`, `.off`, `.unusable`.
    case taken
    /// No file is used (``Location/memoryWhileOpen(directory:name:)``). Can transition to: `.unusable`.
    case off

    var store: TapStore? {
      switch self {
      case .open(let store), .failing(let store): store
      case .unopened, .unusable, .taken, .off: nil
      }
    }
  }

  private let loop: EventLoop
  var location: Location
  var retention: Retention
  let now: @Sendable () -> Timestamp
  let notice: @Sendable (String) -> Void
  let report: @Sendable (String) -> Void
  let maximumPages: Int
  var storage = Storage.unopened
  var lock: InboxLock?
  var isWaitingForLock = false
  /// The taps that are not over, that a notification shows, or that are ``dirty``.
  var live: [String: ListedTap] = [:]
  /// The ids of taps that differ from those in the file. One that is not ``live`` has to be deleted there.
  var dirty: Set<String> = []
  /// The notifications that show no tap of the inbox, oldest first.
  var otherPlaces: [NotificationPlace] = [] { didSet { otherPlacesAreDirty = true } }
  var otherPlacesAreDirty = false
  /// The ids of taps that were sent, and that wait according to the file.
  var acknowledged: Set<String> = []
  /// How many taps were dropped unsent: according to the file, and those that the file has not counted yet.
  var dropped: (stored: Int64, unsaved: Int64) = (0, 0)
  /// How many taps got a sequence number before the file gave them one.
  var unsavedCount: Int64 = 0
  /// The last ids that are over: the daemon may send them again after they were deleted.
  var finished = RecentIdentifiers(limit: 64)

  package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  /// Creates an inbox. The first call opens the file. `maximumPages` limits the file's size in SQLite's pages, as a
  /// full disk does in tests; 0 for no limit.
  ///
  /// `notice` receives a log line when the file is deleted because taps are not to be kept. `report` receives one when
  /// history is lost, or no longer written. No line contains tag contents.
  package init(
    _ location: Location, retention: Retention = Retention(), maximumPages: Int = 0,
    now: @escaping @Sendable () -> Timestamp, notice: @escaping @Sendable (String) -> Void = { _ in },
    report: @escaping @Sendable (String) -> Void
  ) {
    loop = EventLoop(label: "inbox")
    self.location = location
    self.retention = retention
    self.maximumPages = maximumPages
    self.now = now
    self.notice = notice
    self.report = report
  }

  // MARK: Taps

  /// Stores a tap in the state ``TapState/received`` unless its id is known, and makes room for it. With `outgoing`, it
  /// waits to be sent from the same commit on (``outgoing(limit:after:bytes:)``).
  package func receive(_ tap: Tap, outgoing: Bool = false) -> Receipt {
    store(tap, as: .received, reason: .none, outgoing)
  }

  /// Stores a tap that is never shown, because the tag has no contents that may be opened. The state is
  /// ``TapState/dismissed`` or ``TapState/failedOffScreen``. `outgoing` is as in ``receive(_:outgoing:)``.
  package func keep(_ tap: Tap, as state: TapState, because reason: TapReason, outgoing: Bool = false) -> Receipt {
    store(tap, as: state, reason: reason, outgoing)
  }

  private func store(_ tap: Tap, as state: TapState, reason: TapReason, _ isOutgoing: Bool) -> Receipt {
    guard !finished.contains(tap.id), !dirty.contains(tap.id), find(tap.id) == nil else { return .known }
    unsavedCount += 1
    var stored = tap
    (stored.state, stored.changed, stored.reason, stored.isOutgoing) = (state, now(), reason, isOutgoing)
    live[tap.id] = ListedTap(stored: stored, sequence: Names.Agent.firstUnsavedSequence + unsavedCount)
    dirty.insert(tap.id)
    if !state.isOpen { finished.insert(tap.id) }
    return Receipt(isNew: true, expired: makeRoom(for: tap.id))
  }

  /// Moves a tap to one of the present state's ``TapState/successors``. Without `receiver`, its receiver
  /// stays.
  ///
  /// Throws ``InboxError/Code/unknownTap`` or ``InboxError/Code/illegalTransition``.
  package func move(
    _ id: String, to state: TapState, reason: TapReason = .none, receiver: TapReceiver? = nil
  ) throws(InboxError) {
    let present = try tap(id).state
    guard present.successors.contains(state) else { throw .illegalTransition(id, from: present, to: state) }
    change(id, to: state, reason: reason, receiver: receiver)
    commit()
    if !state.isOpen { finished.insert(id) }
  }

  /// In memory; the caller commits it.
  func change(_ id: String, to state: TapState, reason: TapReason, receiver: TapReceiver? = nil) {
    guard var tap = find(id) else { return }
    // The user sees one state: the time of the failure stays when its notification ends.
    if state != .failedOffScreen || tap.stored.state.name != state.name { tap.stored.changed = now() }
    tap.stored.state = state
    tap.stored.reason = reason
    if let receiver { tap.stored.receiver = receiver }
    live[id] = tap
    dirty.insert(id)
  }

  // MARK: Notifications

  /// Records that a notification shows a tap. A ``TapState/received`` tap becomes ``TapState/shown``. If another tap
  /// had this place, it has none from now on. Throws ``InboxError/Code/unknownTap``.
  package func show(_ id: String, at place: NotificationPlace) throws(InboxError) {
    vacate(place)
    defer { commit() }
    if try tap(id).state == .received { change(id, to: .shown, reason: .none) }
    live[id] = live[id] ?? find(id)
    live[id]?.stored.place = place
    dirty.insert(id)
  }

  /// Records that a notification is up that shows no tap. The newest 256 are remembered.
  package func showOther(at place: NotificationPlace) {
    vacate(place)
    addOther(place)
    commit()
  }

  /// They may have shown taps or not.
  package func leave(_ places: [NotificationPlace]) {
    places.forEach(vacate)
    commit()
  }

  private func vacate(_ place: NotificationPlace) {
    // The places of an earlier run are known once the file is open.
    openIfNeeded()
    for (id, tap) in live where tap.stored.place == place {
      live[id]?.stored.place = nil
      dirty.insert(id)
    }
    if otherPlaces.contains(place) { otherPlaces.removeAll { $0 == place } }
  }

  func addOther(_ place: NotificationPlace) {
    guard !otherPlaces.contains(place) else { return }
    otherPlaces = (otherPlaces + [place]).suffix(256)
  }

  // MARK: Lists

  /// Throws ``InboxError/Code/unknownTap``.
  package func tap(_ id: String) throws(InboxError) -> Tap {
    guard let tap = find(id) else { throw .unknownTap(id) }
    return tap.stored
  }

  func find(_ id: String) -> ListedTap? {
    openIfNeeded()
    if let tap = live[id] { return tap }
    guard !dirty.contains(id) else { return nil }
    var tap = withStore { store throws(SQLiteError) in try store.tap(id) } ?? nil
    if acknowledged.contains(id) { tap?.stored.isOutgoing = false }
    return tap
  }

  /// Without the messages. Throws ``InboxError/Code/unknownTap`` if there is no tap with the id ``InboxQuery/before``.
  package func list(_ query: InboxQuery = InboxQuery()) throws(InboxError) -> [TapSummary] {
    let end = try end(of: query)
    let limit = query.limit + dirty.count
    let kept = withStore { store throws(SQLiteError) in try store.list(query, before: end, limit: limit) }
    let list = overlaid(kept) { query.includes($0.stored) && $0.sequence < end }
    return Array(list.sorted { ($0.sequence < $1.sequence) != query.newestFirst }.prefix(query.limit))
  }

  /// How many taps ``list(_:)`` would return without a limit. Throws as it does.
  package func count(_ query: InboxQuery) throws(InboxError) -> Int {
    let end = try end(of: query)
    let kept = withStore { store throws(SQLiteError) in try store.count(query, before: end, without: dirty) }
    return (kept ?? 0) + unsaved(isFileRead: kept != nil).count { query.includes($0.stored) && $0.sequence < end }
  }

  /// All taps of the list have lower sequence numbers.
  private func end(of query: InboxQuery) throws(InboxError) -> Int64 {
    let end = query.beforeSequence ?? .max
    guard let before = query.before else { return end }
    guard let tap = find(before) else { throw .unknownTap(before) }
    return min(end, tap.sequence)
  }

  /// The first taps of a query with their messages, which may have `bytes` bytes together. The first tap is returned in
  /// any case, so the list is empty only if there are no more. Throws as ``list(_:)``.
  package func list(_ query: InboxQuery, bytes: Int) throws(InboxError) -> [ListedTap] {
    var (taps, size) = ([ListedTap](), 0)
    for summary in try list(query) {
      guard let tap = find(summary.id) else { continue }
      size += tap.stored.read.bytes.count
      if size > bytes && !taps.isEmpty { break }
      taps.append(tap)
    }
    return taps
  }

  /// Finds taps by the beginning of their ids: at most `limit`, up to ``InboxQuery/maximumLimit``, in the order of
  /// their ids.
  package func list(idPrefix prefix: String, limit: Int) -> [TapSummary] {
    let limit = min(max(limit, 1), InboxQuery.maximumLimit)
    let kept = withStore { store throws(SQLiteError) in try store.list(idPrefix: prefix, limit: limit + dirty.count) }
    return Array(overlaid(kept) { $0.id.hasPrefix(prefix) }.sorted { $0.id < $1.id }.prefix(limit))
  }

  /// The list in the file, which is nil if it cannot be read, with the taps in memory that differ from it.
  private func overlaid(_ kept: [TapSummary]?, _ isMatch: (ListedTap) -> Bool) -> [TapSummary] {
    let unsaved = unsaved(isFileRead: kept != nil).filter(isMatch).map(TapSummary.init)
    return (kept ?? []).filter { !dirty.contains($0.id) } + unsaved
  }

  /// The taps in memory that differ from those in the file; all of them if the file cannot be read.
  private func unsaved(isFileRead: Bool) -> [ListedTap] { live.values.filter { !isFileRead || dirty.contains($0.id) } }
}

package struct Receipt: Sendable, Hashable {
  /// Whether the id was new. If not, the inbox is unchanged.
  package let isNew: Bool
  /// The ids of waiting taps that were removed to make room.
  package let expired: [String]

  static let known = Receipt(isNew: false, expired: [])
}

/// The taps and notifications that an earlier run left in the inbox and on the screen.
package struct Leftovers: Sendable, Hashable {
  /// Taps to show again, in their present states, oldest first.
  package let waiting: [TapSummary]
  /// The ids of older taps that were waiting and are now ``TapState/expired``.
  package let expired: [String]
  /// The notifications of taps that may still be up, by tap id. The taps may be in any state.
  package let places: [String: NotificationPlace]
  /// Other notifications that may still be up. They show no tap, or one that is not in the inbox any more.
  package let otherPlaces: [NotificationPlace]
}

package struct InboxError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Later versions may add some.
  package struct Code: Sendable, Hashable {
    private let name: String

    package static let unknownTap = Code(name: "unknown-tap")
    /// A tap in this state cannot move to that state.
    package static let illegalTransition = Code(name: "illegal-transition")
    package static let storage = Code(name: "storage")
  }

  package let code: Code
  /// What happened, to which tap, and how to fix it if that is possible.
  package let message: String

  static func unknownTap(_ id: String) -> InboxError {
    InboxError(code: .unknownTap, message: "no tap has the id \(id)")
  }

  static let notWritable = InboxError(
    code: .storage, message: "the inbox's file cannot be written now, so nothing was removed; is the disk full?")

  static let inUse = InboxError(
    code: .storage,
    message:
      "another process of this user has the inbox's file, for example the agent of another session bus. Nothing was removed; "
      + "try it in that session")

  static func illegalTransition(_ id: String, from: TapState, to: TapState) -> InboxError {
    InboxError(
      code: .illegalTransition, message: "tap \(id) is \(from.name) and cannot become \(to.name)")
  }

  package var description: String { message }
}

struct RecentIdentifiers {
  private let limit: Int
  /// The oldest first.
  private var identifiers: [String] = []

  init(limit: Int) { self.limit = limit }

  /// Forgets the oldest if there are too many.
  mutating func insert(_ identifier: String) {
    guard !contains(identifier) else { return }
    identifiers.append(identifier)
    if identifiers.count > limit { identifiers.removeFirst() }
  }

  func contains(_ identifier: String) -> Bool { identifiers.contains(identifier) }
}
