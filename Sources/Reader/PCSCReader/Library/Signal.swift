import Glibc

/// A pipe by which one thread wakes another. It carries no data: those are behind locks.
final class Signal: Sendable {
  /// Readable after `send()`, until `drain()`.
  let descriptor: Int32
  private let sender: Int32

  /// Nil if the process has no descriptor left.
  init?() {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return nil }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    (descriptor, sender) = (ends[0], ends[1])
  }

  deinit {
    close(descriptor)
    close(sender)
  }

  /// If the pipe is full, the other thread has enough signals already.
  func send() {
    var byte: UInt8 = 0
    _ = write(sender, &byte, 1)
  }

  /// Discards the signals so far. Call this before reading the data that they announce.
  func drain() {
    var bytes = [UInt8](repeating: 0, count: 64)
    while read(descriptor, &bytes, bytes.count) == bytes.count {}
  }

  /// Waits for a signal, at most this many milliseconds; -1 waits forever.
  func wait(milliseconds: Int32 = -1) {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    _ = poll(&entry, 1, milliseconds)
  }
}
