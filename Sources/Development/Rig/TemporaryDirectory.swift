import EventLoop
import Glibc

/// A directory for one test, mode 0700. It is removed with all its contents when the last reference is released.
package final class TemporaryDirectory: Sendable {
  /// The absolute path, without a trailing slash.
  package let path: String

  /// Creates it in `$TMPDIR`, or in `/tmp`.
  package init() throws {
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
    for name in fileNames(in: path) ?? [] where unlink("\(path)/\(name)") != 0 && errno == EISDIR {
      removeTree("\(path)/\(name)")
    }
    rmdir(path)
  }

  package func file(_ name: String) -> String { "\(path)/\(name)" }

  /// Creates missing folders. Returns the absolute path.
  @discardableResult package func write(_ text: String, to name: String, mode: UInt32 = 0o644) throws -> String {
    try write(Array(text.utf8), to: name, mode: mode)
  }

  /// Creates missing folders. Returns the absolute path.
  @discardableResult package func write(_ bytes: [UInt8], to name: String, mode: UInt32 = 0o644) throws -> String {
    var folder = path
    for component in name.split(separator: "/").dropLast() {
      folder += "/\(component)"
      mkdir(folder, 0o755)
    }
    let target = file(name)
    let descriptor = open(target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
    guard descriptor >= 0 else { throw RigError("cannot write \(target): \(String(cString: strerror(errno)))") }
    fchmod(descriptor, mode)
    try FileDescriptor(owning: descriptor).write(bytes)
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
package struct RigError: Error, CustomStringConvertible {
  /// What happened, without logs.
  package let message: String
  /// The last lines of the process that failed; empty if no process did.
  package let log: [String]

  package var description: String {
    log.isEmpty ? message : "\(message); its log:\n" + log.map { "  \($0)\n" }.joined()
  }

  package init(_ message: String, log: [String] = []) { (self.message, self.log) = (message, log) }
}

package func readFile(_ path: String) throws -> [UInt8] {
  let descriptor = open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { throw RigError("cannot read \(path): \(String(cString: strerror(errno)))") }
  return try FileDescriptor(owning: descriptor).readAll()
}

/// Nil if the folder cannot be read.
package func fileNames(in folder: String) -> [String]? {
  guard let stream = opendir(folder) else { return nil }
  defer { closedir(stream) }
  var names: [String] = []
  while let entry = readdir(stream) {
    let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
      pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
    }
    if name != ".", name != ".." { names.append(name) }
  }
  return names
}
