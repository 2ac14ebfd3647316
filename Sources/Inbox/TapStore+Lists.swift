/// Parts of a large store, each found by an index: what is asked for is all that is looked at.
extension TapStore {
  /// The columns of a ``TapSummary``; the last is the order.
  static let summary = "id, time, uri, title, handler, state, changed, reason_code, reason, sequence"

  /// Rows of some states in the order in which they came.
  ///
  /// One search for each state, merged: SQLite answers `state IN (…) ORDER BY sequence` by collecting every row of these states and
  /// sorting them, which takes half a second where there are a hundred thousand.
  ///
  /// - Parameters:
  ///   - columns: what is selected, `sequence` among it.
  ///   - states: at least one.
  ///   - condition: a further condition for those in a state; a parameter in it is numbered, since it stands there once for each state.
  ///   - newestFirst: whether the newest comes first.
  /// - Returns: a statement to which a `LIMIT` may be added.
  static func byArrival(
    _ columns: String, _ states: [TapState], where condition: (TapState) -> String, newestFirst: Bool
  ) -> String {
    states.map { "SELECT \(columns) FROM taps WHERE state = '\($0.rawValue)' AND \(condition($0))" }
      .joined(separator: " UNION ALL ") + " ORDER BY sequence \(newestFirst ? "DESC" : "ASC")"
  }

  /// Taps without their messages; nil where there is no tap that they are to be older than.
  func list(_ query: InboxQuery) throws(SQLiteError) -> [TapSummary]? {
    guard let end = try end(of: query) else { return nil }
    return try rows(TapStore.summary, of: query, before: end, limit: query.limit).compactMap(TapSummary.init)
  }

  /// The first of these taps with their messages, as many as have so many bytes together, and one at least; nil where there is no tap
  /// that they are to be older than.
  func list(_ query: InboxQuery, bytes: Int) throws(SQLiteError) -> [ListedTap]? {
    guard let end = try end(of: query) else { return nil }
    // How long a message is stands at the beginning of its row: none is read for this.
    let sizes = try rows("length(message), sequence", of: query, before: end, limit: query.limit)
      .compactMap { $0.first?.asInteger }
    var sum: Int64 = 0
    let count = sizes.prefix { size in
      sum = sum.addingReportingOverflow(size).partialValue
      return sum <= Int64(bytes)
    }.count
    guard !sizes.isEmpty else { return [] }
    return try rows(TapStore.whole + ", sequence", of: query, before: end, limit: max(count, 1)).compactMap { row in
      guard let stored = StoredTap(row), let sequence = row.last?.asInteger else { return nil }
      return ListedTap(stored: stored, sequence: sequence)
    }
  }

  /// The sequence number that all taps of a list are below.
  private func end(of query: InboxQuery) throws(SQLiteError) -> Int64? {
    guard let before = query.before else { return query.beforeSequence ?? .max }
    let rows = try database.run("SELECT sequence FROM taps WHERE id = ?", [.text(before)])
    return (rows.first?.first?.asInteger).map { min($0, query.beforeSequence ?? .max) }
  }

  private func rows(
    _ columns: String, of query: InboxQuery, before end: Int64, limit: Int
  ) throws(SQLiteError) -> [[SQLiteValue]] {
    guard !query.states.isEmpty else { return [] }
    let statement =
      query.states.count == TapState.allCases.count
      ? "SELECT \(columns) FROM taps WHERE sequence < ?1 ORDER BY sequence \(query.newestFirst ? "DESC" : "ASC")"
      : TapStore.byArrival(
        columns, TapState.allCases.filter(query.states.contains), where: { _ in "sequence < ?1" },
        newestFirst: query.newestFirst)
    return try database.run(statement + " LIMIT ?2", [.integer(end), .integer(Int64(limit))])
  }

  /// Taps whose ids begin with `prefix`, in the order of their ids.
  func list(idPrefix prefix: String, limit: Int) throws(SQLiteError) -> [TapSummary] {
    let rows = try database.run(
      "SELECT \(TapStore.summary) FROM taps WHERE id >= ?1 AND id < ?2 ORDER BY id LIMIT ?3",
      [.text(prefix), .text(prefix + "\u{10FFFF}"), .integer(Int64(limit))])
    return rows.compactMap(TapSummary.init)
  }

  /// The ids of all taps, the oldest first.
  func allIdentifiers() throws(SQLiteError) -> [String] {
    try database.run("SELECT id FROM taps ORDER BY sequence").compactMap { $0.first?.asText }
  }

  /// Removes what is asked for: all of what is on the screen, and at most `limit` others; returns their ids.
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
      let rows = try database.run(
        """
        DELETE FROM taps WHERE sequence IN (
          SELECT sequence FROM taps
          WHERE state = ? AND \(TapStore.isFinished(state)) AND time < ? AND id NOT IN (\(parameters)) LIMIT ?)
        RETURNING id
        """, [.text(state.rawValue), end] + kept + [.integer(Int64(limit - removed.count))])
      removed += rows.compactMap { $0.first?.asText }
    }
    return removed
  }

  private func remove(
    _ ids: Set<String>, where condition: String, before end: SQLiteValue
  ) throws(SQLiteError) -> [String] {
    var removed: [String] = []
    for id in ids {
      let rows = try database.run(
        "DELETE FROM taps WHERE id = ? AND (\(condition)) AND time < ? RETURNING id", [.text(id), end])
      removed += rows.compactMap { $0.first?.asText }
    }
    return removed
  }

  /// Takes what was removed out of the file, and out of what SQLite keeps beside it; a file that is mostly empty is made shorter.
  func compact() throws(SQLiteError) {
    let pages = try database.run("PRAGMA page_count").first?.first?.asInteger ?? 0
    let free = try database.run("PRAGMA freelist_count").first?.first?.asInteger ?? 0
    let used = pages - free
    // Takes as long as what is left is large, and a tap may have to wait for it.
    if free > used && used <= TapStore.pagesMovedAtMost { try database.run("VACUUM") }
    try database.run("PRAGMA wal_checkpoint(TRUNCATE)")
  }

  /// 8 MiB.
  private static let pagesMovedAtMost: Int64 = 2048
}
