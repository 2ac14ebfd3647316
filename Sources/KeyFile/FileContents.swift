import Glibc

/// Reading files and directories that others write: bounded, and not kept waiting by a pipe or a device in the place of a file. A file
/// system that does not answer does keep it waiting, so none of this belongs on a loop.
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

  /// The names in a directory, in no order; not those that begin with a dot, nor any that is not UTF-8.
  ///
  /// - Parameters:
  ///   - path: the directory, or a link to it.
  ///   - maximum: how many names are wanted at most.
  /// - Returns: all names, or one more than `maximum`, whichever come first, of a directory that has more than that; nil where it
  ///   is none, or cannot be read.
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
