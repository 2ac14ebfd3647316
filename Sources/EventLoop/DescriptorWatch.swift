import Glibc

/// Calls back on a loop as long as a descriptor is ready, until it is cancelled or let go.
///
/// Level-triggered: the handler is called again and again until it has read (or written) what made the descriptor ready,
/// or has cancelled the watch. The end of the file, a hang-up and an error count as ready. One watch a descriptor a loop:
/// for a second one duplicate the descriptor.
public final class DescriptorWatch: Sendable {
  /// What a watch waits for.
  public struct Interest: OptionSet, Sendable {
    /// A bit each for `reading` and `writing`.
    public let rawValue: UInt8

    /// - Parameter rawValue: a bit each for `reading` and `writing`.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// There is something to read.
    public static let reading = Interest(rawValue: 1)
    /// There is room to write.
    public static let writing = Interest(rawValue: 2)
  }

  private let descriptor: FileDescriptor
  private let core: EventLoopCore
  private let identifier: UInt64

  /// - Parameters:
  ///   - descriptor: what to watch; kept open as long as the watch lives.
  ///   - interest: what to wait for.
  ///   - loop: where `handler` runs.
  ///   - handler: called on the loop as long as the descriptor is ready.
  /// - Throws: `SystemError` where the descriptor cannot be watched (a regular file) or is watched already.
  public init(
    _ descriptor: FileDescriptor, for interest: Interest = .reading, on loop: EventLoop,
    handler: @escaping @Sendable () -> Void
  ) throws(SystemError) {
    self.descriptor = descriptor
    (core, identifier) = try loop.watch(descriptor.rawValue, for: interest, handler)
  }

  /// The handler is not called after this, where it is called on the loop. Calling it twice is harmless.
  public func cancel() { core.removeWatch(identifier) }

  deinit { core.removeWatch(identifier) }
}
