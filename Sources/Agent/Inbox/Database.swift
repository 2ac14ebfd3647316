import CSQLite

struct SQLiteError: Error {
  /// The primary result code, for example `SQLITE_FULL`.
  let code: Int32
  let message: String

  /// The file's content is not what SQLite wrote.
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

  /// In milliseconds. A statement waits this long for another process to unlock the file.
  static let busyTimeout: Int32 = 2000

  func setBusyTimeout(_ milliseconds: Int32) { sqlite3_busy_timeout(handle, milliseconds) }

  deinit { sqlite3_close(handle) }

  /// Returns the rows.
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

  /// Between `BEGIN IMMEDIATE` and `COMMIT`. If any of these fails, rolls everything back.
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

enum SQLiteValue: Equatable {
  case null
  case integer(Int64)
  case text(String)
  case blob([UInt8])

  init(_ text: String?) { self = text.map(SQLiteValue.text) ?? .null }

  var asInteger: Int64? { if case .integer(let value) = self { value } else { nil } }
  var asText: String? { if case .text(let value) = self { value } else { nil } }
  var asBlob: [UInt8]? { if case .blob(let value) = self { value } else { nil } }

  /// Copies the column of the current row: SQLite frees its own at the next step.
  init(_ statement: OpaquePointer, column: Int32) {
    switch sqlite3_column_type(statement, column) {
    case SQLITE_INTEGER: self = .integer(sqlite3_column_int64(statement, column))
    case SQLITE_TEXT:
      let count = Int(sqlite3_column_bytes(statement, column))
      let bytes = UnsafeBufferPointer(start: sqlite3_column_text(statement, column), count: count)
      self = .text(String(decoding: bytes, as: UTF8.self))
    case SQLITE_BLOB:
      let pointer = sqlite3_column_blob(statement, column)
      self = .blob(Array(UnsafeRawBufferPointer(start: pointer, count: Int(sqlite3_column_bytes(statement, column)))))
    default: self = .null
    }
  }

  /// Binds a copy; `SQLITE_TRANSIENT` has SQLite make and free its own.
  func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    switch self {
    case .null: return sqlite3_bind_null(statement, index)
    case .integer(let value): return sqlite3_bind_int64(statement, index, value)
    case .text(let value):
      var value = value
      return value.withUTF8 { bytes in
        bytes.withMemoryRebound(to: CChar.self) {
          $0.isEmpty
            ? sqlite3_bind_text(statement, index, "", 0, transient)
            : sqlite3_bind_text64(
              statement, index, $0.baseAddress, sqlite3_uint64($0.count), transient, UInt8(SQLITE_UTF8))
        }
      }
    case .blob(let value):
      guard !value.isEmpty else { return sqlite3_bind_zeroblob(statement, index, 0) }
      return value.withUnsafeBytes {
        sqlite3_bind_blob64(statement, index, $0.baseAddress, sqlite3_uint64($0.count), transient)
      }
    }
  }
}
