import EventLoop
/// What is watched, and which of the events matter.
///
/// A value, so that what wakes the agent is decided, and tested, without an inotify.
struct WatchPlan: Sendable {
  /// What counts in one directory.
  private struct Interest {
    /// Desktop entries are in it, or lists of default applications, or folders of them.
    var isOfEntries = false
    /// Files of path rules, and the names under which directories that are missing would appear.
    var names: Set<String> = []
  }

  private var interests: [Int32: Interest] = [:]
  /// The directories that are watched themselves.
  private(set) var reached: Set<String> = []

  /// Nothing.
  init() {}

  /// Watches the folders where desktop entries or lists of default applications are, and those of files of path rules. Blocks
  /// as long as file systems do.
  init(_ folders: [String], files: Set<String>, by watch: DirectoryWatch) {
    for folder in folders { self.watch(folder, as: watch.add(folder)) }
    for file in files {
      self.watch(file: file, as: watch.add(String(file[..<(file.lastIndex(of: "/") ?? file.startIndex)])))
    }
  }

  /// Whether it has a watch of this number.
  func knows(_ number: Int32) -> Bool { interests[number] != nil }

  /// The numbers of all watches.
  var numbers: Set<Int32> { Set(interests.keys) }

  /// Takes in that `directory`, where desktop entries or lists of default applications are, is watched.
  mutating func watch(_ directory: String, as watched: DirectoryWatch.Watched?) {
    guard let watched else { return }
    guard let missing = watched.missing else {
      interests[watched.number, default: Interest()].isOfEntries = true
      reached.insert(directory)
      return
    }
    interests[watched.number, default: Interest()].names.insert(missing)
  }

  /// Takes in that the directory of `file`, which is of path rules, is watched.
  mutating func watch(file: String, as watched: DirectoryWatch.Watched?) {
    guard let watched else { return }
    interests[watched.number, default: Interest()].names.insert(
      watched.missing ?? String(file[(file.lastIndex(of: "/") ?? file.startIndex)...].dropFirst()))
    if watched.missing == nil { reached.insert(file) }
  }

  /// Whether it is time to read everything again. Others write into those directories, too: what is about neither a desktop entry
  /// nor a file that one names is nothing.
  func matters(_ event: DirectoryWatch.Event) -> Bool {
    if event.number < 0 { return true }
    guard let interest = interests[event.number] else { return false }
    return event.isOfDirectory || interest.isOfEntries && event.isOfEntries || interest.names.contains(event.name)
  }
}
