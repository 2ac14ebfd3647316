import Glibc

/// Reads files and directories that other programs write. The amount is bounded, and a pipe or a device in place of a
/// file does not block. A file system that does not respond does block, so do not call this on a loop.
package enum FileContents {
  package enum Failure: Error, Sendable, Hashable {
    /// It is a directory, a pipe or a device.
    case notAFile
    /// The text is the system's description of the error.
    case unreadable(String)
  }

  /// Who can change a file that was read.
  package struct Attributes: Sendable, Hashable {
    package let owner: UInt32
    /// By its group or by all users.
    package let isWritableByOthers: Bool
    /// By its group or by all users.
    package let isReadableByOthers: Bool

    init(_ information: stat) {
      owner = information.st_uid
      isWritableByOthers = information.st_mode & (S_IWGRP | S_IWOTH) != 0
      isReadableByOthers = information.st_mode & (S_IRGRP | S_IROTH) != 0
    }
  }

  /// Follows links. `maximumSize` + 1 bytes if the file is larger; nil if it does not exist. Throws if it is not a
  /// regular file or cannot be read.
  package static func read(_ path: String, upTo maximumSize: Int) throws(Failure) -> [UInt8]? {
    try readWithAttributes(path, upTo: maximumSize)?.bytes
  }

  /// The same as ``read(_:upTo:)``, with the attributes of the file that was opened: after a change of the path they
  /// are still those of the bytes. Without `followingLinks`, a link is unreadable.
  package static func readWithAttributes(
    _ path: String, upTo maximumSize: Int, followingLinks: Bool = true
  ) throws(Failure) -> (bytes: [UInt8], attributes: Attributes)? {
    // Opening alone can have an effect: it lets the writer of a named pipe continue, and rewinds a tape.
    var before = stat()
    if stat(path, &before) == 0, before.st_mode & S_IFMT != S_IFREG { throw .notAFile }
    // The path may have been replaced since. Without O_NONBLOCK, opening a named pipe would wait for its writer.
    let linkFlag = followingLinks ? 0 : O_NOFOLLOW
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | linkFlag)
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
    return (bytes, Attributes(information))
  }

  /// Unordered. Names that begin with a dot, or are not UTF-8, are left out. Any `maximum` + 1 of them if there are
  /// more; nil if it is not a directory, or a link to one, or cannot be read.
  package static func names(inDirectory path: String, atMost maximum: Int) -> [String]? {
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

  /// The system's description of why its names cannot be read. Nil if they can, or if nothing has this path.
  package static func obstacle(toReadingDirectory path: String) -> String? {
    guard let directory = opendir(path) else { return errno == ENOENT ? nil : String(cString: strerror(errno)) }
    closedir(directory)
    return nil
  }

  /// Who can add and remove names in it. Follows links. Nil if it is not a directory.
  package static func attributes(ofDirectory path: String) -> Attributes? {
    var information = stat()
    guard stat(path, &information) == 0, information.st_mode & S_IFMT == S_IFDIR else { return nil }
    return Attributes(information)
  }

  private static func unreadable() -> Failure { .unreadable(String(cString: strerror(errno))) }
}
