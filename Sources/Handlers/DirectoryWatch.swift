import EventLoop
import Glibc

/// Says that something changed in one of a few directories (inotify(7)).
final class DirectoryWatch: Sendable {
  /// What the system says of a directory.
  struct Event: Sendable, Hashable {
    /// Which one, as `add` gave it; -1 where events were lost.
    let number: Int32
    let mask: UInt32
    /// What changed in it; empty where it is the directory itself.
    let name: String

    /// Events were lost.
    static let lost = Event(number: -1, mask: UInt32(IN_Q_OVERFLOW), name: "")

    /// Whether it is the directory itself that has gone, or anything may have changed.
    var isOfDirectory: Bool { mask & UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_Q_OVERFLOW) != 0 }

    /// Directories come and go with what is in them; of files few count. `mimeinfo.cache` is what every installation ends with:
    /// the entries that Flatpak exports are links, and an update changes only what is behind them.
    var isOfEntries: Bool {
      isOfDirectory || mask & UInt32(IN_ISDIR) != 0
        || name.hasSuffix(".desktop") || name.hasSuffix("mimeapps.list") || name == "mimeinfo.cache"
    }
  }

  /// What came of watching a directory.
  struct Watched: Sendable, Hashable {
    /// Tells its events.
    let number: Int32
    /// Nil where it is the directory itself; else the name in the directory that is watched under which the way to it would appear.
    let missing: String?
  }

  private let loop: EventLoop
  private let descriptor: FileDescriptor
  private let watch: DescriptorWatch

  /// - Parameters:
  ///   - loop: where `changed` runs.
  ///   - changed: called with what has changed.
  /// - Throws: `SystemError` where the system has no inotify instance left.
  init(on loop: EventLoop, changed: @escaping @Sendable ([Event]) -> Void) throws(SystemError) {
    let number = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
    guard number >= 0 else { throw SystemError("watch directories") }
    let descriptor = FileDescriptor(owning: number)
    self.loop = loop
    self.descriptor = descriptor
    watch = try DescriptorWatch(descriptor, on: loop) {
      let events = DirectoryWatch.readEvents(descriptor.rawValue)
      if !events.isEmpty { changed(events) }
    }
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
      let number = inotify_add_watch(
        descriptor.rawValue, path.isEmpty ? "/" : String(path), events | UInt32(IN_ONLYDIR))
      if number >= 0 { return Watched(number: number, missing: missing) }
      guard errno == ENOENT, let slash = path.lastIndex(of: "/") else { return nil }
      missing = String(path[slash...].dropFirst())
      path = path[..<slash]
    }
  }

  /// Watches a directory no longer.
  func remove(_ number: Int32) { inotify_rm_watch(descriptor.rawValue, number) }

  /// Reads all that is there.
  private static func readEvents(_ descriptor: Int32) -> [Event] {
    var events: [Event] = []
    var buffer = [UInt8](repeating: 0, count: 8192)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return events }
      var rest = buffer[..<count]
      let header = MemoryLayout<inotify_event>.size
      while rest.count >= header {
        let (number, mask, length) = rest.withUnsafeBytes {
          (
            $0.loadUnaligned(fromByteOffset: 0, as: Int32.self), $0.loadUnaligned(fromByteOffset: 4, as: UInt32.self),
            $0.loadUnaligned(fromByteOffset: 12, as: UInt32.self)
          )
        }
        let name = rest.dropFirst(header).prefix(Int(length)).prefix { $0 != 0 }
        events.append(Event(number: number, mask: mask, name: String(decoding: name, as: UTF8.self)))
        rest = rest.dropFirst(header + Int(length))
      }
    }
  }
}
