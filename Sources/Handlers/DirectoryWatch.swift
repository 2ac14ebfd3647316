import EventLoop
import Glibc

/// Says that something changed in one of a few directories.
final class DirectoryWatch: Sendable {
  /// What the system says of a directory.
  typealias Event = FileWatch.Event

  /// What came of watching a directory.
  struct Watched: Sendable, Hashable {
    /// Tells its events.
    let number: Int32
    /// Nil where it is the directory itself; else the name in the directory that is watched under which the way to it would appear.
    let missing: String?
  }

  private let loop: EventLoop
  private let files: FileWatch

  /// - Parameters:
  ///   - loop: where `changed` runs.
  ///   - changed: called with what has changed.
  /// - Throws: `SystemError` where the system has no inotify instance left.
  init(on loop: EventLoop, changed: @escaping @Sendable ([Event]) -> Void) throws(SystemError) {
    self.loop = loop
    files = try FileWatch(on: loop, changed: changed)
  }

  /// Watches a directory, or where there is none the nearest one above it, in which it would appear. Doing so again is
  /// harmless. Not on the loop: it blocks as long as the file system does, be it forever.
  ///
  /// - Returns: nil where neither can be watched.
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

  /// Watches a directory no longer.
  func remove(_ number: Int32) { files.remove(number) }
}

extension FileWatch.Event {
  /// Events were lost.
  static let lost = FileWatch.Event(number: -1, mask: UInt32(IN_Q_OVERFLOW), name: "")

  /// Whether it is the directory itself that has gone, or anything may have changed.
  var isOfDirectory: Bool { mask & UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_Q_OVERFLOW) != 0 }

  /// Directories come and go with what is in them; of files few count. `mimeinfo.cache` is what every installation ends with:
  /// the entries that Flatpak exports are links, and an update changes only what is behind them.
  var isOfEntries: Bool {
    isOfDirectory || mask & UInt32(IN_ISDIR) != 0
      || name.hasSuffix(".desktop") || name.hasSuffix("mimeapps.list") || name == "mimeinfo.cache"
  }
}
