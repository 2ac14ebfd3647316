import Glibc

/// Reading files that others write: it is bounded and waits for nobody.
public enum FileContents {
  /// Why a file was not read.
  public enum Failure: Error, Sendable, Hashable {
    /// It is a directory, a pipe, a device.
    case notAFile
    /// It cannot be opened or read, with the system's words for it.
    case unreadable(String)
  }

  /// The bytes of a file, or its beginning.
  ///
  /// - Parameters:
  ///   - path: the file, or a link to it.
  ///   - maximumSize: in bytes.
  /// - Returns: all bytes, or one more than `maximumSize` of a file that is larger than that; nil where there is no such file.
  /// - Throws: `Failure` where it is no file, or cannot be read.
  public static func read(_ path: String, upTo maximumSize: Int) throws(Failure) -> [UInt8]? {
    // Opening alone can do something: it lets the writer of a named pipe go on, and rewinds a tape.
    var before = stat()
    if stat(path, &before) == 0, before.st_mode & S_IFMT != S_IFREG { throw .notAFile }
    // It may have become something else since: without O_NONBLOCK opening a named pipe would wait for its writer.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw unreadable()
    }
    defer { close(descriptor) }
    var information = stat()
    guard fstat(descriptor, &information) == 0, information.st_mode & S_IFMT == S_IFREG else { throw .notAFile }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16384)
    while bytes.count <= maximumSize {
      let count = Glibc.read(descriptor, &buffer, min(buffer.count, maximumSize + 1 - bytes.count))
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw unreadable() }
      guard count > 0 else { break }
      bytes += buffer[..<count]
    }
    return bytes
  }

  private static func unreadable() -> Failure { .unreadable(String(cString: strerror(errno))) }
}
