import Glibc
import KeyFile

/// Reading files that others write: each call is bounded and none waits for anybody.
enum Files {
  /// Whether there is a directory, a link to one included.
  static func isDirectory(_ path: String) -> Bool { identity(ofDirectory: path) != nil }

  /// Which directory it is, whatever path led to it.
  struct Identity: Hashable {
    let device: dev_t
    let number: ino_t
  }

  /// Which directory `path` leads to, links followed; nil where it is none.
  static func identity(ofDirectory path: String) -> Identity? {
    var information = stat()
    guard stat(path, &information) == 0, information.st_mode & S_IFMT == S_IFDIR else { return nil }
    return Identity(device: information.st_dev, number: information.st_ino)
  }

  /// `path` without links; `path` itself if it leads nowhere.
  static func resolved(_ path: String) -> String {
    guard let resolved = realpath(path, nil) else { return path }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  /// The bytes of a file of at most `maximumSize`.
  ///
  /// - Parameters:
  ///   - path: the file, or a link to it.
  ///   - size: grows by the number of bytes that were read, also if this throws.
  ///   - maximumSize: in bytes.
  ///   - tooLarge: what is said of a file that is larger.
  /// - Returns: nil where there is no such file: it may have gone since its directory was read.
  /// - Throws: `HandlerProblem` where it cannot be read, is too large, or no file at all.
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

  /// The same, if the size does not matter.
  static func contents(of path: String) throws(HandlerProblem) -> [UInt8]? {
    var size = 0
    return try contents(of: path, size: &size)
  }

  /// Whether one of `words` stands in `bytes` before their first zero.
  static func mentions(_ bytes: [UInt8], anyOf words: [String]) -> Bool {
    (bytes + [0]).withUnsafeBytes { buffer in
      guard let text = buffer.assumingMemoryBound(to: CChar.self).baseAddress else { return false }
      return words.contains { strstr(text, $0) != nil }
    }
  }
}
