import EventLoop
import Glibc
import Names

/// The switch of background scanning, kept in a file over a restart.
///
/// The file holds `yes` or `no`; without it scanning is on. Where it cannot be read or holds anything else, somebody may
/// have switched scanning off, so it stays off. A file of a few bytes in a local directory: reading it is no wait to speak of, at
/// the start. Storing it waits for the disk.
struct MasterSwitch: Sendable {
  private let directory: String

  /// - Parameter directory: where the file is.
  init(directory: String) { self.directory = directory }

  /// The directory that systemd gives (`STATE_DIRECTORY`, the first of a list), or the standard one.
  static func standard() -> MasterSwitch {
    let given = getenv("STATE_DIRECTORY").flatMap { String(cString: $0).split(separator: ":").first.map(String.init) }
    return MasterSwitch(directory: given ?? Names.Files.daemonState)
  }

  private var path: String { "\(directory)/enabled" }

  /// What was stored last.
  struct Stored: Hashable, Sendable {
    var isEnabled: Bool
    /// What is wrong with the file, and what to do, for the log.
    var problem: String?
  }

  /// Reads what was stored last.
  func load() -> Stored {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else {
      let error = SystemError("read \(path)")
      return [ENOENT, ENOTDIR].contains(error.number) ? Stored(isEnabled: true) : off("\(error)")
    }
    let file = FileDescriptor(owning: descriptor)
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = read(file.rawValue, &bytes, bytes.count)
    guard count >= 0 else { return off("\(SystemError("read \(path)"))") }
    switch String(decoding: bytes.prefix(count), as: UTF8.self) {
    case "yes\n", "yes": return Stored(isEnabled: true)
    case "no\n", "no": return Stored(isEnabled: false)
    default: return off("\(path) holds neither yes nor no")
    }
  }

  private func off(_ problem: String) -> Stored {
    let remedy = "scanning stays off until it is switched on, or the file is removed and tagrouted started again"
    return Stored(isEnabled: false, problem: "\(problem): \(remedy)")
  }

  /// Stores the switch; either the old or the new value is there afterwards, whatever happens.
  func store(_ isEnabled: Bool) throws(SystemError) {
    _ = mkdir(directory, 0o755)
    let temporary = "\(path).new"
    try write(isEnabled ? "yes\n" : "no\n", to: temporary)
    guard rename(temporary, path) == 0 else { throw SystemError("rename \(temporary) to \(path)") }
    // The new name is in the directory, which has to reach the disk as well.
    let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw SystemError("open \(directory)") }
    let parent = FileDescriptor(owning: descriptor)
    guard fsync(parent.rawValue) == 0 else { throw SystemError("flush \(directory)") }
  }

  private func write(_ text: String, to path: String) throws(SystemError) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o644)
    guard descriptor >= 0 else { throw SystemError("write \(path)") }
    let file = FileDescriptor(owning: descriptor)
    let bytes = Array(text.utf8)
    guard Glibc.write(file.rawValue, bytes, bytes.count) == bytes.count else { throw SystemError("write \(path)") }
    // Before the rename: else a power failure may leave the new name with nothing in it.
    guard fsync(file.rawValue) == 0 else { throw SystemError("flush \(path)") }
  }
}
