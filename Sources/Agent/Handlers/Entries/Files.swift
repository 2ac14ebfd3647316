import Glibc
import Settings

/// Reads files that other programs write. Each call reads a bounded amount, and does not wait for a pipe or a device.
enum Files {
  /// Also true of a link to one.
  static func isDirectory(_ path: String) -> Bool { identity(ofDirectory: path) != nil }

  /// The same for every path that leads to the directory.
  struct Identity: Hashable {
    let device: dev_t
    let number: ino_t
  }

  /// Follows links. Nil if the path is not a directory.
  static func identity(ofDirectory path: String) -> Identity? {
    var information = stat()
    guard stat(path, &information) == 0, information.st_mode & S_IFMT == S_IFDIR else { return nil }
    return Identity(device: information.st_dev, number: information.st_ino)
  }

  /// `path` without links; `path` itself if it does not exist.
  static func resolved(_ path: String) -> String {
    guard let resolved = realpath(path, nil) else { return path }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  /// The bytes of a file of at most `maximumSize` bytes, or of the file that a link leads to. Nil if there is no such
  /// file: it may have gone since its directory was read.
  ///
  /// `size` grows by the number of bytes that were read, also if this throws. Throws if the file cannot be read or is
  /// larger (`tooLarge` is that error's message), or if the path is not a file.
  static func contents(
    of path: String, size: inout Int, maximumSize: Int = KeyFile.maximumSize,
    tooLarge: String = "is larger than 1 MiB, which no desktop entry is; remove it"
  ) throws(HandlerProblem) -> [UInt8]? {
    do throws(FileContents.Failure) {
      let bytes = try FileContents.read(path, upTo: maximumSize)
      size += bytes?.count ?? 0
      guard let bytes, bytes.count > maximumSize else { return bytes }
    } catch {
      switch error {
      case .notAFile: throw HandlerProblem(file: path, message: "is not a file; remove it")
      case .unreadable(let message): throw HandlerProblem(file: path, message: "cannot be read: \(message)")
      }
    }
    throw HandlerProblem(file: path, message: tooLarge)
  }

  /// For callers that do not add up sizes.
  static func contents(of path: String) throws(HandlerProblem) -> [UInt8]? {
    var size = 0
    return try contents(of: path, size: &size)
  }

  /// Whether `bytes` contains one of `words` before the first zero byte.
  static func mentions(_ bytes: [UInt8], anyOf words: [String]) -> Bool {
    (bytes + [0]).withUnsafeBytes { buffer in
      guard let text = buffer.assumingMemoryBound(to: CChar.self).baseAddress else { return false }
      return words.contains { strstr(text, $0) != nil }
    }
  }
}

package struct FileOwnership: Sendable {
  /// Whether only root can change the file at a path, or replace it by another.
  let isRootsAlone: @Sendable (_ path: String) -> Bool

  /// Blocks on files.
  package static let real = FileOwnership { path in
    var walk = Walk(user: nil)
    return walk.follow(path)
  }

  /// Whether only root and this process's user can change the file at a path, or replace it by another. Blocks on files.
  static func isUsersAlone(_ path: String) -> Bool {
    var walk = Walk(user: getuid())
    return walk.follow(path)
  }

  /// A walk from the root directory to a file, link by link. Each directory on the way decides which file is found
  /// next.
  private struct Walk {
    /// A user whose files are as good as root's.
    let user: uid_t?
    private var directory = ""
    private var links = 0
    private static let maximumLinks = 40

    init(user: uid_t?) { self.user = user }

    /// Follows `path`, which is absolute or relative to the current directory of the walk. Returns false if another
    /// user can change a part of the way, or if the path does not exist.
    mutating func follow(_ path: String) -> Bool {
      if path.hasPrefix("/") {
        directory = ""
        guard isTrusted("/") else { return false }
      }
      for name in path.split(separator: "/") where name != "." {
        if name == ".." {
          directory = String(directory[..<(directory.lastIndex(of: "/") ?? directory.startIndex)])
          continue
        }
        let next = "\(directory)/\(name)"
        guard isTrusted(next) else { return false }
        guard let target = Self.target(ofLink: next) else {
          directory = next
          continue
        }
        links += 1
        guard links <= Self.maximumLinks, follow(target) else { return false }
      }
      return true
    }

    /// Whether the file belongs to root, or to `user`, and other users cannot write to it.
    ///
    /// Group members may write to it, unless this user is one of them: root has put them into the group to install
    /// programs (Debian's `staff` for /usr/local). In a directory with the sticky bit, only root can replace root's
    /// files.
    private func isTrusted(_ path: String) -> Bool {
      var information = stat()
      guard lstat(path, &information) == 0, [0, user].contains(information.st_uid) else { return false }
      if information.st_mode & S_IFMT == S_IFLNK { return true }
      if information.st_mode & S_IFMT == S_IFDIR, information.st_mode & S_ISVTX != 0 { return true }
      guard information.st_mode & S_IWOTH == 0 else { return false }
      // For root itself, access(2) would report that every file is writable.
      return information.st_uid == user || getuid() == 0 || access(path, W_OK) != 0
    }

    private static func target(ofLink path: String) -> String? {
      var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
      let count = readlink(path, &buffer, buffer.count)
      return count > 0 ? String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self) : nil
    }
  }
}
