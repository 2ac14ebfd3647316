import CSQLite

struct SQLiteError: Error {
  /// The primary result code, for example `SQLITE_FULL`.
  let code: Int32
  let message: String

  /// Whether the file's content is not what SQLite wrote.
  var isDamage: Bool { code == SQLITE_CORRUPT || code == SQLITE_NOTADB }
}

/// One SQLite connection.
///
/// Owns the `sqlite3 *` from `sqlite3_open_v2` to `sqlite3_close`, which `deinit` calls. Each call finalises its
/// statement, so none is alive at the close. Not Sendable: it lives inside the one actor that uses it.
final class Database {
  private let handle: OpaquePointer
  /// Receives each statement, for tests of SQLite's query plans.
  var observer: ((String) -> Void)?

  /// Opens or creates the file, or a database in memory if `path` is `":memory:"`. A read-only file must exist.
  init(path: String, isReadOnly: Bool = false) throws(SQLiteError) {
    var handle: OpaquePointer?
    let access = isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
    let code = sqlite3_open_v2(path, &handle, access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW, nil)
    guard let handle else { throw SQLiteError(code: SQLITE_NOMEM, message: "out of memory") }
    guard code == SQLITE_OK else {
      // A failed open leaves a handle that has the message and must be closed.
      let error = SQLiteError(code: code & 0xFF, message: String(cString: sqlite3_errmsg(handle)))
      sqlite3_close(handle)
      throw error
    }
    self.handle = handle
    setBusyTimeout(Self.busyTimeout)
  }

  /// How many milliseconds a statement waits for another process to unlock the file.
  static let busyTimeout: Int32 = 2000

  func setBusyTimeout(_ milliseconds: Int32) { sqlite3_busy_timeout(handle, milliseconds) }

  deinit { sqlite3_close(handle) }

  /// Runs one statement and returns its rows.
  @discardableResult
  func run(_ sql: String, _ bindings: [SQLiteValue] = []) throws(SQLiteError) -> [[SQLiteValue]] {
    observer?(sql)
    var prepared: OpaquePointer?
    try check(sqlite3_prepare_v2(handle, sql, -1, &prepared, nil))
    guard let statement = prepared else { return [] }
    defer { sqlite3_finalize(statement) }
    for (index, value) in bindings.enumerated() {
      try check(value.bind(to: statement, at: Int32(index) + 1))
    }
    var rows: [[SQLiteValue]] = []
    while true {
      switch sqlite3_step(statement) {
      case SQLITE_ROW:
        rows.append((0..<sqlite3_column_count(statement)).map { SQLiteValue(statement, column: $0) })
      case SQLITE_DONE: return rows
      case let code: try check(code)
      }
    }
  }

  /// Runs `body` between `BEGIN IMMEDIATE` and `COMMIT`. If any of these fails, rolls everything back.
  func transaction<Result>(_ body: () throws(SQLiteError) -> Result) throws(SQLiteError) -> Result {
    try run("BEGIN IMMEDIATE")
    do {
      let result = try body()
      try run("COMMIT")
      return result
    } catch {
      // After some errors SQLite has rolled back already; then this fails, which is fine.
      _ = try? run("ROLLBACK")
      throw error
    }
  }

  private func check(_ code: Int32) throws(SQLiteError) {
    guard code == SQLITE_OK else {
      throw SQLiteError(code: code & 0xFF, message: String(cString: sqlite3_errmsg(handle)))
    }
  }
}
