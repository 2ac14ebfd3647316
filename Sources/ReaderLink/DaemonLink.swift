import Glibc

/// The reader process's end of a link, blocking: the thread that owns libnfc reads it whenever it has a moment.
public struct DaemonLink: ~Copyable {
  private let descriptor: Int32
  private let end: Int32
  private var decoder = FrameDecoder()
  /// Bytes that are read at once: a message to be written on a tag has many.
  private static let mostAtOnce = 32 * 1024

  /// - Parameters:
  ///   - descriptor: a connected stream socket, open as long as the process lives.
  ///   - end: readable once the process is to end, as if the daemon had said so; -1 is none.
  public init(descriptor: Int32, end: Int32 = -1) {
    self.descriptor = descriptor
    self.end = end
  }

  /// Sends a message, waiting for room.
  ///
  /// - Parameter message: what to say.
  /// - Throws: `ReaderLinkError` where the daemon is gone.
  public func send(_ message: ReaderMessage) throws(ReaderLinkError) {
    var rest = message.frame[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { throw ReaderLinkError("the end of the link") }
      rest = rest.dropFirst(count)
    }
  }

  /// Waits for commands.
  ///
  /// - Parameter timeout: how long to wait for the first one; zero does not wait, nil waits for ever.
  /// - Returns: what came, in order; empty where nothing did in time. `shutDown` alone, each time, once the process is to end.
  /// - Throws: `ReaderLinkError` where the daemon is gone or does not speak this protocol.
  public mutating func commands(within timeout: Duration?) throws(ReaderLinkError) -> [ReaderCommand] {
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

  /// Waits for a word of the daemon's or its end, or for ours; zero does not wait, nil waits for ever.
  private func wait(_ timeout: Duration?) throws(ReaderLinkError) -> (link: Bool, end: Bool) {
    // A descriptor below zero is never readable (poll(2)).
    var entries = [descriptor, end].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    let milliseconds = timeout.map { Int32(clamping: Int64(($0 / .milliseconds(1)).rounded(.up))) } ?? -1
    let count = poll(&entries, 2, milliseconds)
    guard count >= 0 || errno == EINTR else { throw ReaderLinkError("a descriptor that is no link") }
    // Where a signal ended the waiting, whoever asked asks again.
    guard count > 0 else { return (false, false) }
    return (entries[0].revents != 0, entries[1].revents != 0)
  }
}
