import EventLoop
import Glibc
import Settings

/// The directory of ``RecordFiles``. Every function blocks on files.
struct RecordDirectory {
  /// Nil without `XDG_RUNTIME_DIR`.
  let path: String?

  /// `$XDG_RUNTIME_DIR/tagroute`.
  init(environment: [String: String]) {
    path = environment["XDG_RUNTIME_DIR"].flatMap { $0.hasPrefix("/") ? "\($0)/tagroute" : nil }
  }

  private static let prefix = "tag-"
  /// The names that one clean-up examines.
  private static let maximumNames = 1000

  /// Writes a new file with mode 0600 and returns its path.
  func write(_ bytes: [UInt8], extension suffix: String?) throws(SystemError) -> String {
    let (directory, path) = try open()
    let number = UInt64.random(in: .min ... .max)
    let digits = String(number, radix: 16)
    let name = Self.prefix + String(repeating: "0", count: 16 - digits.count) + digits + (suffix.map { ".\($0)" } ?? "")
    let file = openat(directory.rawValue, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw SystemError("write a file in \(path)") }
    let descriptor = FileDescriptor(owning: file)
    do throws(SystemError) {
      guard fchmod(descriptor.rawValue, 0o600) == 0 else { throw SystemError("write a file in \(path)") }
      try Self.write(bytes, to: descriptor, path)
    } catch {
      unlinkat(directory.rawValue, name, 0)
      throw error
    }
    return "\(path)/\(name)"
  }

  private static func write(_ bytes: [UInt8], to file: FileDescriptor, _ path: String) throws(SystemError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(file.rawValue, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw SystemError("write a file in \(path)") }
      rest = rest.dropFirst(count)
    }
  }

  /// Removes files that nobody has removed in time, because their process was killed.
  func removeFiles(olderThan lifetime: Duration) throws(SystemError) {
    let (directory, path) = try open()
    guard let names = FileContents.names(inDirectory: path, atMost: Self.maximumNames) else { return }
    let limit = time(nil) - Int(lifetime.components.seconds)
    for name in names where name.hasPrefix(Self.prefix) {
      var information = stat()
      guard fstatat(directory.rawValue, name, &information, AT_SYMLINK_NOFOLLOW) == 0,
        information.st_mode & S_IFMT == S_IFREG, information.st_mtim.tv_sec < limit
      else { continue }
      unlinkat(directory.rawValue, name, 0)
    }
  }

  /// The directory, which belongs to the user and is closed to others. Makes it if it is missing.
  private func open() throws(SystemError) -> (FileDescriptor, path: String) {
    guard let path else { throw SystemError("find XDG_RUNTIME_DIR, which is not set", errno: ENOENT) }
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw SystemError("make \(path)") }
    let number = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard number >= 0 else { throw SystemError("open \(path)") }
    let directory = FileDescriptor(owning: number)
    var information = stat()
    guard fstat(number, &information) == 0 else { throw SystemError("examine \(path)") }
    guard information.st_uid == geteuid() else { throw SystemError("use \(path) of another user", errno: EPERM) }
    guard information.st_mode & 0o077 == 0 || fchmod(number, 0o700) == 0 else { throw SystemError("close \(path)") }
    return (directory, path)
  }
}
