import CSQLite

/// The taps in one database, in memory or in a file: typed rows over ``Database``, without any policy.
final class TapStore {
  let database: Database

  /// - Parameters:
  ///   - path: a file, or `":memory:"`.
  ///   - maximumPages: stands in for a full disk in tests; 0 sets no limit.
  /// - Throws: where it cannot be opened, is damaged, or is of a newer schema (`SQLITE_MISMATCH`).
  init(path: String, maximumPages: Int = 0) throws(SQLiteError) {
    database = try Database(path: path)
    // One fsync a commit, and the file is whole after a power cut: https://www.sqlite.org/pragma.html#pragma_synchronous
    try database.run("PRAGMA journal_mode = WAL")
    try database.run("PRAGMA synchronous = FULL")
    // What is removed is overwritten: it was on a tag, and is nobody's business any more.
    try database.run("PRAGMA secure_delete = ON")
    // Nor is it written to a temporary file.
    try database.run("PRAGMA temp_store = MEMORY")
    try Schema.migrate(database)
    if maximumPages > 0 { try database.run("PRAGMA max_page_count = \(maximumPages)") }
  }

  /// Adds a tap in its state; returns false, and changes nothing, where the id is known. Its place is nobody else's any more.
  func insert(_ stored: StoredTap) throws(SQLiteError) -> Bool {
    let tap = stored.tap
    try database.run(
      """
      INSERT INTO taps (id, time, message, technology, uid, reader, uri, title, handler, state, changed, reason_code,
        reason, screen_bus, screen_owner, screen_id)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING
      """,
      [
        .text(tap.id), .integer(tap.time.microseconds), .blob(tap.message), .text(tap.technology), .blob(tap.uid),
        .text(tap.reader), SQLiteValue(tap.uri), .text(tap.title), SQLiteValue(tap.handler),
        .text(stored.state.rawValue), .integer(stored.changed.microseconds), .text(stored.reason.code.rawValue),
        .text(stored.reason.detail), SQLiteValue(stored.place?.bus), SQLiteValue(stored.place?.owner),
        stored.place.map { .integer(Int64($0.id)) } ?? .null,
      ])
    guard database.changes == 1 else { return false }
    if let place = stored.place { try removeOther(at: place) }
    return true
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
    _ id: String, from: TapState, to: TapState, reason: TapReason, handler: String? = nil, at time: Timestamp
  ) throws(SQLiteError) -> Bool {
    try database.run(
      """
      UPDATE taps SET state = ?, reason_code = ?, reason = ?, changed = ?, handler = coalesce(?, handler)
      WHERE id = ? AND state = ?
      """,
      [
        .text(to.rawValue), .text(reason.code.rawValue), .text(reason.detail), .integer(time.microseconds),
        SQLiteValue(handler), .text(id), .text(from.rawValue),
      ])
    return database.changes == 1
  }

  /// Sets the state of all taps that are in `from`.
  func updateAll(from: TapState, to: TapState, reason: TapReason, at time: Timestamp) throws(SQLiteError) {
    try database.run(
      "UPDATE taps SET state = ?, reason_code = ?, reason = ?, changed = ? WHERE state = ?",
      [
        .text(to.rawValue), .text(reason.code.rawValue), .text(reason.detail), .integer(time.microseconds),
        .text(from.rawValue),
      ])
  }

  /// One tap, whole.
  func tap(_ id: String) throws(SQLiteError) -> StoredTap? {
    try database.run("SELECT \(TapStore.whole) FROM taps WHERE id = ?", [.text(id)]).first.flatMap(StoredTap.init)
  }

  /// The columns of a ``StoredTap``.
  static let whole = """
    id, time, message, technology, uid, reader, uri, title, handler, state, changed, reason_code, reason, screen_bus, screen_owner,
    screen_id
    """

  /// The newest taps that the user has still to decide on, the oldest of them first.
  func waiting(newest limit: Int) throws(SQLiteError) -> [TapSummary] {
    let rows = try database.run(
      TapStore.byArrival(TapStore.summary, TapStore.waitingStates, where: TapStore.isWaiting, newestFirst: true)
        + " LIMIT ?", [.integer(Int64(limit))])
    return rows.reversed().compactMap(TapSummary.init)
  }

  /// The ids of all of them, the oldest first.
  func waiting() throws(SQLiteError) -> [String] {
    let rows = try database.run(
      TapStore.byArrival("id, sequence", TapStore.waitingStates, where: TapStore.isWaiting, newestFirst: false))
    return rows.compactMap { $0.first?.asText }
  }

  /// The ids of the taps that are not over, the oldest first.
  func unfinished() throws(SQLiteError) -> [String] {
    let rows = try database.run(
      TapStore.byArrival(
        "id, sequence", [.opening] + TapStore.waitingStates, where: TapStore.isWaiting, newestFirst: false))
    return rows.compactMap { $0.first?.asText }
  }

  /// Those that have a notification, or are to have one, so that retention cannot just remove them; a failed one that was refused has none.
  private static let waitingStates: [TapState] = [.received, .shown, .failed]
  private static func isWaiting(_ state: TapState) -> String {
    state == .failed ? "reason_code <> '\(TapReason.Code.refused.rawValue)'" : "true"
  }

  /// Those with which nothing happens any more.
  static let finishedStates: [TapState] = [.delivered, .dismissed, .expired, .failed]
  static func isFinished(_ state: TapState) -> String {
    state == .failed ? "reason_code = '\(TapReason.Code.refused.rawValue)'" : "true"
  }

  // MARK: Bounds

  /// How many taps there are.
  func count() throws(SQLiteError) -> Int {
    Int(try database.run("SELECT count(*) FROM taps").first?.first?.asInteger ?? 0)
  }

  /// Removes finished taps older than `time`, then the oldest finished ones beyond `maximum`; returns how many.
  func remove(before time: Timestamp, keeping maximum: Int) throws(SQLiteError) -> Int {
    var removed = 0
    for state in TapStore.finishedStates {
      try database.run(
        "DELETE FROM taps WHERE state = ? AND \(TapStore.isFinished(state)) AND time < ?",
        [.text(state.rawValue), .integer(time.microseconds)])
      removed += database.changes
    }
    let excess = try count() - maximum
    guard excess > 0 else { return removed }
    let oldest = TapStore.byArrival("sequence", TapStore.finishedStates, where: TapStore.isFinished, newestFirst: false)
    try database.run("DELETE FROM taps WHERE sequence IN (\(oldest) LIMIT ?)", [.integer(Int64(excess))])
    return removed + database.changes
  }

  /// The open taps that retention ends: those older than `time`, and the oldest of the `excess` ones.
  func overdue(before time: Timestamp, excess: Int) throws(SQLiteError) -> [String] {
    let oldest = TapStore.byArrival("sequence", TapStore.waitingStates, where: TapStore.isWaiting, newestFirst: false)
    let rows = try database.run(
      TapStore.byArrival(
        "id, sequence", TapStore.waitingStates,
        where: { "\(TapStore.isWaiting($0)) AND (time < ?1 OR sequence IN (\(oldest) LIMIT ?2))" }, newestFirst: false),
      [.integer(time.microseconds), .integer(Int64(max(excess, 0)))])
    return rows.compactMap { $0.first?.asText }
  }

  /// Runs `body` as one transaction.
  func transaction<Result>(_ body: () throws(SQLiteError) -> Result) throws(SQLiteError) -> Result {
    try database.transaction(body)
  }
}

extension StoredTap {
  /// - Parameter row: the columns of ``TapStore/whole``, and perhaps others behind them.
  init?(_ row: [SQLiteValue]) {
    guard row.count >= 16, let id = row[0].asText, let time = row[1].asInteger, let message = row[2].asBlob,
      let technology = row[3].asText, let uid = row[4].asBlob, let reader = row[5].asText, let title = row[7].asText,
      let state = row[9].asText.flatMap(TapState.init), let changed = row[10].asInteger
    else { return nil }
    self.init(
      tap: Tap(
        id: id, time: Timestamp(microseconds: time), message: message, technology: technology, uid: uid,
        reader: reader, uri: row[6].asText, title: title, handler: row[8].asText),
      state: state, changed: Timestamp(microseconds: changed), reason: TapReason(row[11], row[12]),
      place: ScreenPlace(row[13], row[14], row[15]))
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
