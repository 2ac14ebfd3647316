import Glibc

/// Reads files and directories that other programs write. The amount is bounded, and a pipe or a device in place of a
/// file does not block. A file system that does not respond does block, so do not call this on a loop.
public enum FileContents {
  /// Why a file was not read.
  public enum Failure: Error, Sendable, Hashable {
    /// It is a directory, a pipe or a device.
    case notAFile
    /// It cannot be opened or read. The text is the system's description of the error.
    case unreadable(String)
  }

  /// The bytes of a file, or of a link's target; `maximumSize` + 1 bytes if the file is larger; nil if it does not
  /// exist. Throws if it is not a regular file or cannot be read.
  public static func read(_ path: String, upTo maximumSize: Int) throws(Failure) -> [UInt8]? {
    // Opening alone can have an effect: it lets the writer of a named pipe continue, and rewinds a tape.
    var before = stat()
    if stat(path, &before) == 0, before.st_mode & S_IFMT != S_IFREG { throw .notAFile }
    // The path may have been replaced since. Without O_NONBLOCK, opening a named pipe would wait for its writer.
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

  /// The names in a directory, or in a link's target, unordered. Names that begin with a dot, or are not UTF-8, are
  /// left out. Any `maximum` + 1 of them if there are more; nil if it is not a directory or cannot be read.
  public static func names(inDirectory path: String, atMost maximum: Int) -> [String]? {
    guard let directory = opendir(path) else { return nil }
    defer { closedir(directory) }
    var names: [String] = []
    while names.count <= maximum, let entry = readdir(directory) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if let name, !name.hasPrefix(".") { names.append(name) }
    }
    return names
  }

  private static func unreadable() -> Failure { .unreadable(String(cString: strerror(errno))) }
}
