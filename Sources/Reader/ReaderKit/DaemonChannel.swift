import Glibc
package import ReaderProtocol

/// The reader process's end of a link. Reads and writes block. The thread that makes the process's decisions reads it
/// between its other work.
package struct DaemonChannel: ~Copyable {
  private let descriptor: Int32
  private let end: Int32
  private let wakes: [Int32]
  private var decoder = FrameDecoder()
  /// The most bytes per read. A command that writes an NDEF message is long.
  private static let mostAtOnce = 32 * 1024

  /// `descriptor` is a connected stream socket that stays open while the process lives. `end` becomes readable when the
  /// process should exit, as if the daemon had sent `shutDown`; -1 for none. While one of `wakes` is readable, `commands`
  /// does not wait, because the process has other news. The caller reads these descriptors.
  package init(descriptor: Int32, end: Int32 = -1, wakes: [Int32] = []) {
    self.descriptor = descriptor
    self.end = end
    self.wakes = wakes
  }

  /// Sends a message. Blocks until the socket has room. Fails if the daemon is gone.
  package func send(_ message: ReaderMessage) throws(ReaderLinkError) {
    var rest = message.frame[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { throw ReaderLinkError("the end of the link") }
      rest = rest.dropFirst(count)
    }
  }

  /// Waits for the first command, and returns all that have arrived, in order. A timeout of zero does not wait, nil
  /// waits forever. The result is empty if no command arrived in time, or if one of `wakes` is readable. Once the process
  /// should exit, each call returns only `shutDown`.
  ///
  /// Fails if the daemon is gone or does not speak this protocol.
  package mutating func commands(within timeout: Duration?) throws(ReaderLinkError) -> [ReaderCommand] {
    let readable = try wait(timeout)
    if readable.end { return [.shutDown] }
    guard readable.link else { return [] }
    var bytes = [UInt8](repeating: 0, count: Self.mostAtOnce)
    let count = read(descriptor, &bytes, bytes.count)
    if count < 0 && errno == EINTR { return [] }
    guard count > 0 else { throw ReaderLinkError("the end of the link") }
    decoder.append(bytes.prefix(count))
    var commands: [ReaderCommand] = []
    while let payload = try decoder.next() { commands.append(try ReaderCommand(payload: payload)) }
    return commands
  }

  /// Waits until the link, `end` or one of `wakes` is readable. Zero does not wait, nil waits forever.
  private func wait(_ timeout: Duration?) throws(ReaderLinkError) -> (link: Bool, end: Bool) {
    // poll(2) ignores a negative descriptor.
    var entries = ([descriptor, end] + wakes).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    let milliseconds = timeout.map { Int32(clamping: Int64(($0 / .milliseconds(1)).rounded(.up))) } ?? -1
    let count = poll(&entries, nfds_t(entries.count), milliseconds)
    guard count >= 0 || errno == EINTR else { throw ReaderLinkError("a descriptor that is no link") }
    // If a signal interrupted the wait, the caller calls again.
    guard count > 0 else { return (false, false) }
    return (entries[0].revents != 0, entries[1].revents != 0)
  }
}
