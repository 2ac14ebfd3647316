import EventLoop
import Glibc

/// The source of control lines and the destination of their answers: standard input and output.
struct ControlChannel: Sendable {
  private static let maximumLine = 65_536

  let input: FileDescriptor
  let output: FileDescriptor

  /// The lines, until the input ends. A line that is too long ends the channel.
  ///
  /// A dedicated thread reads the input, because standard input may be a file, which supports only blocking reads.
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

  /// Writes an answer, which is far shorter than the buffer of a pipe.
  func write(_ text: String) {
    let bytes = Array("\(text)\n".utf8)
    _ = Glibc.write(output.rawValue, bytes, bytes.count)
  }

  /// Answers the lines one by one. Returns true if a line was `quit`; false if the lines ended.
  func serve(_ session: any CommandPerformer) async throws(SystemError) -> Bool {
    for await line in try lines() {
      let answer = await session.answer(to: line)
      write(answer.text)
      if answer.quits { return true }
    }
    return false
  }
}
