import EventLoop
import Glibc

/// Reads a file or standard input on a separate thread, because the read may block.
enum BlockingRead {
  /// The bytes of a file, or of standard input for `-`; `limit` + 1 bytes if there are more.
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
    return Result { () throws(SystemError) in try FileDescriptor(owning: number).readAll(atMost: limit + 1) }
  }
}
