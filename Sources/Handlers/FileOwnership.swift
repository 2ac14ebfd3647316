import Glibc

/// Who can change what a path leads to.
public struct FileOwnership: Sendable {
  /// Whether nobody but root can change what is at a path, or have something else be there.
  let isRootsAlone: @Sendable (_ path: String) -> Bool

  /// As the file system says. Blocks on files.
  public static let real = FileOwnership { path in
    var walk = Walk()
    return walk.follow(path)
  }

  /// The way from the root directory to a file, link by link: each directory on it says what is found next.
  private struct Walk {
    private var directory = ""
    private var links = 0
    private static let maximumLinks = 40

    /// Follows `path`, which is absolute or relative to where the walk stands.
    ///
    /// - Returns: false where somebody else can change a part of the way, or where there is none.
    mutating func follow(_ path: String) -> Bool {
      if path.hasPrefix("/") {
        directory = ""
        guard isRoots("/") else { return false }
      }
      for name in path.split(separator: "/") where name != "." {
        if name == ".." {
          directory = String(directory[..<(directory.lastIndex(of: "/") ?? directory.startIndex)])
          continue
        }
        let next = "\(directory)/\(name)"
        guard isRoots(next) else { return false }
        guard let target = Self.target(ofLink: next) else {
          directory = next
          continue
        }
        links += 1
        guard links <= Self.maximumLinks, follow(target) else { return false }
      }
      return true
    }

    /// Whether it belongs to root, and nobody else has a right to write to it.
    ///
    /// A group may: whom root has put into it (Debian's `staff` for /usr/local) is meant to install programs, unless that is this
    /// user. In a directory with the sticky bit nobody can put anything in the place of what is root's.
    private func isRoots(_ path: String) -> Bool {
      var information = stat()
      guard lstat(path, &information) == 0, information.st_uid == 0 else { return false }
      if information.st_mode & S_IFMT == S_IFLNK { return true }
      if information.st_mode & S_IFMT == S_IFDIR, information.st_mode & S_ISVTX != 0 { return true }
      guard information.st_mode & S_IWOTH == 0 else { return false }
      // Of root itself, the answer would be that it may write everywhere.
      return getuid() == 0 || access(path, W_OK) != 0
    }

    private static func target(ofLink path: String) -> String? {
      var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
      let count = readlink(path, &buffer, buffer.count)
      return count > 0 ? String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self) : nil
    }
  }
}
