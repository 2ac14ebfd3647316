import Glibc

/// Reports changes to a few files and directories (inotify(7)).
public final class FileWatch: Sendable {
  /// A change that the system reports.
  public struct Event: Sendable, Hashable {
    /// The number that `add` returned for the watched path; -1 if events were lost.
    public let number: Int32
    /// `IN_…` bits.
    public let mask: UInt32
    /// The name of the changed entry in a watched directory; empty if the watched path itself changed.
    public let name: String

    /// - Parameters:
    ///   - number: the number that `add` returned for the watched path.
    ///   - mask: `IN_…` bits.
    ///   - name: the name of the changed entry in a watched directory.
    public init(number: Int32, mask: UInt32, name: String) {
      self.number = number
      self.mask = mask
      self.name = name
    }

    /// Whether events were lost, so that any change may have happened.
    public var isLoss: Bool { mask & UInt32(IN_Q_OVERFLOW) != 0 }
  }

  private let descriptor: FileDescriptor
  private let watch: DescriptorWatch

  /// - Parameters:
  ///   - loop: the loop that runs `changed`.
  ///   - changed: called with at least one event.
  /// - Throws: `SystemError` if the system has no inotify instance left.
  public init(on loop: EventLoop, changed: @escaping @Sendable ([Event]) -> Void) throws(SystemError) {
    let number = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
    guard number >= 0 else { throw SystemError("watch files") }
    let descriptor = FileDescriptor(owning: number)
    self.descriptor = descriptor
    watch = try DescriptorWatch(descriptor, on: loop) {
      let events = FileWatch.readEvents(descriptor.rawValue)
      if !events.isEmpty { changed(events) }
    }
  }

  /// Watches a file or a directory. If it is already watched, it gets the new mask and keeps its number.
  ///
  /// Blocks until the file system responds, possibly forever.
  ///
  /// - Parameters:
  ///   - path: the file or directory to watch.
  ///   - mask: `IN_…` bits.
  /// - Returns: the number that its events carry.
  /// - Throws: `SystemError` if the path cannot be watched or does not exist.
  public func add(_ path: String, _ mask: UInt32) throws(SystemError) -> Int32 {
    let number = inotify_add_watch(descriptor.rawValue, path, mask)
    guard number >= 0 else { throw SystemError("watch \(path)") }
    return number
  }

  /// Stops watching a path.
  ///
  /// - Parameter number: the number that `add` returned.
  public func remove(_ number: Int32) { inotify_rm_watch(descriptor.rawValue, number) }

  /// Reads all pending events.
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
