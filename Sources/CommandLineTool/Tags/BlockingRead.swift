import EventLoop
import Glibc

/// Reads a file or standard input on a separate thread, because the read may block.
enum BlockingRead {
  /// - Parameters:
  ///   - path: a file; `-` is standard input.
  ///   - limit: the most bytes that are allowed.
  /// - Returns: the bytes; `limit` + 1 bytes if there are more.
  /// - Throws: a failure if it cannot be read.
  static func file(_ path: String, limit: Int) async throws(Failure) -> [UInt8] {
    let result: Result<[UInt8], SystemError>
    do throws(SystemError) {
      result = try await DedicatedThread.run { read(path, limit) }
      return try result.get()
    } catch {
      throw Failure(message: "\(path): \(error)", exitCode: 1)
    }
  }

  /// A line from standard input, without its end; nil at the end of the input.
  static func line() async -> String? {
    (try? await DedicatedThread.run { readLine() }) ?? nil
  }

  private static func read(_ path: String, _ limit: Int) -> Result<[UInt8], SystemError> {
    let number = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
    guard number >= 0 else { return .failure(SystemError("open it")) }
    let descriptor = FileDescriptor(owning: number)
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while bytes.count <= limit {
      let count = Glibc.read(descriptor.rawValue, &buffer, min(buffer.count, limit + 1 - bytes.count))
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { return .failure(SystemError("read it")) }
      guard count > 0 else { break }
      bytes += buffer[..<count]
    }
    return .success(bytes)
  }
}
