import Testing

@testable import Inbox

struct SchemaTests {
  @Test func `a new database has the newest version, and a second migration has no effect`() throws {
    let database = try Database(path: ":memory:")
    try Schema.migrate(database)
    try database.run(
      "INSERT INTO taps (id, time, message, technology, uid, reader, title, state, changed) VALUES ('a', 0, x'', '', x'', '', '', '', 0)"
    )
    try Schema.migrate(database)

    #expect(try database.run("PRAGMA user_version") == [[.integer(Int64(Schema.steps.count))]])
    #expect(try database.run("SELECT count(*) FROM taps") == [[.integer(1)]])
  }

  @Test func `a transaction that throws is rolled back`() throws {
    let database = try Database(path: ":memory:")
    try database.run("CREATE TABLE t (x INTEGER)")
    #expect(throws: SQLiteError.self) {
      try database.transaction { () throws(SQLiteError) in
        try database.run("INSERT INTO t VALUES (1)")
        try database.run("INSERT INTO nowhere VALUES (1)")
      }
    }
    #expect(try database.run("SELECT count(*) FROM t") == [[.integer(0)]])
    // The connection can be used again, so no transaction is left open.
    try database.transaction { () throws(SQLiteError) in _ = try database.run("INSERT INTO t VALUES (2)") }
    #expect(try database.run("SELECT x FROM t") == [[.integer(2)]])
  }

  @Test func `values of every kind are returned unchanged, including empty and long ones`() throws {
    let database = try Database(path: ":memory:")
    let values: [SQLiteValue] = [
      .null, .integer(.min), .text(""), .text("π\u{0}x"), .blob([]), .blob([UInt8](repeating: 0xFF, count: 100_000)),
    ]
    let rows = try database.run("SELECT ?, ?, ?, ?, ?, ?", values)
    #expect(rows == [values])
  }
}
