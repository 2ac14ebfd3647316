import Glibc

/// The reader process's end of a link, blocking: the thread that owns libnfc reads it whenever it has a moment.
public struct DaemonLink: ~Copyable {
  private let descriptor: Int32
  private var decoder = FrameDecoder()

  /// - Parameter descriptor: a connected stream socket, open as long as the process lives.
  public init(descriptor: Int32) { self.descriptor = descriptor }

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
  /// - Returns: what came, in order; empty where nothing did in time.
  /// - Throws: `ReaderLinkError` where the daemon is gone or does not speak this protocol.
  public mutating func commands(within timeout: Duration?) throws(ReaderLinkError) -> [ReaderCommand] {
    guard try isReadable(within: timeout) else { return [] }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = read(descriptor, &bytes, bytes.count)
    if count < 0 && errno == EINTR { return [] }
    guard count > 0 else { throw ReaderLinkError("the end of the link") }
    decoder.append(bytes.prefix(count))
    var commands: [ReaderCommand] = []
    while let payload = try decoder.next() { commands.append(try ReaderCommand(payload: payload)) }
    return commands
  }

  /// Whether the daemon has said something, or is gone.
  ///
  /// - Parameter timeout: how long to wait; nil waits for ever.
  /// - Returns: false where nothing came in time.
  /// - Throws: `ReaderLinkError` where the link cannot be waited for.
  public func isReadable(within timeout: Duration?) throws(ReaderLinkError) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    let milliseconds = timeout.map { Int32(clamping: Int64(($0 / .milliseconds(1)).rounded(.up))) } ?? -1
    let count = poll(&entry, 1, milliseconds)
    guard count >= 0 || errno == EINTR else { throw ReaderLinkError("a descriptor that is no link") }
    return count > 0
  }
}
