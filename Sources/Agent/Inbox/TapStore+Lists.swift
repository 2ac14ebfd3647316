/// Lists of taps, and their length. An index finds the rows of a list, unless it has to look at other columns than state
/// and place.
extension TapStore {
  /// Of a ``TapSummary``.
  private static let summary =
    "id, time, uri, title, handler, state, changed, reason_code, reason, sequence, rule, program"

  /// Rows with certain states in the order of their arrival.
  ///
  /// One search per state, merged: for `state IN (…) ORDER BY sequence` SQLite collects and sorts every row with these
  /// states, which takes half a second for a hundred thousand.
  ///
  /// There must be at least one state. The columns must include `sequence`. The parameters of `condition` must be
  /// numbered, because it appears once per state. A `LIMIT` may be added to the statement.
  static func byArrival(
    _ columns: String, _ states: [TapState], where condition: String, newestFirst: Bool
  ) -> String {
    states.map { "SELECT \(columns) FROM taps WHERE state = '\($0.rawValue)' AND \(condition)" }
      .joined(separator: " UNION ALL ") + " ORDER BY sequence \(newestFirst ? "DESC" : "ASC")"
  }

  /// The first `limit` taps with sequence numbers below `end`, without their messages.
  func list(_ query: InboxQuery, before end: Int64, limit: Int) throws(SQLiteError) -> [TapSummary] {
    guard !query.states.isEmpty else { return [] }
    let (condition, values) = query.condition(from: 3)
    let statement =
      query.hasAllStates
      ? "SELECT \(Self.summary) FROM taps WHERE sequence < ?1\(condition) "
        + "ORDER BY sequence \(query.newestFirst ? "DESC" : "ASC")"
      : TapStore.byArrival(
        Self.summary, TapState.allCases.filter(query.states.contains), where: "sequence < ?1\(condition)",
        newestFirst: query.newestFirst)
    return try database.run(statement + " LIMIT ?2", [.integer(end), .integer(Int64(limit))] + values)
      .compactMap(TapSummary.init)
  }

  /// How many taps have sequence numbers below `end`, without those with the ids `left`.
  func count(_ query: InboxQuery, before end: Int64, without left: Set<String>) throws(SQLiteError) -> Int {
    let (condition, values) = query.condition(from: 2)
    // Naming the states lets SQLite count in their index. If it has to read every row anyway, their order in the file is
    // faster than that of the index.
    let states = TapState.allCases.filter(query.states.contains).map { "'\($0.rawValue)'" }.joined(separator: ", ")
    let isOfAnyState = query.hasAllStates && !values.isEmpty
    let rest =
      "FROM taps WHERE sequence < ?1" + (isOfAnyState ? "" : " AND state IN (\(states))") + condition
    let bindings = [.integer(end)] + values
    guard left.isEmpty else {
      let ids = try database.run("SELECT id \(rest)", bindings)
      return ids.count { row in row.first?.asText.map { !left.contains($0) } ?? false }
    }
    return Int(try database.run("SELECT count(*) \(rest)", bindings).first?.first?.asInteger ?? 0)
  }

  /// In the order of the ids.
  func list(idPrefix prefix: String, limit: Int) throws(SQLiteError) -> [TapSummary] {
    let rows = try database.run(
      "SELECT \(TapStore.summary) FROM taps WHERE id >= ?1 AND id < ?2 ORDER BY id LIMIT ?3",
      [.text(prefix), .text(prefix + "\u{10FFFF}"), .integer(Int64(limit))])
    return rows.compactMap(TapSummary.init)
  }
}
