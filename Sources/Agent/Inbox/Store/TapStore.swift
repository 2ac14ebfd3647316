import CSQLite
import Names

/// The taps in one database, in memory or in a file: typed rows over ``Database``, without any policy.
final class TapStore {
  let database: Database
  /// The state of the files after the last use, to notice changes by other programs.
  var stamp: InboxFile.Stamp?

  /// Opens a file, or `":memory:"`, with the limit of ``Inbox/init(_:retention:maximumPages:now:notice:report:)``.
  /// Throws if it cannot be opened, or is damaged; `SQLITE_MISMATCH` if it has a newer schema, or far more taps than an
  /// inbox has: to read and remove those would take the agent's start, and its memory.
  init(path: String, maximumPages: Int = 0) throws(SQLiteError) {
    database = try Database(path: path)
    // One fsync per commit keeps the file whole after a power cut:
    // https://www.sqlite.org/pragma.html#pragma_synchronous
    try database.run("PRAGMA journal_mode = WAL")
    try database.run("PRAGMA synchronous = FULL")
    // Overwrite deleted rows: they hold tag contents.
    try database.run("PRAGMA secure_delete = ON")
    // Keep those out of temporary files, too.
    try database.run("PRAGMA temp_store = MEMORY")
    try Schema.prepare(database)
    // An offset reads no more than the rows before it.
    guard try database.run("SELECT 1 FROM taps LIMIT 1 OFFSET \(Self.mostTaps)").isEmpty else {
      throw SQLiteError(code: SQLITE_MISMATCH, message: "it has more than \(Self.mostTaps) taps")
    }
    if maximumPages > 0 { try database.run("PRAGMA max_page_count = \(maximumPages)") }
  }

  /// The settings allow 100,000 taps, and ``Retention/maximumOutgoing`` of those that wait to be sent.
  static let mostTaps = 150_000

  /// Adds a tap, or updates the one with its id in the columns that can change. Returns its sequence number.
  func put(_ stored: StoredTap) throws(SQLiteError) -> Int64 {
    let tap = stored.tap
    let rows = try database.run(
      """
      INSERT INTO taps (id, time, message, technology, uid, reader, uri, title, handler, state, changed, reason_code,
        reason, screen_bus, screen_owner, screen_id, outgoing)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (id) DO UPDATE SET
        handler = excluded.handler, state = excluded.state, changed = excluded.changed,
        reason_code = excluded.reason_code, reason = excluded.reason, screen_bus = excluded.screen_bus,
        screen_owner = excluded.screen_owner, screen_id = excluded.screen_id, outgoing = excluded.outgoing
      RETURNING sequence
      """,
      [
        .text(tap.id), .integer(tap.time.microseconds), .blob(tap.message), .text(tap.technology), .blob(tap.uid),
        .text(tap.reader), SQLiteValue(tap.uri), .text(tap.title), SQLiteValue(tap.handler),
        .text(stored.state.rawValue), .integer(stored.changed.microseconds), .text(stored.reason.code.rawValue),
        .text(stored.reason.detail), SQLiteValue(stored.place?.bus), SQLiteValue(stored.place?.owner),
        stored.place.map { .integer(Int64($0.id)) } ?? .null, .integer(stored.isOutgoing ? 1 : 0),
      ])
    return rows.first?.first?.asInteger ?? 0
  }

  func remove(_ id: String) throws(SQLiteError) {
    try database.run("DELETE FROM taps WHERE id = ?", [.text(id)])
  }

  /// One tap, whole.
  func tap(_ id: String) throws(SQLiteError) -> ListedTap? {
    try database.run("SELECT \(TapStore.whole) FROM taps WHERE id = ?", [.text(id)]).first.flatMap(ListedTap.init)
  }

  /// The taps that are not over, and those that a notification may still show.
  func liveTaps() throws(SQLiteError) -> [ListedTap] {
    let unfinished = try database.run(
      TapStore.byArrival(
        TapStore.whole, [.opening, .received, .shown, .failed],
        where: { $0 == .failed ? "reason_code <> '\(TapReason.Code.refused.rawValue)'" : "true" }, newestFirst: false)
    ).compactMap(ListedTap.init)
    let onScreen = try database.run("SELECT \(TapStore.whole) FROM taps WHERE screen_id IS NOT NULL")
    return unfinished + onScreen.compactMap(ListedTap.init).filter { $0.stored.isOver }
  }

  /// The columns of a ``ListedTap``.
  private static let whole = """
    id, time, message, technology, uid, reader, uri, title, handler, state, changed, reason_code, reason, screen_bus, screen_owner,
    screen_id, sequence, outgoing
    """

  // MARK: Notifications that show no tap

  /// All of them, in the order in which they were added.
  func otherPlaces() throws(SQLiteError) -> [NotificationPlace] {
    let rows = try database.run("SELECT bus, owner, id FROM other_places ORDER BY number")
    return rows.compactMap { $0.count == 3 ? NotificationPlace($0[0], $0[1], $0[2]) : nil }
  }

  /// Makes these the only ones.
  func setOtherPlaces(_ places: [NotificationPlace]) throws(SQLiteError) {
    let present = Set(try otherPlaces())
    for place in present.subtracting(places) {
      try database.run("DELETE FROM other_places WHERE bus = ? AND owner = ? AND id = ?", Self.values(place))
    }
    for place in places where !present.contains(place) {
      try database.run("INSERT OR IGNORE INTO other_places (bus, owner, id) VALUES (?, ?, ?)", Self.values(place))
    }
  }

  private static func values(_ place: NotificationPlace) -> [SQLiteValue] {
    [.text(place.bus), .text(place.owner), .integer(Int64(place.id))]
  }

  // MARK: Bounds

  /// The states of taps that are over, as ``StoredTap/isOver`` defines them.
  static let finishedStates: [TapState] = [.delivered, .dismissed, .expired, .failed]
  static func isFinished(_ state: TapState) -> String {
    state == .failed ? "reason_code = '\(TapReason.Code.refused.rawValue)'" : "true"
  }

  /// Whether the retention may remove a tap: it is over, and does not wait to be sent.
  private static func isRemovable(_ state: TapState) -> String { "\(isFinished(state)) AND outgoing = 0" }

  /// How many taps there are that do not wait to be sent.
  func count() throws(SQLiteError) -> Int {
    let all = Int(try database.run("SELECT count(*) FROM taps").first?.first?.asInteger ?? 0)
    return try all - outgoingCount()
  }

  /// Removes finished taps older than `time`, then the oldest finished ones beyond `maximum`; returns their ids. Taps
  /// that wait to be sent stay, and do not count.
  func remove(before time: Timestamp, keeping maximum: Int) throws(SQLiteError) -> [String] {
    var removed: [String] = []
    for state in TapStore.finishedStates {
      removed += try change(
        "DELETE FROM taps WHERE state = ? AND \(TapStore.isRemovable(state)) AND time < ?",
        [.text(state.rawValue), .integer(time.microseconds)])
    }
    let excess = try count() - maximum
    guard excess > 0 else { return removed }
    let oldest = TapStore.byArrival(
      "sequence", TapStore.finishedStates, where: TapStore.isRemovable, newestFirst: false)
    return try removed
      + change("DELETE FROM taps WHERE sequence IN (\(oldest) LIMIT ?)", [.integer(Int64(excess))])
  }

  /// Runs a deletion or an update, and returns the ids of its taps.
  func change(_ statement: String, _ bindings: [SQLiteValue]) throws(SQLiteError) -> [String] {
    try database.run(statement + " RETURNING id", bindings).compactMap { $0.first?.asText }
  }
}

extension ListedTap {
  /// Reads the columns of `TapStore.whole`.
  fileprivate init?(_ row: [SQLiteValue]) {
    guard row.count == 18, let id = row[0].asText, let time = row[1].asInteger, let message = row[2].asBlob,
      let technology = row[3].asText, let uid = row[4].asBlob, let reader = row[5].asText, let title = row[7].asText,
      let state = row[9].asText.flatMap(TapState.init), let changed = row[10].asInteger,
      let sequence = row[16].asInteger, let outgoing = row[17].asInteger
    else { return nil }
    let tap = Tap(
      id: id, time: Timestamp(microseconds: time), message: message, technology: technology, uid: uid,
      reader: reader, uri: row[6].asText, title: title, handler: row[8].asText)
    stored = StoredTap(
      tap: tap, state: state, changed: Timestamp(microseconds: changed), reason: TapReason(row[11], row[12]),
      place: NotificationPlace(row[13], row[14], row[15]), isOutgoing: outgoing != 0)
    self.sequence = sequence
  }
}

extension TapSummary {
  init?(_ row: [SQLiteValue]) {
    guard row.count == 10, let id = row[0].asText, let time = row[1].asInteger, let title = row[3].asText,
      let state = row[5].asText.flatMap(TapState.init), let changed = row[6].asInteger, let sequence = row[9].asInteger
    else { return nil }
    self.init(
      id: id, time: Timestamp(microseconds: time), uri: row[2].asText, title: title, handler: row[4].asText,
      state: state, changed: Timestamp(microseconds: changed), reason: TapReason(row[7], row[8]), sequence: sequence)
  }
}

extension TapReason {
  fileprivate init(_ code: SQLiteValue, _ detail: SQLiteValue) {
    self.init(Code(rawValue: code.asText ?? ""), detail: detail.asText ?? "")
  }
}

extension NotificationPlace {
  fileprivate init?(_ bus: SQLiteValue, _ owner: SQLiteValue, _ id: SQLiteValue) {
    guard let bus = bus.asText, let owner = owner.asText, let id = id.asInteger.flatMap({ UInt32(exactly: $0) }) else {
      return nil
    }
    self.init(bus: bus, owner: owner, id: id)
  }
}
