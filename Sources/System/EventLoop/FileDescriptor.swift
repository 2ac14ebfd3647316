import Glibc

/// An open file descriptor with one owner. It is closed when the last reference is released.
public final class FileDescriptor: Sendable, Hashable {
  /// The number, valid while this object exists.
  public let rawValue: Int32

  /// Takes ownership: no other code may close `descriptor` after this call.
  public init(owning descriptor: Int32) {
    rawValue = descriptor
  }

  /// A second descriptor for the same open file, close-on-exec.
  ///
  /// - Throws: `SystemError` if the process has no descriptor left.
  public func duplicate() throws(SystemError) -> FileDescriptor {
    let copy = fcntl(rawValue, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else { throw SystemError("duplicate a file descriptor") }
    return FileDescriptor(owning: copy)
  }

  /// The two ends of a connection, close-on-exec. Without `keepsMessages` it is a stream of bytes.
  package static func socketPair(
    keepsMessages: Bool = false
  ) throws(SystemError) -> (FileDescriptor, FileDescriptor) {
    var ends: [Int32] = [-1, -1]
    let kind = Int32((keepsMessages ? SOCK_SEQPACKET : SOCK_STREAM).rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw SystemError("make a pair of sockets") }
    return (FileDescriptor(owning: ends[0]), FileDescriptor(owning: ends[1]))
  }

  /// Reads from the current position to the end.
  ///
  /// - Parameter limit: the most bytes to read; the rest stays unread.
  /// - Returns: the bytes.
  /// - Throws: `SystemError`.
  public func readAll(atMost limit: Int = .max) throws(SystemError) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while bytes.count < limit {
      let count = Glibc.read(rawValue, &buffer, min(buffer.count, limit - bytes.count))
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw SystemError("read a file") }
      if count == 0 { break }
      bytes += buffer[..<count]
    }
    return bytes
  }

  deinit {
    close(rawValue)
  }

  /// Compares the numbers.
  public static func == (a: FileDescriptor, b: FileDescriptor) -> Bool { a.rawValue == b.rawValue }

  /// Hashes the number.
  public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}

/// A failed system call: the attempted action and the reason.
public struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The attempted action, as the end of "cannot …".
  public let attempt: String
  /// The `errno` value.
  public let number: Int32

  /// - Parameters:
  ///   - attempt: the attempted action, as the end of "cannot …".
  ///   - number: the `errno` value.
  public init(_ attempt: String, errno number: Int32) {
    self.attempt = attempt
    self.number = number
  }

  /// Describes the system call that has just failed, with the current `errno`.
  ///
  /// - Parameter attempt: the attempted action, as the end of "cannot …".
  public init(_ attempt: String) {
    self.init(attempt, errno: errno)
  }

  /// "cannot", the attempted action, and the system's text for the error.
  public var description: String { "cannot \(attempt): \(String(cString: strerror(number)))" }
}

extension FileDescriptor {
  /// Writes all bytes.
  ///
  /// - Parameter bytes: the bytes, written at the current position.
  /// - Throws: `SystemError`. Some of the bytes may have been written.
  public func write(_ bytes: [UInt8]) throws(SystemError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(rawValue, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { throw SystemError("write a file") }
      rest = rest.dropFirst(count)
    }
  }

  /// Replaces a file as a whole. Afterwards the path has either the old or the new contents, also after a power failure.
  ///
  /// - Parameters:
  ///   - path: the file. Its directory must exist. A symbolic link is replaced, not followed.
  ///   - bytes: the new contents.
  ///   - mode: the permissions of the new file.
  /// - Throws: `SystemError`. The old file is then unchanged.
  public static func replace(_ path: String, with bytes: [UInt8], mode: UInt32 = 0o600) throws(SystemError) {
    let directory = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    // The temporary name does not contain the file's name, which may be as long as a name can be.
    var template = Array("\(directory)/.new-XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    guard descriptor >= 0 else { throw SystemError("make a file in \(directory)") }
    let file = FileDescriptor(owning: descriptor)
    let temporary = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    do throws(SystemError) {
      try file.write(bytes)
      // Without fsync, a power failure could leave the new name without contents.
      guard fchmod(descriptor, mode) == 0, fsync(descriptor) == 0, rename(temporary, path) == 0 else {
        throw SystemError("write \(path)")
      }
    } catch {
      unlink(temporary)
      throw error
    }
    // The new name has to reach the disk as well. The file is replaced even on a file system that cannot flush a
    // directory.
    let parent = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard parent >= 0 else { return }
    fsync(FileDescriptor(owning: parent).rawValue)
  }
}
