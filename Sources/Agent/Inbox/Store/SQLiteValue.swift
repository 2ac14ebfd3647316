import CSQLite

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
