/// Parts of a large store. An index finds each of them, so that SQLite reads only the rows that it returns.
extension TapStore {
  /// The columns of a ``TapSummary``; the last one is the order.
  private static let summary = "id, time, uri, title, handler, state, changed, reason_code, reason, sequence"

  /// Rows with certain states in the order of their arrival.
  ///
  /// One search per state, merged: for `state IN (…) ORDER BY sequence` SQLite collects and sorts every row with these
  /// states, which takes half a second for a hundred thousand.
  ///
  /// There must be at least one state. The columns must include `sequence`. The parameters of `condition` must be
  /// numbered, because it appears once per state. A `LIMIT` may be added to the statement.
  static func byArrival(
    _ columns: String, _ states: [TapState], where condition: (TapState) -> String, newestFirst: Bool
  ) -> String {
    states.map { "SELECT \(columns) FROM taps WHERE state = '\($0.rawValue)' AND \(condition($0))" }
      .joined(separator: " UNION ALL ") + " ORDER BY sequence \(newestFirst ? "DESC" : "ASC")"
  }

  /// The first `limit` taps of a query with sequence numbers below `end`, without their messages.
  func list(_ query: InboxQuery, before end: Int64, limit: Int) throws(SQLiteError) -> [TapSummary] {
    guard !query.states.isEmpty else { return [] }
    let statement =
      query.states.count == TapState.allCases.count
      ? "SELECT \(Self.summary) FROM taps WHERE sequence < ?1 ORDER BY sequence \(query.newestFirst ? "DESC" : "ASC")"
      : TapStore.byArrival(
        Self.summary, TapState.allCases.filter(query.states.contains), where: { _ in "sequence < ?1" },
        newestFirst: query.newestFirst)
    return try database.run(statement + " LIMIT ?2", [.integer(end), .integer(Int64(limit))])
      .compactMap(TapSummary.init)
  }

  /// Taps with ids that begin with `prefix`, in the order of the ids.
  func list(idPrefix prefix: String, limit: Int) throws(SQLiteError) -> [TapSummary] {
    let rows = try database.run(
      "SELECT \(TapStore.summary) FROM taps WHERE id >= ?1 AND id < ?2 ORDER BY id LIMIT ?3",
      [.text(prefix), .text(prefix + "\u{10FFFF}"), .integer(Int64(limit))])
    return rows.compactMap(TapSummary.init)
  }

  /// Removes the taps on the screen that are asked for, and at most `limit` others; returns their ids.
  func remove(_ clearing: InboxClearing, limit: Int) throws(SQLiteError) -> [String] {
    let end = SQLiteValue.integer(clearing.before?.microseconds ?? .max)
    var removed: [String] = []
    if clearing.includesOnScreen {
      let asked = clearing.ids.map { clearing.onScreen.intersection($0) } ?? clearing.onScreen
      removed += try remove(asked, where: "state <> '\(TapState.opening.rawValue)'", before: end)
    }
    if let ids = clearing.ids {
      let finished = TapStore.finishedStates.map { "state = '\($0.rawValue)' AND \(TapStore.isFinished($0))" }
      return try removed
        + remove(Set(ids).subtracting(clearing.onScreen), where: finished.joined(separator: " OR "), before: end)
    }
    let kept = clearing.onScreen.map(SQLiteValue.text)
    let parameters = kept.map { _ in "?" }.joined(separator: ", ")
    for state in TapStore.finishedStates where removed.count < limit {
      removed += try change(
        """
        DELETE FROM taps WHERE sequence IN (
          SELECT sequence FROM taps
          WHERE state = ? AND \(TapStore.isFinished(state)) AND time < ? AND id NOT IN (\(parameters)) LIMIT ?)
        """, [.text(state.rawValue), end] + kept + [.integer(Int64(limit - removed.count))])
    }
    return removed
  }

  private func remove(
    _ ids: Set<String>, where condition: String, before end: SQLiteValue
  ) throws(SQLiteError) -> [String] {
    var removed: [String] = []
    for id in ids {
      removed += try change("DELETE FROM taps WHERE id = ? AND (\(condition)) AND time < ?", [.text(id), end])
    }
    return removed
  }

  /// Overwrites deleted rows in the file and in its write-ahead log, and shortens a file that is mostly empty.
  func compact() throws(SQLiteError) {
    let pages = try database.run("PRAGMA page_count").first?.first?.asInteger ?? 0
    let free = try database.run("PRAGMA freelist_count").first?.first?.asInteger ?? 0
    let used = pages - free
    // VACUUM copies the used pages. A tap may have to wait for that, so copy no more than 8 MiB.
    if free > used && used <= 2048 { try database.run("VACUUM") }
    try database.run("PRAGMA wal_checkpoint(TRUNCATE)")
  }
}
