import CSQLite
import Glibc

/// Where the database lies, and what is done before SQLite sees it.
struct InboxFile: Hashable {
  /// A directory that is the inbox's own.
  let directory: String
  /// The database's name in it.
  let name: String

  var path: String { directory + "/" + name }

  /// Held by the process that has the database open.
  var lockPath: String { path + ".lock" }

  /// Where ``ScreenFile`` is.
  var screenPath: String { path + ".screen" }

  /// Makes the directory where it can be made, for what is beside the database.
  func prepareDirectory() { do throws(SQLiteError) { try makeDirectory() } catch {} }

  /// Makes the directory (0700) and the file (0600) and opens the database.
  ///
  /// A file that is damaged, or of a newer schema, is moved aside under a name that says so, and a fresh one is made.
  ///
  /// - Throws: where not even a fresh one can be made.
  func open(
    at time: Timestamp, maximumPages: Int = 0, report: (String) -> Void
  ) throws(SQLiteError) -> TapStore {
    try makeDirectory()
    try makeFile()
    let path = try resolvedDirectory() + "/" + name
    do {
      return try TapStore(path: path, maximumPages: maximumPages)
    } catch  where error.isDamage || error.code == SQLITE_MISMATCH {
      try moveAside(because: error, at: time, report: report)
      try makeFile()
      return try TapStore(path: path, maximumPages: maximumPages)
    }
  }

  /// Reads the whole file, by a connection of its own that changes nothing.
  ///
  /// - Returns: what is wrong with it; nil also where it cannot be read now.
  func damage() -> SQLiteError? {
    do throws(SQLiteError) {
      let database = try Database(path: try resolvedDirectory() + "/" + name, isReadOnly: true)
      let answer = try database.run("PRAGMA quick_check(1)").first?.first?.asText ?? "quick_check gave no answer"
      return answer == "ok" ? nil : SQLiteError(code: SQLITE_CORRUPT, message: answer)
    } catch {
      return error.isDamage ? error : nil
    }
  }

  /// What tells whether another program has deleted, replaced or overwritten the database or its write-ahead log.
  struct Stamp: Hashable {
    /// Devices and inodes; 0 if there is no such file.
    fileprivate var identities: [UInt64] = []
    /// Of the database alone, which SQLite writes only at a checkpoint: its size and the time of its last change.
    fileprivate var content: [Int] = []
  }

  /// The files as they are now, after SQLite has written them.
  ///
  /// - Parameter former: what they were before; nil if SQLite has just opened them.
  /// - Returns: what they are now, with the former identities: a file that was replaced meanwhile is noticed at the next look.
  func stamp(after former: Stamp?) -> Stamp {
    var result = stamp()
    guard let former else { return result }
    for index in result.identities.indices where former.identities[index] != 0 {
      result.identities[index] = former.identities[index]
    }
    return result
  }

  /// The files as they are now.
  func stamp() -> Stamp {
    var result = Stamp()
    for suffix in ["", "-wal"] {
      var information = stat()
      let isThere = lstat(path + suffix, &information) == 0
      result.identities += isThere ? [UInt64(information.st_dev), UInt64(information.st_ino)] : [0, 0]
      guard suffix.isEmpty else { continue }
      result.content = [Int(information.st_size), information.st_mtim.tv_sec, information.st_mtim.tv_nsec]
    }
    return result
  }

  /// What another program has done to the files since `stamp`; nil if SQLite can go on with them.
  func change(since stamp: Stamp) -> SQLiteError? {
    let present = self.stamp()
    guard present.identities == stamp.identities else {
      return SQLiteError(
        code: SQLITE_CORRUPT, message: "another program has deleted or replaced it while it was in use")
    }
    return present.content == stamp.content ? nil : damage()
  }

  /// Renames the database, if it is there, and what SQLite keeps beside it.
  func moveAside(because error: SQLiteError, at time: Timestamp, report: (String) -> Void) throws(SQLiteError) {
    let kind = InboxFile.kindsAside[error.isDamage ? 0 : 1]
    let aside = "\(path).\(kind)-\(time.microseconds)"
    let isThere = rename(path, aside) == 0
    guard isThere || errno == ENOENT else {
      throw SQLiteError(
        code: SQLITE_CANTOPEN, message: "cannot move \(path) aside: \(String(cString: strerror(errno)))")
    }
    for suffix in ["-wal", "-shm"] { rename(path + suffix, aside + suffix) }
    guard isThere else {
      return report("the inbox \(path) was deleted while it was in use: its history is lost, and a new one is begun")
    }
    report("the inbox \(path) is \(kind) (\(error.message)); it is kept as \(aside), and a new one is begun")
  }

  /// Removes files that ``moveAside(because:at:report:)`` has renamed: what was on tags is in them, too.
  ///
  /// - Parameter time: only those that were moved aside before.
  /// - Returns: whether there was one.
  @discardableResult
  func removeAside(before time: Timestamp) -> Bool {
    guard let stream = opendir(directory) else { return false }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      withUnsafeBytes(of: &entry.pointee.d_name) {
        names.append(String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self))
      }
    }
    var hasRemoved = false
    for aside in names {
      guard let moved = InboxFile.kindsAside.lazy.compactMap({ self.time(in: aside, of: $0) }).first, moved < time
      else {
        continue
      }
      if unlinkat(dirfd(stream), aside, 0) == 0 { hasRemoved = true }
    }
    return hasRemoved
  }

  /// Removes the database, what SQLite keeps beside it, and what was moved aside.
  ///
  /// - Returns: whether there was anything.
  /// - Throws: where something cannot be removed.
  func remove() throws(SQLiteError) -> Bool {
    var hasRemoved = removeAside(before: Timestamp(microseconds: .max))
    for suffix in ["-wal", "-shm", ""] {
      if unlink(path + suffix) == 0 {
        hasRemoved = true
      } else if errno != ENOENT && errno != ENOTDIR {
        throw failure("remove \(path + suffix)")
      }
    }
    return hasRemoved
  }

  private static let kindsAside = ["damaged", "unusable"]

  /// - Returns: when a file was moved aside; nil where it was not.
  private func time(in aside: String, of kind: String) -> Timestamp? {
    let prefix = "\(name).\(kind)-"
    guard aside.hasPrefix(prefix) else { return nil }
    let (digits, rest) = (
      aside.dropFirst(prefix.count).prefix { $0.isNumber }, aside.dropFirst(prefix.count).drop { $0.isNumber }
    )
    guard ["", "-wal", "-shm"].contains(rest) else { return nil }
    return Int64(digits).map(Timestamp.init(microseconds:))
  }

  private func makeDirectory() throws(SQLiteError) {
    var prefix = ""
    for component in directory.split(separator: "/") {
      prefix += "/" + component
      if mkdir(prefix, 0o700) != 0 && errno != EEXIST && errno != EROFS && errno != EACCES {
        throw failure("make the directory \(prefix)")
      }
    }
    guard chmod(directory, 0o700) == 0 else { throw failure("make \(directory) private") }
  }

  /// The directory without symbolic links. SQLite is told to follow none, and means none in the whole path; but a linked
  /// `~/.local` is the user's business, and only the file itself must not lead elsewhere.
  private func resolvedDirectory() throws(SQLiteError) -> String {
    guard let resolved = realpath(directory, nil) else { throw failure("find \(directory)") }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  private func makeFile() throws(SQLiteError) {
    // Before SQLite, so that the file is never readable by others; its -wal and -shm take over the mode.
    let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw failure("open \(path)") }
    defer { close(descriptor) }
    guard fchmod(descriptor, 0o600) == 0 else { throw failure("make \(path) private") }
  }

  private func failure(_ attempt: String) -> SQLiteError {
    SQLiteError(code: SQLITE_CANTOPEN, message: "cannot \(attempt): \(String(cString: strerror(errno)))")
  }
}
