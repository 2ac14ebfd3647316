import EventLoop
import Glibc

/// Says that something changed in one of a few directories (inotify(7)), not what.
final class DirectoryWatch: Sendable {
  private let descriptor: FileDescriptor
  private let watch: DescriptorWatch

  /// - Parameters:
  ///   - loop: where `changed` runs.
  ///   - changed: called after one or more changes that matter to desktop entries or lists of default applications.
  /// - Throws: `SystemError` where the system has no inotify instance left.
  init(on loop: EventLoop, changed: @escaping @Sendable () -> Void) throws(SystemError) {
    let number = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
    guard number >= 0 else { throw SystemError("watch directories") }
    let descriptor = FileDescriptor(owning: number)
    self.descriptor = descriptor
    watch = try DescriptorWatch(descriptor, on: loop) {
      if DirectoryWatch.readEvents(descriptor.rawValue) { changed() }
    }
  }

  /// Watches a directory, or where there is none the nearest one above it, in which it would appear. Doing so again is
  /// harmless.
  ///
  /// - Returns: whether the directory itself is watched now.
  func add(_ directory: String) -> Bool {
    var path = directory[...]
    let events = UInt32(
      IN_CREATE | IN_CLOSE_WRITE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ATTRIB)
    while inotify_add_watch(descriptor.rawValue, path.isEmpty ? "/" : String(path), events | UInt32(IN_ONLYDIR)) < 0 {
      guard errno == ENOENT, let slash = path.lastIndex(of: "/") else { return false }
      path = path[..<slash]
    }
    return path == directory
  }

  /// Reads all that is there.
  ///
  /// - Returns: whether any of it matters.
  private static func readEvents(_ descriptor: Int32) -> Bool {
    var matters = false
    var buffer = [UInt8](repeating: 0, count: 8192)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return matters }
      var rest = buffer[..<count]
      let header = MemoryLayout<inotify_event>.size
      while rest.count >= header {
        let (mask, length) = rest.withUnsafeBytes {
          ($0.loadUnaligned(fromByteOffset: 4, as: UInt32.self), $0.loadUnaligned(fromByteOffset: 12, as: UInt32.self))
        }
        let name = rest.dropFirst(header).prefix(Int(length)).prefix { $0 != 0 }
        if isOfInterest(mask, String(decoding: name, as: UTF8.self)) { matters = true }
        rest = rest.dropFirst(header + Int(length))
      }
    }
  }

  /// Directories come and go with what is in them; of files few count. `mimeinfo.cache` is what every installation ends with:
  /// the entries that Flatpak exports are links, and an update changes only what is behind them.
  private static func isOfInterest(_ mask: UInt32, _ name: String) -> Bool {
    mask & UInt32(IN_ISDIR | IN_DELETE_SELF | IN_MOVE_SELF | IN_Q_OVERFLOW) != 0
      || name.hasSuffix(".desktop") || name.hasSuffix("mimeapps.list") || name == "mimeinfo.cache"
  }
}
