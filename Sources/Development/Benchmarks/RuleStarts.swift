import EventLoop
import Glibc

/// The starts of a rule's program, with their times.
///
/// The program is `tee`, which opens a named pipe as soon as it runs and copies the message of the tag into it. So the
/// time includes loading the program.
final class RuleStarts: Sendable {
  /// One start of the program.
  struct Start: Sendable {
    /// When the message arrived in the pipe.
    let time: SuspendingClock.Instant
    /// The message that the program has read from its standard input.
    let message: [UInt8]
  }

  /// The path of the pipe.
  let path: String
  private let starts: AsyncStream<Start>
  private let watch: DescriptorWatch
  private let loop = EventLoop(label: "rule-starts")

  /// Creates the pipe.
  init(_ path: String) throws {
    self.path = path
    guard mkfifo(path, 0o600) == 0 else { throw SystemError("make the pipe \(path)") }
    // Its own writing end keeps the pipe open between two programs.
    let number = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
    guard number >= 0 else { throw SystemError("open the pipe \(path)") }
    let descriptor = FileDescriptor(owning: number)
    let (starts, continuation) = AsyncStream.makeStream(of: Start.self)
    self.starts = starts
    watch = try DescriptorWatch(descriptor, on: loop) {
      // A message of at most PIPE_BUF (4,096) bytes arrives as a whole.
      var buffer = [UInt8](repeating: 0, count: 4096)
      let count = read(descriptor.rawValue, &buffer, buffer.count)
      if count > 0 { continuation.yield(Start(time: SuspendingClock.now, message: Array(buffer[..<count]))) }
    }
  }

  /// The next start, as soon as it happens; nil if the task was cancelled.
  func next() async -> Start? {
    for await start in starts { return start }
    return nil
  }
}
