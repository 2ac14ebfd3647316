import EventLoop
import Glibc
import Names

/// The switch of background scanning. A file keeps it over a restart.
///
/// The file contains `yes` or `no`; without the file scanning is on. If the file cannot be read or has another content,
/// scanning stays off, because it may have been switched off. Storing waits for the disk.
struct MasterSwitch: Sendable {
  private let directory: String

  init(directory: String) { self.directory = directory }

  /// In the first directory of systemd's `STATE_DIRECTORY`, or in the standard directory.
  static func standard() -> MasterSwitch {
    let given = getenv("STATE_DIRECTORY").flatMap { String(cString: $0).split(separator: ":").first.map(String.init) }
    return MasterSwitch(directory: given ?? Names.Files.daemonState)
  }

  private var path: String { "\(directory)/enabled" }

  struct Stored: Hashable, Sendable {
    var isEnabled: Bool
    /// The problem and its remedy, for the log; nil if there is none.
    var problem: String?
  }

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
    default: return off("\(path) contains neither yes nor no")
    }
  }

  private func off(_ problem: String) -> Stored {
    let remedy = "scanning stays off until you run `tagroute on`, or remove the file and restart tagrouted"
    return Stored(isEnabled: false, problem: "\(problem): \(remedy)")
  }

  /// After a failure the file has the old value.
  func store(_ isEnabled: Bool) throws(SystemError) {
    _ = mkdir(directory, 0o755)
    try FileDescriptor.replace(path, with: Array((isEnabled ? "yes\n" : "no\n").utf8), mode: 0o644)
  }
}
