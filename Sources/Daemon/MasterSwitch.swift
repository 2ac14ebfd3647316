import EventLoop
import Glibc
import Names

/// The switch of background scanning, kept in a file over a restart.
///
/// The file holds `yes` or `no`; without it, or where it holds anything else, scanning is on. A file of a few bytes in a
/// local directory: reading and writing it is no wait to speak of.
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
  func load() -> Bool {
    guard let file = fopen(path, "re") else { return true }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    while bytes.count < 16, case let byte = fgetc(file), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
    return !String(decoding: bytes, as: UTF8.self).hasPrefix("no")
  }

  /// Stores the switch; either the old or the new value is there afterwards, whatever happens.
  func store(_ isEnabled: Bool) throws(SystemError) {
    _ = mkdir(directory, 0o755)
    let temporary = "\(path).new"
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o644)
    guard descriptor >= 0 else { throw SystemError("write \(temporary)") }
    let file = FileDescriptor(owning: descriptor)
    let text = Array((isEnabled ? "yes\n" : "no\n").utf8)
    guard write(file.rawValue, text, text.count) == text.count else { throw SystemError("write \(temporary)") }
    guard rename(temporary, path) == 0 else { throw SystemError("rename \(temporary) to \(path)") }
  }
}
