import Glibc

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
