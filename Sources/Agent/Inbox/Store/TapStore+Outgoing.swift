/// The taps that wait to be sent. A partial index has only these, so the history does not matter.
extension TapStore {
  /// A tap that waits, without its contents.
  struct Outgoing {
    var id: String
    var time: Timestamp
    var sequence: Int64
  }

  /// The first `limit` of them with sequence numbers above `sequence`, lowest number first.
  func outgoing(after sequence: Int64, limit: Int) throws(SQLiteError) -> [Outgoing] {
    let rows = try database.run(
      "SELECT id, time, sequence FROM taps WHERE outgoing = 1 AND sequence > ?1 ORDER BY sequence LIMIT ?2",
      [.integer(sequence), .integer(Int64(limit))])
    return rows.compactMap { row in
      guard row.count == 3, let id = row[0].asText, let time = row[1].asInteger, let sequence = row[2].asInteger else {
        return nil
      }
      return Outgoing(id: id, time: Timestamp(microseconds: time), sequence: sequence)
    }
  }

  func outgoingCount() throws(SQLiteError) -> Int {
    Int(try database.run("SELECT count(*) FROM taps WHERE outgoing = 1").first?.first?.asInteger ?? 0)
  }

  /// Whether this tap waits.
  func isOutgoing(_ id: String) throws(SQLiteError) -> Bool {
    try !database.run("SELECT 1 FROM taps WHERE id = ? AND outgoing = 1", [.text(id)]).isEmpty
  }

  /// Records that this tap was sent.
  func acknowledge(_ id: String) throws(SQLiteError) {
    try database.run("UPDATE taps SET outgoing = 0 WHERE id = ? AND outgoing = 1", [.text(id)])
  }

  /// Gives up those that were read before `time`, and the first ones beyond `maximum`. Counts them, and returns their
  /// ids. The taps stay in the history.
  func giveUpOutgoing(before time: Timestamp?, keeping maximum: Int) throws(SQLiteError) -> [String] {
    var dropped: [String] = []
    if let time {
      dropped += try change(
        "UPDATE taps SET outgoing = 0 WHERE outgoing = 1 AND time < ?", [.integer(time.microseconds)])
    }
    let excess = try outgoingCount() - maximum
    if excess > 0 {
      dropped += try change(
        """
        UPDATE taps SET outgoing = 0 WHERE sequence IN (
          SELECT sequence FROM taps WHERE outgoing = 1 ORDER BY sequence LIMIT ?)
        """, [.integer(Int64(excess))])
    }
    if !dropped.isEmpty { try addDropped(Int64(dropped.count)) }
    return dropped
  }

  /// How many taps were removed or given up unsent, since the file was created. A trigger counts the removed ones.
  func dropped() throws(SQLiteError) -> Int64 {
    try database.run("SELECT dropped FROM outbox").first?.first?.asInteger ?? 0
  }

  func addDropped(_ count: Int64) throws(SQLiteError) {
    try database.run("UPDATE outbox SET dropped = dropped + ?", [.integer(count)])
  }
}
