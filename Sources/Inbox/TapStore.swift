import CSQLite

/// The taps in one database, in memory or in a file: typed rows over ``Database``, without any policy.
final class TapStore {
  private let database: Database

  /// - Parameters:
  ///   - path: a file, or `":memory:"`.
  ///   - maximumPages: stands in for a full disk in tests; 0 sets no limit.
  /// - Throws: where it cannot be opened, is damaged, or is of a newer schema (`SQLITE_MISMATCH`).
  init(path: String, maximumPages: Int = 0) throws(SQLiteError) {
    database = try Database(path: path)
    // One fsync a commit, and the file is whole after a power cut: https://www.sqlite.org/pragma.html#pragma_synchronous
    try database.run("PRAGMA journal_mode = WAL")
    try database.run("PRAGMA synchronous = FULL")
    try Schema.migrate(database)
    let check = try database.run("PRAGMA quick_check(1)")
    guard check.first?.first?.asText == "ok" else {
      throw SQLiteError(code: SQLITE_CORRUPT, message: check.first?.first?.asText ?? "quick_check gave no answer")
    }
    if maximumPages > 0 { try database.run("PRAGMA max_page_count = \(maximumPages)") }
  }

  /// Adds a tap in its state; returns false, and changes nothing, where the id is known.
  func insert(_ stored: StoredTap) throws(SQLiteError) -> Bool {
    let tap = stored.tap
    try database.run(
      """
      INSERT INTO taps (id, time, message, technology, uid, reader, uri, title, handler, state, changed, reason)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING
      """,
      [
        .text(tap.id), .integer(tap.time.microseconds), .blob(tap.message), .text(tap.technology), .blob(tap.uid),
        .text(tap.reader), SQLiteValue(tap.uri), .text(tap.title), SQLiteValue(tap.handler),
        .text(stored.state.rawValue), .integer(stored.changed.microseconds), .text(stored.reason),
      ])
    return database.changes == 1
  }

  /// Adds a tap, or puts it in the place of the one that has its id.
  func replace(_ stored: StoredTap) throws(SQLiteError) {
    try remove(stored.tap.id)
    _ = try insert(stored)
  }

  /// Removes a tap.
  func remove(_ id: String) throws(SQLiteError) {
    try database.run("DELETE FROM taps WHERE id = ?", [.text(id)])
  }

  /// The state of a tap; nil where there is none.
  func state(of id: String) throws(SQLiteError) -> TapState? {
    let rows = try database.run("SELECT state FROM taps WHERE id = ?", [.text(id)])
    return rows.first?.first?.asText.flatMap(TapState.init)
  }

  /// Sets the state where it is still `from`, and the handler where one is given; returns whether it was.
  func update(
    _ id: String, from: TapState, to: TapState, reason: String, handler: String? = nil, at time: Timestamp
  ) throws(SQLiteError) -> Bool {
    try database.run(
      "UPDATE taps SET state = ?, reason = ?, changed = ?, handler = coalesce(?, handler) WHERE id = ? AND state = ?",
      [
        .text(to.rawValue), .text(reason), .integer(time.microseconds), SQLiteValue(handler), .text(id),
        .text(from.rawValue),
      ])
    return database.changes == 1
  }

  /// Sets the state of all taps that are in `from`.
  func updateAll(from: TapState, to: TapState, reason: String, at time: Timestamp) throws(SQLiteError) {
    try database.run(
      "UPDATE taps SET state = ?, reason = ?, changed = ? WHERE state = ?",
      [.text(to.rawValue), .text(reason), .integer(time.microseconds), .text(from.rawValue)])
  }

  /// One tap, whole.
  func tap(_ id: String) throws(SQLiteError) -> StoredTap? {
    let rows = try database.run(
      """
      SELECT id, time, message, technology, uid, reader, uri, title, handler, state, changed, reason
      FROM taps WHERE id = ?
      """, [.text(id)])
    guard let row = rows.first, row.count == 12, let id = row[0].asText, let time = row[1].asInteger,
      let message = row[2].asBlob, let technology = row[3].asText, let uid = row[4].asBlob, let reader = row[5].asText,
      let title = row[7].asText, let state = row[9].asText.flatMap(TapState.init), let changed = row[10].asInteger
    else { return nil }
    let tap = Tap(
      id: id, time: Timestamp(microseconds: time), message: message, technology: technology, uid: uid, reader: reader,
      uri: row[6].asText, title: title, handler: row[8].asText)
    return StoredTap(
      tap: tap, state: state, changed: Timestamp(microseconds: changed), reason: row[11].asText ?? "")
  }

  /// Taps without their messages.
  func list(_ query: InboxQuery) throws(SQLiteError) -> [TapSummary] {
    let states = query.states.map { "'\($0.rawValue)'" }.sorted().joined(separator: ", ")
    let rows = try database.run(
      """
      SELECT id, time, uri, title, handler, state, changed, reason FROM taps
      WHERE state IN (\(states)) ORDER BY sequence \(query.newestFirst ? "DESC" : "ASC") LIMIT ?
      """, [.integer(Int64(query.limit))])
    return rows.compactMap(TapSummary.init)
  }

  /// The newest taps that the user has still to decide on, the oldest of them first: those that wait, and those that failed
  /// at a handler. One without a link or a handler was refused, and there is nothing to decide.
  func presentable(limit: Int) throws(SQLiteError) -> [TapSummary] {
    let rows = try database.run(
      """
      SELECT id, time, uri, title, handler, state, changed, reason FROM taps
      WHERE state IN \(TapStore.waitingStates)
      OR (state = '\(TapState.failed.rawValue)' AND uri IS NOT NULL AND handler IS NOT NULL)
      ORDER BY sequence DESC LIMIT ?
      """, [.integer(Int64(limit))])
    return rows.reversed().compactMap(TapSummary.init)
  }

  /// The ids of the taps that wait for the user, the oldest first.
  func waiting() throws(SQLiteError) -> [String] {
    let rows = try database.run("SELECT id FROM taps WHERE state IN \(TapStore.waitingStates) ORDER BY sequence")
    return rows.compactMap { $0.first?.asText }
  }

  /// The states that retention may end.
  private static let waitingStates = "('\(TapState.received.rawValue)', '\(TapState.shown.rawValue)')"

  /// How many taps there are.
  func count() throws(SQLiteError) -> Int {
    Int(try database.run("SELECT count(*) FROM taps").first?.first?.asInteger ?? 0)
  }

  /// Removes finished taps older than `time`, then the oldest finished ones beyond `maximum`.
  func remove(before time: Timestamp, keeping maximum: Int) throws(SQLiteError) {
    let finished = TapState.allCases.filter { !$0.isOpen }.map { "'\($0.rawValue)'" }.joined(separator: ", ")
    try database.run(
      "DELETE FROM taps WHERE state IN (\(finished)) AND time < ?", [.integer(time.microseconds)])
    let excess = try count() - maximum
    guard excess > 0 else { return }
    try database.run(
      """
      DELETE FROM taps WHERE sequence IN
      (SELECT sequence FROM taps WHERE state IN (\(finished)) ORDER BY sequence LIMIT ?)
      """, [.integer(Int64(excess))])
  }

  /// The open taps that retention ends: those older than `time`, and the oldest of the `excess` ones.
  func overdue(before time: Timestamp, excess: Int) throws(SQLiteError) -> [String] {
    let open = TapStore.waitingStates
    let rows = try database.run(
      """
      SELECT id FROM taps WHERE state IN \(open) AND (time < ? OR sequence IN
      (SELECT sequence FROM taps WHERE state IN \(open) ORDER BY sequence LIMIT ?)) ORDER BY sequence
      """, [.integer(time.microseconds), .integer(Int64(max(excess, 0)))])
    return rows.compactMap { $0.first?.asText }
  }

  /// Runs `body` as one transaction.
  func transaction<Result>(_ body: () throws(SQLiteError) -> Result) throws(SQLiteError) -> Result {
    try database.transaction(body)
  }
}

extension TapSummary {
  init?(_ row: [SQLiteValue]) {
    guard row.count == 8, let id = row[0].asText, let time = row[1].asInteger, let title = row[3].asText,
      let state = row[5].asText.flatMap(TapState.init), let changed = row[6].asInteger
    else { return nil }
    self.init(
      id: id, time: Timestamp(microseconds: time), uri: row[2].asText, title: title, handler: row[4].asText,
      state: state, changed: Timestamp(microseconds: changed), reason: row[7].asText ?? "")
  }
}
