import Glibc

/// Calls a handler on a loop while a descriptor is ready, until the watch is cancelled or released.
///
/// Level-triggered: the loop calls the handler repeatedly until the handler has read or written enough, or has
/// cancelled the watch. The end of the file, a hang-up and an error also make a descriptor ready. A loop allows one
/// watch per descriptor; for a second watch, duplicate the descriptor.
public final class DescriptorWatch: Sendable {
  /// The readiness that a watch waits for.
  public struct Interest: OptionSet, Sendable {
    /// One bit each for `reading` and `writing`.
    public let rawValue: UInt8

    /// - Parameter rawValue: one bit each for `reading` and `writing`.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// There is data to read.
    public static let reading = Interest(rawValue: 1)
    /// There is room to write.
    public static let writing = Interest(rawValue: 2)
  }

  private let descriptor: FileDescriptor
  private let core: EventLoopCore
  private let identifier: UInt64

  /// - Parameters:
  ///   - descriptor: the descriptor to watch. It stays open while the watch exists.
  ///   - interest: the readiness to wait for.
  ///   - loop: the loop that runs `handler`.
  ///   - handler: called on the loop while the descriptor is ready.
  /// - Throws: `SystemError` if the descriptor cannot be watched (a regular file) or is already watched.
  public init(
    _ descriptor: FileDescriptor, for interest: Interest = .reading, on loop: EventLoop,
    handler: @escaping @Sendable () -> Void
  ) throws(SystemError) {
    self.descriptor = descriptor
    (core, identifier) = try loop.watch(descriptor.rawValue, for: interest, handler)
  }

  /// Stops the watch. After a call on the loop, the handler is not called again. A second call has no effect.
  public func cancel() { core.removeWatch(identifier) }

  deinit { core.removeWatch(identifier) }
}
