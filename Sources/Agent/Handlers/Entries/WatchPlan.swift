import EventLoop
/// Which directories are watched, and which of their events matter.
///
/// A value type, so that tests need no inotify.
struct WatchPlan: Sendable {
  /// The events that matter in one directory.
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

  /// Watches the folders of desktop entries and lists of default applications, and the folders of files of path rules.
  /// Blocks until the file systems answer.
  init(_ folders: [String], files: Set<String>, by watch: DirectoryWatch) {
    for folder in folders { self.watch(folder, as: watch.add(folder)) }
    for file in files {
      self.watch(file: file, as: watch.add(String(file[..<(file.lastIndex(of: "/") ?? file.startIndex)])))
    }
  }

  func knows(_ number: Int32) -> Bool { interests[number] != nil }

  var numbers: Set<Int32> { Set(interests.keys) }

  /// Records the watch of `directory`, which holds desktop entries or lists of default applications.
  mutating func watch(_ directory: String, as watched: DirectoryWatch.Watched?) {
    guard let watched else { return }
    guard let missing = watched.missing else {
      interests[watched.number, default: Interest()].isOfEntries = true
      reached.insert(directory)
      return
    }
    interests[watched.number, default: Interest()].names.insert(missing)
  }

  /// Records the watch of the directory of `file`, a file of path rules.
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
