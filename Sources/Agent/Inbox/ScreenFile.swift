import EventLoop
import Glibc
import Names

/// The list of the notifications on the screen, for an agent that keeps no taps. If that agent is killed, the next
/// one closes them.
///
/// One line per notification: the bus, the server, the number. It contains no tag data.
struct ScreenFile {
  /// The path, beside that of the database, which may not exist.
  let path: String

  /// The notifications; none if the file cannot be read.
  func read() -> [NotificationPlace] {
    let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return [] }
    let file = FileDescriptor(owning: descriptor)
    var bytes = [UInt8](repeating: 0, count: 65536)
    let count = Glibc.read(file.rawValue, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self).split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ", omittingEmptySubsequences: false)
      guard words.count == 3, let id = UInt32(words[2]) else { return nil }
      return NotificationPlace(bus: String(words[0]), owner: String(words[1]), id: id)
    }
  }

  /// Replaces the list. If that fails, a killed agent leaves its notifications for the user to close.
  func write(_ places: [NotificationPlace]) {
    guard !places.isEmpty else {
      unlink(path)
      return
    }
    let new = path + ".new"
    let descriptor = Glibc.open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { return }
    let file = FileDescriptor(owning: descriptor)
    let bytes = Array(Set(places).map { "\($0.bus) \($0.owner) \($0.id)\n" }.sorted().joined().utf8)
    // Not synchronised: after a crash of the machine, no notification is on the screen.
    guard Glibc.write(file.rawValue, bytes, bytes.count) == bytes.count else {
      unlink(new)
      return
    }
    rename(new, path)
  }
}
