import Glibc
import Settings

/// Reads files that other programs write. Each call reads a bounded amount, and does not wait for a pipe or a device.
enum Files {
  /// Whether the path is a directory, or a link to one.
  static func isDirectory(_ path: String) -> Bool { identity(ofDirectory: path) != nil }

  /// Identifies a directory, regardless of the path that leads to it.
  struct Identity: Hashable {
    let device: dev_t
    let number: ino_t
  }

  /// The identity of the directory at `path`, after links are followed; nil if it is not a directory.
  static func identity(ofDirectory path: String) -> Identity? {
    var information = stat()
    guard stat(path, &information) == 0, information.st_mode & S_IFMT == S_IFDIR else { return nil }
    return Identity(device: information.st_dev, number: information.st_ino)
  }

  /// `path` without links; `path` itself if it does not exist.
  static func resolved(_ path: String) -> String {
    guard let resolved = realpath(path, nil) else { return path }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  /// The bytes of a file of at most `maximumSize` bytes, or of the file that a link leads to. Nil if there is no such
  /// file: it may have gone since its directory was read.
  ///
  /// `size` grows by the number of bytes that were read, also if this throws. Throws if the file cannot be read or is
  /// larger (`tooLarge` is that error's message), or if the path is not a file.
  static func contents(
    of path: String, size: inout Int, maximumSize: Int = KeyFile.maximumSize,
    tooLarge: String = "is larger than 1 MiB, which no desktop entry is; remove it"
  ) throws(HandlerProblem) -> [UInt8]? {
    do throws(FileContents.Failure) {
      let bytes = try FileContents.read(path, upTo: maximumSize)
      size += bytes?.count ?? 0
      guard let bytes, bytes.count > maximumSize else { return bytes }
    } catch {
      switch error {
      case .notAFile: throw HandlerProblem(file: path, message: "is not a file; remove it")
      case .unreadable(let message): throw HandlerProblem(file: path, message: "cannot be read: \(message)")
      }
    }
    throw HandlerProblem(file: path, message: tooLarge)
  }

  /// The bytes of a file, for callers that do not add up sizes.
  static func contents(of path: String) throws(HandlerProblem) -> [UInt8]? {
    var size = 0
    return try contents(of: path, size: &size)
  }

  /// Whether `bytes` contains one of `words` before the first zero byte.
  static func mentions(_ bytes: [UInt8], anyOf words: [String]) -> Bool {
    (bytes + [0]).withUnsafeBytes { buffer in
      guard let text = buffer.assumingMemoryBound(to: CChar.self).baseAddress else { return false }
      return words.contains { strstr(text, $0) != nil }
    }
  }
}
