import CSQLite

/// The tables of the inbox.
enum Schema {
  /// `PRAGMA user_version` of a file with these tables. A released schema never changes: a new shape gets a new number,
  /// and statements that lead there from this one.
  static let version: Int64 = 4

  static let statements = [
    // `screen_…`: the place of the tap's notification. `outgoing`: the tap waits to be sent to other machines.
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
      reason TEXT NOT NULL DEFAULT '',
      reason_code TEXT NOT NULL DEFAULT '',
      screen_bus TEXT,
      screen_owner TEXT,
      screen_id INTEGER,
      outgoing INTEGER NOT NULL DEFAULT 0
    ) STRICT
    """,
    "CREATE INDEX taps_by_time ON taps (time)",
    "CREATE INDEX taps_by_state ON taps (state, sequence)",
    "CREATE INDEX taps_by_state_and_time ON taps (state, time)",
    "CREATE INDEX taps_on_screen ON taps (screen_id) WHERE screen_id IS NOT NULL",
    "CREATE INDEX taps_outgoing ON taps (outgoing, sequence) WHERE outgoing = 1",
    // Notifications on the screen that show no tap of the inbox, or a removed one. The next run closes them.
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
    // How many taps that waited to be sent were removed unsent.
    "CREATE TABLE outbox (number INTEGER PRIMARY KEY CHECK (number = 1), dropped INTEGER NOT NULL) STRICT",
    "INSERT INTO outbox (number, dropped) VALUES (1, 0)",
    """
    CREATE TRIGGER taps_leave_outbox AFTER DELETE ON taps WHEN old.outgoing = 1 BEGIN
      UPDATE outbox SET dropped = dropped + 1;
    END
    """,
  ]

  /// Makes the tables in a new database. Throws `SQLITE_MISMATCH` if another version of the program wrote the file.
  static func prepare(_ database: Database) throws(SQLiteError) {
    let found = try database.run("PRAGMA user_version").first?.first?.asInteger ?? 0
    guard found != version else { return }
    guard found == 0 else {
      throw SQLiteError(code: SQLITE_MISMATCH, message: "schema version \(found) instead of \(version)")
    }
    try database.transaction { () throws(SQLiteError) in
      for statement in statements { try database.run(statement) }
      try database.run("PRAGMA user_version = \(version)")
    }
  }
}
