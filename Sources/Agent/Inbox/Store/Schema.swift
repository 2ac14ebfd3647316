import CSQLite

/// The tables, by version. `PRAGMA user_version` is the number of steps that a file has been through.
///
/// A released step never changes. A new shape is a new step at the end.
enum Schema {
  /// Step `n` takes a file from version `n` to version `n + 1`.
  static let steps: [[String]] = [
    [
      """
      CREATE TABLE taps (
        sequence INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        time INTEGER NOT NULL,
        message BLOB NOT NULL,
        technology TEXT NOT NULL,
        uid BLOB NOT NULL,
        reader TEXT NOT NULL,
        uri TEXT,
        title TEXT NOT NULL,
        handler TEXT,
        state TEXT NOT NULL,
        changed INTEGER NOT NULL,
        reason TEXT NOT NULL DEFAULT ''
      ) STRICT
      """,
      "CREATE INDEX taps_by_time ON taps (time)",
      "CREATE INDEX taps_by_state ON taps (state, sequence)",
    ],
    // Version 1 stored the reason as an English sentence. The sentences with one meaning become codes.
    [
      "ALTER TABLE taps ADD COLUMN reason_code TEXT NOT NULL DEFAULT ''",
      """
      UPDATE taps SET reason_code = 'ended-while-opening', reason = ''
      WHERE reason = 'the agent ended while it was being opened; it may have been opened'
      """,
      """
      UPDATE taps SET reason_code = 'no-answer',
        reason = substr(reason, 1, length(reason) - length('; it may have been opened'))
      WHERE substr(reason, -length('; it may have been opened')) = '; it may have been opened'
      """,
      "UPDATE taps SET reason_code = 'tapped-again', reason = '' WHERE reason = 'the same tag was read again'",
      "UPDATE taps SET reason_code = 'made-room', reason = '' WHERE reason = 'newer taps took its place on the screen'",
      "UPDATE taps SET reason_code = 'refused' WHERE state = 'failed' AND (uri IS NULL OR handler IS NULL)",
      "ALTER TABLE taps ADD COLUMN screen_bus TEXT",
      "ALTER TABLE taps ADD COLUMN screen_owner TEXT",
      "ALTER TABLE taps ADD COLUMN screen_id INTEGER",
      "CREATE INDEX taps_on_screen ON taps (screen_id) WHERE screen_id IS NOT NULL",
      "CREATE INDEX taps_by_state_and_time ON taps (state, time)",
    ],
    // Notifications on the screen that show no tap of the inbox, or a removed one. The next run closes them.
    [
      """
      CREATE TABLE other_places (
        number INTEGER PRIMARY KEY, bus TEXT NOT NULL, owner TEXT NOT NULL, id INTEGER NOT NULL, UNIQUE (id, owner, bus)
      ) STRICT
      """,
      """
      CREATE TRIGGER taps_leave_places AFTER DELETE ON taps WHEN old.screen_id IS NOT NULL BEGIN
        INSERT OR IGNORE INTO other_places (bus, owner, id) VALUES (old.screen_bus, old.screen_owner, old.screen_id);
      END
      """,
      """
      CREATE TRIGGER other_places_are_bounded AFTER INSERT ON other_places BEGIN
        DELETE FROM other_places WHERE number <= new.number - 256;
      END
      """,
    ],
    // Taps that wait to be sent to other machines, and how many of those were removed unsent.
    [
      "ALTER TABLE taps ADD COLUMN outgoing INTEGER NOT NULL DEFAULT 0",
      "CREATE INDEX taps_outgoing ON taps (outgoing, sequence) WHERE outgoing = 1",
      "CREATE TABLE outbox (number INTEGER PRIMARY KEY CHECK (number = 1), dropped INTEGER NOT NULL) STRICT",
      "INSERT INTO outbox (number, dropped) VALUES (1, 0)",
      """
      CREATE TRIGGER taps_leave_outbox AFTER DELETE ON taps WHEN old.outgoing = 1 BEGIN
        UPDATE outbox SET dropped = dropped + 1;
      END
      """,
    ],
  ]

  /// Brings a database to the newest version. Throws `SQLITE_MISMATCH` if a newer program wrote the file.
  static func migrate(_ database: Database) throws(SQLiteError) {
    let rows = try database.run("PRAGMA user_version")
    let version = Int(rows.first?.first?.asInteger ?? 0)
    guard (0...steps.count).contains(version) else {
      throw SQLiteError(code: SQLITE_MISMATCH, message: "schema version \(version) is newer than \(steps.count)")
    }
    guard version < steps.count else { return }
    try database.transaction { () throws(SQLiteError) in
      for step in steps[version...] {
        for statement in step { try database.run(statement) }
      }
      try database.run("PRAGMA user_version = \(steps.count)")
    }
  }
}
