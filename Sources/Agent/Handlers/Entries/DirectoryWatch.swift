import EventLoop
import Glibc

final class DirectoryWatch: Sendable {
  /// An inotify event for a directory.
  typealias Event = FileWatch.Event

  struct Watched: Sendable, Hashable {
    /// The number in the events of this watch.
    let number: Int32
    /// Nil if the directory itself is watched. Otherwise a directory above it is watched, and this is the name in it
    /// that would appear first.
    let missing: String?
  }

  private let loop: EventLoop
  private let files: FileWatch

  /// Runs `changed` on the loop. Throws if the system has no inotify instance left.
  init(on loop: EventLoop, changed: @escaping @Sendable ([Event]) -> Void) throws(SystemError) {
    self.loop = loop
    files = try FileWatch(on: loop, changed: changed)
  }

  /// Watches a directory. If it does not exist, watches the nearest directory above it, in which it would appear.
  /// Watching a directory twice is harmless. Must not run on the loop: it blocks until the file system answers,
  /// possibly forever. Returns nil if neither can be watched.
  func add(_ directory: String) -> Watched? {
    assert(loop.isIsolatingCurrentContext() != true, "a file system must not hold up the loop")
    var path = directory[...]
    var missing: String?
    let events = UInt32(
      IN_CREATE | IN_CLOSE_WRITE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ATTRIB)
    while true {
      do throws(SystemError) {
        let number = try files.add(path.isEmpty ? "/" : String(path), events | UInt32(IN_ONLYDIR))
        return Watched(number: number, missing: missing)
      } catch {
        guard error.number == ENOENT, let slash = path.lastIndex(of: "/") else { return nil }
        missing = String(path[slash...].dropFirst())
        path = path[..<slash]
      }
    }
  }

  func remove(_ number: Int32) { files.remove(number) }
}

extension FileWatch.Event {
  /// Events were lost.
  static let lost = FileWatch.Event(number: -1, mask: UInt32(IN_Q_OVERFLOW), name: "")

  /// Whether the watched directory itself is gone, or events were lost.
  var isOfDirectory: Bool { mask & UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_Q_OVERFLOW) != 0 }

  /// Whether desktop entries may have changed. Subdirectories always matter; of the files, only a few do. Every
  /// installation ends with `mimeinfo.cache`. It is needed for Flatpak: exported entries are links, and an update
  /// changes only their targets.
  var isOfEntries: Bool {
    isOfDirectory || mask & UInt32(IN_ISDIR) != 0
      || name.hasSuffix(".desktop") || name.hasSuffix("mimeapps.list") || name == "mimeinfo.cache"
  }
}
