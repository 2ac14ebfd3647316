import CSQLite
import EventLoop
import Glibc
import Names

/// The files of the database: created before SQLite opens them, checked, moved aside and removed.
struct InboxFile: Hashable {
  /// Only the inbox uses it.
  let directory: String
  let name: String

  var path: String { directory + "/" + name }

  /// Held by the process that has the database open.
  var lockPath: String { path + ".lock" }

  var screenPath: String { path + ".screen" }

  /// Creates the directory if possible, for the files beside the database.
  func prepareDirectory() { do throws(SQLiteError) { try makeDirectory() } catch {} }

  /// Creates the directory (0700) and the file (0600) and opens the database.
  ///
  /// A damaged file, or one with a newer schema or too many taps, is moved aside, and a new one is created. Throws if even
  /// a new one cannot be created.
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

  /// Checks the whole file through a separate read-only connection. Returns the damage; nil if there is none, or the
  /// file cannot be read now.
  func damage() -> SQLiteError? {
    do throws(SQLiteError) {
      let database = try Database(path: try resolvedDirectory() + "/" + name, isReadOnly: true)
      let answer = try database.run("PRAGMA quick_check(1)").first?.first?.asText ?? "quick_check gave no answer"
      return answer == "ok" ? nil : SQLiteError(code: SQLITE_CORRUPT, message: answer)
    } catch {
      return error.isDamage ? error : nil
    }
  }

  /// None if the file cannot be read, or an earlier version wrote it.
  func outgoing() -> [String] {
    do throws(SQLiteError) {
      let database = try Database(path: try resolvedDirectory() + "/" + name, isReadOnly: true)
      return try database.run("SELECT id FROM taps WHERE outgoing = 1").compactMap { $0.first?.asText }
    } catch {
      return []
    }
  }

  /// The state of the files. It shows if another program has deleted, replaced or overwritten one of them.
  struct Stamp: Hashable {
    /// Devices and inodes; 0 if there is no such file.
    fileprivate var identities: [UInt64] = []
    /// The size and the time of change of the database alone, which SQLite writes only at a checkpoint.
    fileprivate var content: [Int] = []
  }

  /// The files as they are now, after SQLite has written them. `former` is nil if SQLite has just opened them. The new
  /// stamp keeps the former identities, so that the next check notices a replaced file.
  func stamp(after former: Stamp?) -> Stamp {
    var result = stamp()
    guard let former else { return result }
    for index in result.identities.indices where former.identities[index] != 0 {
      result.identities[index] = former.identities[index]
    }
    return result
  }

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

  /// By another program; nil if SQLite can still use the files.
  func change(since stamp: Stamp) -> SQLiteError? {
    let present = self.stamp()
    guard present.identities == stamp.identities else {
      return SQLiteError(
        code: SQLITE_CORRUPT, message: "another program has deleted or replaced it while it was in use")
    }
    return present.content == stamp.content ? nil : damage()
  }

  /// With the files that SQLite keeps beside the database.
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
      return report("the inbox \(path) was deleted while it was in use: its history is lost, and a new one is created")
    }
    report("the inbox \(path) is \(kind) (\(error.message)); it is kept as \(aside), and a new one is created")
  }

  /// Removes files that ``moveAside(because:at:report:)`` renamed before `time`, because they contain tag data. Returns
  /// whether there were any.
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

  /// Removes the database, the files that SQLite keeps beside it, and those that were moved aside. Returns whether
  /// there were any. Throws if one cannot be removed.
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

  /// By the name of a file that was moved aside; nil for other files.
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

  /// The directory without symbolic links. `SQLITE_OPEN_NOFOLLOW` refuses links anywhere in the path, but a linked
  /// `~/.local` is fine: only the file itself must not be a link.
  private func resolvedDirectory() throws(SQLiteError) -> String {
    guard let resolved = realpath(directory, nil) else { throw failure("find \(directory)") }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  private func makeFile() throws(SQLiteError) {
    // Created before SQLite opens it, so that others can never read it. Its -wal and -shm get the same mode.
    let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw failure("open \(path)") }
    defer { close(descriptor) }
    guard fchmod(descriptor, 0o600) == 0 else { throw failure("make \(path) private") }
  }

  private func failure(_ attempt: String) -> SQLiteError {
    SQLiteError(code: SQLITE_CANTOPEN, message: "cannot \(attempt): \(String(cString: strerror(errno)))")
  }
}

/// Held while the inbox's file is open, so that only one process writes it. Otherwise two agents of one user, on two
/// session buses, would each show and hand over the other's taps.
///
/// An `flock` on a file beside the database. The kernel releases it when the process ends.
final class InboxLock: Sendable {
  let descriptor: FileDescriptor

  private init(_ descriptor: FileDescriptor) { self.descriptor = descriptor }

  /// Unlocks explicitly: between `fork` and `exec` a child shares the open file, so closing it here would not release
  /// it.
  deinit { flock(descriptor.rawValue, LOCK_UN) }

  /// Whether this lock still guards `path`. It does not after the file was deleted or replaced.
  func isAt(_ path: String) -> Bool {
    var (own, named) = (stat(), stat())
    return fstat(descriptor.rawValue, &own) == 0 && lstat(path, &named) == 0 && own.st_dev == named.st_dev
      && own.st_ino == named.st_ino
  }

  enum Answer {
    case held(InboxLock)
    case taken
    /// The file system has no locks, or the directory cannot be written.
    case impossible
  }

  /// Does not wait.
  static func ask(_ path: String) -> Answer {
    guard let descriptor = open(path) else { return .impossible }
    guard flock(descriptor.rawValue, LOCK_EX | LOCK_NB) != 0 else { return .held(InboxLock(descriptor)) }
    return errno == EWOULDBLOCK ? .taken : .impossible
  }

  /// On its own thread; nil if locking is impossible.
  static func wait(_ path: String) async -> InboxLock? {
    let lock = try? await DedicatedThread.run { () -> InboxLock? in
      guard let descriptor = open(path) else { return nil }
      while flock(descriptor.rawValue, LOCK_EX) != 0 { if errno != EINTR { return nil } }
      return InboxLock(descriptor)
    }
    return lock ?? nil
  }

  private static func open(_ path: String) -> FileDescriptor? {
    let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { return nil }
    fchmod(descriptor, 0o600)
    return FileDescriptor(owning: descriptor)
  }
}

/// The list of the notifications on the screen, for an agent that keeps no taps. If that agent is killed, the next
/// one closes them.
///
/// One line per notification: the bus, the server, the number. It contains no tag data.
struct ScreenFile {
  /// Beside that of the database, which may not exist.
  let path: String

  /// None if the file cannot be read.
  func read() -> [NotificationPlace] {
    let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return [] }
    let file = FileDescriptor(owning: descriptor)
    var bytes = [UInt8](repeating: 0, count: 65536)
    let count = Glibc.read(file.rawValue, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self).split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ", omittingEmptySubsequences: false)
      guard words.count == 3, let id = UInt32(words[2]) else { return nil }
      return NotificationPlace(bus: String(words[0]), owner: String(words[1]), id: id)
    }
  }

  /// Replaces the list. If that fails, a killed agent leaves its notifications for the user to close.
  func write(_ places: [NotificationPlace]) {
    guard !places.isEmpty else {
      unlink(path)
      return
    }
    let new = path + ".new"
    let descriptor = Glibc.open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { return }
    let file = FileDescriptor(owning: descriptor)
    let bytes = Array(Set(places).map { "\($0.bus) \($0.owner) \($0.id)\n" }.sorted().joined().utf8)
    // Not synchronised: after a crash of the machine, no notification is on the screen.
    guard Glibc.write(file.rawValue, bytes, bytes.count) == bytes.count else {
      unlink(new)
      return
    }
    rename(new, path)
  }
}
