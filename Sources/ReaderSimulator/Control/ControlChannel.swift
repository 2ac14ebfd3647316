import EventLoop
import Glibc

/// Where control lines come from and their answers go: a connection, or standard input and output.
struct ControlChannel: Sendable {
  private static let maximumLine = 65_536

  let input: FileDescriptor
  let output: FileDescriptor

  /// The lines, until the other side has no more; one that is too long ends the channel.
  ///
  /// A thread of its own reads: standard input may be a file, for which nothing but a blocking read will do.
  ///
  /// - Throws: `SystemError` where there is no thread left.
  func lines() throws(SystemError) -> AsyncStream<String> {
    let (stream, continuation) = AsyncStream.makeStream(of: String.self)
    let input = input
    try DedicatedThread.start {
      var line: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 4096)
      while line.count <= Self.maximumLine {
        let count = read(input.rawValue, &buffer, buffer.count)
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { break }
        for byte in buffer[..<count] {
          guard byte == UInt8(ascii: "\n") else {
            line.append(byte)
            continue
          }
          continuation.yield(String(decoding: line, as: UTF8.self))
          line = []
        }
      }
      if !line.isEmpty && line.count <= Self.maximumLine { continuation.yield(String(decoding: line, as: UTF8.self)) }
      continuation.finish()
    }
    return stream
  }

  /// An answer is far shorter than what a socket or a pipe holds; who does not read it loses it.
  func write(_ text: String) {
    let bytes = Array("\(text)\n".utf8)
    _ = Glibc.write(output.rawValue, bytes, bytes.count)
  }

  /// Answers line by line.
  ///
  /// - Returns: whether a line was `quit`, rather than the last.
  /// - Throws: `SystemError` where there is no thread left.
  func serve(_ session: ControlSession) async throws(SystemError) -> Bool {
    for await line in try lines() {
      let answer = await session.answer(to: line)
      write(answer.text)
      if answer.quits { return true }
    }
    return false
  }
}
