import NDEF
import Names
import Testing

@testable import Inbox

struct SchemaTests {
  @Test func `a new database gets the tables, and one that has them stays as it is`() throws {
    let database = try Database(path: ":memory:")
    try Schema.prepare(database)
    try database.run(
      "INSERT INTO taps (id, time, message, technology, uid, reader, title, state, changed) VALUES ('a', 0, x'', '', x'', '', '', '', 0)"
    )
    try Schema.prepare(database)

    #expect(try database.run("PRAGMA user_version") == [[.integer(Schema.version)]])
    #expect(try database.run("SELECT count(*) FROM taps") == [[.integer(1)]])
  }

  @Test func `a file of version 4 keeps its taps, and a newer or an older one is refused`() throws {
    let database = try Database(path: ":memory:")
    try Schema.prepare(database)
    for column in ["rule", "program"] { try database.run("ALTER TABLE taps DROP COLUMN \(column)") }
    try database.run(
      "INSERT INTO taps (id, time, message, technology, uid, reader, title, state, changed) VALUES ('a', 0, x'', '', x'', '', '', '', 0)"
    )
    try database.run("PRAGMA user_version = 4")
    try Schema.prepare(database)
    #expect(try database.run("SELECT id, rule, program FROM taps") == [[.text("a"), .null, .null]])
    #expect(try database.run("PRAGMA user_version") == [[.integer(Schema.version)]])
    for version in [3, Schema.version + 1] {
      try database.run("PRAGMA user_version = \(version)")
      #expect(throws: SQLiteError.self) { try Schema.prepare(database) }
    }
  }

  @Test func `in a file of version 5, failed taps that are over get a state of their own`() throws {
    let database = try Database(path: ":memory:")
    try Schema.prepare(database)
    let taps = [
      ("failed", "refused", "failed-off-screen"), ("failed", "not-started", "failed"),
      ("expired", "made-room", "expired"), ("expired", "", "expired"),
      ("expired", "command-failed", "failed-off-screen"), ("dismissed", "refused", "dismissed"),
    ]
    for (number, (state, code, _)) in taps.enumerated() {
      try database.run(
        """
        INSERT INTO taps (id, time, message, technology, uid, reader, title, state, reason_code, changed)
        VALUES ('\(number)', 0, x'', '', x'', '', '', '\(state)', '\(code)', 0)
        """)
    }
    try database.run("PRAGMA user_version = 5")
    try Schema.prepare(database)
    #expect(try database.run("SELECT state FROM taps ORDER BY id") == taps.map { [.text($0.2)] })
  }

  @Test func `in a file of version 5, the reasons of failed programs lose the rule, which has its own column`() throws {
    let database = try Database(path: ":memory:")
    try Schema.prepare(database)
    let taps = [
      ("command-failed", "'lamp'", "rule lamp: /bin/false ended with status 1", "/bin/false ended with status 1"),
      ("command-missing", "'a: b'", "rule a: b: there is no program x", "there is no program x"),
      ("command-failed", "'lamp'", "rule door: /bin/false", "rule door: /bin/false"),
      ("command-failed", "NULL", "rule lamp: /bin/false", "rule lamp: /bin/false"),
      ("handler-failed", "'lamp'", "rule lamp: closed", "rule lamp: closed"),
    ]
    for (number, (code, rule, reason, _)) in taps.enumerated() {
      try database.run(
        """
        INSERT INTO taps (id, time, message, technology, uid, reader, title, state, reason_code, reason, rule, changed)
        VALUES ('\(number)', 0, x'', '', x'', '', '', 'failed', '\(code)', '\(reason)', \(rule), 0)
        """)
    }
    try database.run("PRAGMA user_version = 5")
    try Schema.prepare(database)
    #expect(try database.run("SELECT reason FROM taps ORDER BY id") == taps.map { [.text($0.3)] })
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

/// SQLite's plan for each statement: it uses an index and does not sort, so that the number of taps does not matter.
struct QueryPlanTests {
  /// Every statement that the store runs for these operations.
  private func statements(_ body: (TapStore) throws -> Void) throws -> [String] {
    let store = try TapStore(path: ":memory:")
    for (number, state) in TapState.allCases.enumerated() {
      _ = try store.put(sampleTap("\(number)").being(state))
    }
    var seen: [String] = []
    store.database.observer = { seen.append($0) }
    try body(store)
    store.database.observer = nil
    return seen.filter { statement in ["SELECT", "UPDATE", "DELETE"].contains { statement.hasPrefix($0) } }
  }

  /// The last column of each row: https://www.sqlite.org/eqp.html
  private func plan(_ statement: String) throws -> [String] {
    let database = try Database(path: ":memory:")
    try Schema.prepare(database)
    return try database.run("EXPLAIN QUERY PLAN " + statement).compactMap { $0.last?.asText }
  }

  private func expectQuick(_ statements: [String], _ comment: Comment) throws {
    #expect(!statements.isEmpty, comment)
    for statement in statements {
      for step in try plan(statement) {
        // Counting reads the whole index, which takes a millisecond for 100,000 taps.
        if statement.hasPrefix("SELECT count(*)") && step.contains("COVERING INDEX") { continue }
        #expect(!step.hasPrefix("SCAN taps"), "\(comment): \(statement)")
        #expect(!step.contains("TEMP B-TREE"), "\(comment): \(statement)")
      }
    }
  }

  static let queries: [InboxQuery] = [
    InboxQuery(), InboxQuery(before: "3"), InboxQuery(states: [.failed]), InboxQuery(states: [.failed], before: "3"),
    InboxQuery(states: [.received, .shown, .opening, .failed]), InboxQuery(newestFirst: false),
    InboxQuery(beforeSequence: 3), InboxQuery(states: [.failed], beforeSequence: 3),
    InboxQuery(states: [.failed, .shown], newestFirst: false, before: "3"), InboxQuery(text: "menu", reader: "/"),
    InboxQuery(states: [.failed, .shown], text: "menü", handler: "a", technology: "b"),
  ]

  @Test(arguments: queries) func `a list uses an index`(query: InboxQuery) throws {
    try expectQuick(try statements { _ = try $0.list(query, before: 3, limit: 10) }, "\(query)")
  }

  @Test(arguments: [InboxQuery(), InboxQuery(states: [.failed, .expired], beforeSequence: 3)])
  func `a count without a search reads only an index`(query: InboxQuery) throws {
    let statements = try statements { _ = try $0.count(query, before: 3, without: []) }
    #expect(statements.count == 1)
    for statement in statements { #expect(try plan(statement).allSatisfy { $0.contains("COVERING INDEX") }) }
  }

  @Test func `looking up and removing one tap uses an index`() throws {
    let statements = try statements { store in
      _ = try store.list(idPrefix: "1", limit: 2)
      _ = try store.tap("1")
      try store.remove("1")
    }
    #expect(statements.count == 3)
    try expectQuick(statements, "one")
  }

  @Test func `the queries of a start and of each tap use an index`() throws {
    let statements = try statements { store in
      _ = try store.liveTaps()
      _ = try store.count()
      _ = try store.remove(before: sampleTime, keeping: 1)
    }
    #expect(statements.count == 11)
    try expectQuick(statements, "retention")
  }

  @Test func `the queries of the outbox use an index`() throws {
    let statements = try statements { store in
      for number in 10...12 {
        _ = try store.put(
          sampleTap("\(number)").being(.shown, outgoing: true))
      }
      _ = try store.outgoing(after: 1, limit: 2)
      _ = try store.isOutgoing("1")
      try store.acknowledge("1")
      _ = try store.giveUpOutgoing(before: sampleTime, keeping: 1)
    }.filter { $0.contains("taps") }
    #expect(statements.count == 6)
    try expectQuick(statements, "outbox")
  }

  @Test func `the queries for notification places use an index`() throws {
    let place = NotificationPlace(bus: "bus", owner: ":1.7", id: 5)
    let statements = try statements { store in
      try store.setOtherPlaces([place])
      try store.setOtherPlaces([])
    }
    #expect(statements.count == 3)
    try expectQuick(statements, "places")
  }

  @Test func `clear uses an index`() throws {
    for clearing in [
      InboxClearing(), InboxClearing(before: sampleTime, onScreen: ["1", "2"]),
      InboxClearing(onScreen: ["1", "2"], includesOnScreen: true), InboxClearing(ids: ["1", "4"], onScreen: ["1"]),
    ] {
      try expectQuick(try statements { _ = try $0.remove(clearing, limit: 10) }, "\(clearing)")
    }
  }
}
