import Glibc

/// A directory for one test, mode 0700. It is removed with all its contents when the last reference is released.
public final class TemporaryDirectory: Sendable {
  /// The absolute path, without a trailing slash.
  public let path: String

  /// - Throws: `RigError` if `/tmp` (or `$TMPDIR`) is not writable.
  public init() throws {
    let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(parent)/tagroute-test.XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw RigError("cannot make a temporary directory below \(parent): \(String(cString: strerror(errno)))")
    }
    path = template.withUnsafeBufferPointer { buffer in
      String(decoding: buffer.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
  }

  deinit { TemporaryDirectory.removeTree(path) }

  private static func removeTree(_ path: String) {
    if let folder = opendir(path) {
      defer { closedir(folder) }
      while let entry = readdir(folder) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
          pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        guard name != "." && name != ".." else { continue }
        if entry.pointee.d_type == UInt8(DT_DIR) { removeTree("\(path)/\(name)") } else { unlink("\(path)/\(name)") }
      }
    }
    rmdir(path)
  }

  /// The path of `name` in the directory.
  public func file(_ name: String) -> String { "\(path)/\(name)" }

  /// Writes `text` to the file `name`, creating missing folders.
  ///
  /// - Parameters:
  ///   - text: the whole content.
  ///   - name: a path relative to the directory.
  ///   - mode: the file's permissions.
  /// - Returns: the absolute path.
  /// - Throws: `RigError` if the file cannot be written.
  @discardableResult
  public func write(_ text: String, to name: String, mode: UInt32 = 0o644) throws -> String {
    try write(Array(text.utf8), to: name, mode: mode)
  }

  /// Writes `bytes` to the file `name`, creating missing folders.
  ///
  /// - Parameters:
  ///   - bytes: the whole content.
  ///   - name: a path relative to the directory.
  ///   - mode: the file's permissions.
  /// - Returns: the absolute path.
  /// - Throws: `RigError` if the file cannot be written.
  @discardableResult
  public func write(_ bytes: [UInt8], to name: String, mode: UInt32 = 0o644) throws -> String {
    var folder = path
    for component in name.split(separator: "/").dropLast() {
      folder += "/\(component)"
      mkdir(folder, 0o755)
    }
    let target = file(name)
    let descriptor = open(target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
    guard descriptor >= 0 else { throw RigError("cannot write \(target): \(String(cString: strerror(errno)))") }
    do {
      defer { close(descriptor) }
      fchmod(descriptor, mode)
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else { throw RigError("cannot write \(target): \(String(cString: strerror(errno)))") }
        rest = rest.dropFirst(count)
      }
    }
    if mode & 0o111 != 0 { try TemporaryDirectory.waitUntilStartable(target) }
    return target
  }

  /// Waits until no process has the file open for writing. A file that is open for writing cannot be started (ETXTBSY).
  /// A child that another test is just starting inherits the open file until it executes its program. The kernel grants
  /// a lease for reading only if no process has the file open for writing (fcntl(2)).
  private static func waitUntilStartable(_ path: String) throws {
    let setLease: Int32 = 1024
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw RigError("cannot read \(path): \(String(cString: strerror(errno)))") }
    defer { close(descriptor) }
    let end = ContinuousClock.now + .seconds(60)
    while fcntl(descriptor, setLease, Int32(F_RDLCK)) != 0 {
      // Not every file system supports leases.
      guard errno == EAGAIN else { return }
      guard ContinuousClock.now < end else { throw RigError("\(path) stays open for writing in a child of a test") }
      sched_yield()
    }
    _ = fcntl(descriptor, setLease, Int32(F_UNLCK))
  }
}

/// An error of the test rig, with the logs that explain it.
public struct RigError: Error, CustomStringConvertible {
  /// The message.
  public let description: String

  /// - Parameter description: the message.
  public init(_ description: String) { self.description = description }
}

/// Reads a whole file.
///
/// - Parameter path: the file.
/// - Returns: its bytes.
/// - Throws: `RigError` if it cannot be read.
public func readFile(_ path: String) throws -> [UInt8] {
  let descriptor = open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { throw RigError("cannot read \(path): \(String(cString: strerror(errno)))") }
  defer { close(descriptor) }
  var bytes: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 65536)
  while true {
    let count = read(descriptor, &buffer, buffer.count)
    guard count >= 0 else { throw RigError("cannot read \(path): \(String(cString: strerror(errno)))") }
    guard count > 0 else { return bytes }
    bytes += buffer[..<count]
  }
}
