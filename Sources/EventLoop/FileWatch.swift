import Glibc

/// Tells what happens to a few files and directories (inotify(7)).
public final class FileWatch: Sendable {
  /// What the system says.
  public struct Event: Sendable, Hashable {
    /// Of what, as `add` gave it; -1 where events were lost.
    public let number: Int32
    /// `IN_…` bits.
    public let mask: UInt32
    /// What it happened to in a directory; empty where it is what is watched itself.
    public let name: String

    /// - Parameters:
    ///   - number: of what, as `add` gave it.
    ///   - mask: `IN_…` bits.
    ///   - name: what it happened to in a directory.
    public init(number: Int32, mask: UInt32, name: String) {
      self.number = number
      self.mask = mask
      self.name = name
    }

    /// Events were lost: anything may have happened.
    public var isLoss: Bool { mask & UInt32(IN_Q_OVERFLOW) != 0 }
  }

  private let descriptor: FileDescriptor
  private let watch: DescriptorWatch

  /// - Parameters:
  ///   - loop: where `changed` runs.
  ///   - changed: called with what has happened, never with nothing.
  /// - Throws: `SystemError` where the system has no inotify instance left.
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

  /// Watches a file or a directory; one that is watched already gets the new mask and keeps its number.
  ///
  /// Blocks as long as the file system does, be it forever.
  ///
  /// - Parameters:
  ///   - path: what to watch.
  ///   - mask: `IN_…` bits.
  /// - Returns: what its events carry.
  /// - Throws: `SystemError` where it cannot be watched, or is not there.
  public func add(_ path: String, _ mask: UInt32) throws(SystemError) -> Int32 {
    let number = inotify_add_watch(descriptor.rawValue, path, mask)
    guard number >= 0 else { throw SystemError("watch \(path)") }
    return number
  }

  /// Watches it no longer.
  ///
  /// - Parameter number: as `add` gave it.
  public func remove(_ number: Int32) { inotify_rm_watch(descriptor.rawValue, number) }

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
