import EventLoop
import Glibc

final class DirectoryWatch: Sendable {
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

/// Which directories are watched, and which of their events matter.
///
/// A value type, so that tests need no inotify.
struct WatchPlan: Sendable {
  private struct Interest {
    /// The directory holds desktop entries, lists of default applications, or folders of them.
    var isOfEntries = false
    /// Files of path rules, and names under which missing directories would appear.
    var names: Set<String> = []
  }

  private var interests: [Int32: Interest] = [:]
  /// The files and directories that exist and are watched themselves.
  private(set) var reached: Set<String> = []

  init() {}

  /// The folders hold desktop entries and lists of default applications, the files are those of path rules. Blocks
  /// until the file systems answer.
  init(_ folders: [String], files: Set<String>, by watch: DirectoryWatch) {
    for folder in folders { self.watch(folder, as: watch.add(folder)) }
    for file in files {
      self.watch(file: file, as: watch.add(String(file[..<(file.lastIndex(of: "/") ?? file.startIndex)])))
    }
  }

  func knows(_ number: Int32) -> Bool { interests[number] != nil }

  var numbers: Set<Int32> { Set(interests.keys) }

  /// `directory` holds desktop entries or lists of default applications.
  mutating func watch(_ directory: String, as watched: DirectoryWatch.Watched?) {
    guard let watched else { return }
    guard let missing = watched.missing else {
      interests[watched.number, default: Interest()].isOfEntries = true
      reached.insert(directory)
      return
    }
    interests[watched.number, default: Interest()].names.insert(missing)
  }

  /// The watch is of the directory of `file`, a file of path rules.
  mutating func watch(file: String, as watched: DirectoryWatch.Watched?) {
    guard let watched else { return }
    interests[watched.number, default: Interest()].names.insert(
      watched.missing ?? String(file[(file.lastIndex(of: "/") ?? file.startIndex)...].dropFirst()))
    if watched.missing == nil { reached.insert(file) }
  }

  /// Whether everything has to be read again. Other programs write into these directories too, so events about
  /// unrelated files are ignored.
  func matters(_ event: DirectoryWatch.Event) -> Bool {
    if event.number < 0 { return true }
    guard let interest = interests[event.number] else { return false }
    return event.isOfDirectory || interest.isOfEntries && event.isOfEntries || interest.names.contains(event.name)
  }
}
